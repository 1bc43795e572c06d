"""What was measured on the smallest model, by ``benchmarks/measure_tiny.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: As the script wrote it, with machine and date.
MEASURED: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
