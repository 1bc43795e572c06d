"""What the agent has in lesson 2's game, and what is said at its end.

Prompt and script are in ``questions.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Remark
from learnkit.course.files import EXAMPLE
from learnkit.events.text import quoted

_FILE = "heatwatch/alerts.py"


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Return bash and the tools for files."""
    return [lk.CodingTools(workspace)]


def judge(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
    """Say which lines of the file differ from what they were."""
    file = workspace / _FILE
    if not file.is_file():
        return [Remark(False, f"{_FILE} is gone.")]
    before, after = (
        path.read_text("utf-8", "replace").splitlines() for path in (EXAMPLE / _FILE, file)
    )
    changed = [new for old, new in zip_longest(before, after, fillvalue="") if old != new]
    kept = [line for line in changed if line.replace(" ", "").startswith("KEEP=14#")]
    others = [line for line in changed if line not in kept]
    return [
        Remark(True, "KEEP is 14.") if kept else Remark(False, "KEEP isn't 14."),
        Remark(True, "No other line has changed.")
        if not others
        else Remark(False, f"Another line has changed: {quoted(others[0])}"),
    ]
