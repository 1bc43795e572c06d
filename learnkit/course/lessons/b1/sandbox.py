"""Whether lesson b1's sandbox can run on this machine."""

from __future__ import annotations

import subprocess
from typing import Any


def works(agent: Any) -> bool:
    """Whether bubblewrap can make sandboxes here."""
    try:
        return subprocess.run([*agent.BWRAP.split(), "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
