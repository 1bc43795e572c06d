"""Lesson b1's sandbox where there is none: what it has stopped on our machine."""

from __future__ import annotations

import subprocess
from typing import Any

#: Attack -> what became of it. Debian 12 with bubblewrap 0.8; a test makes them again.
OURS = {"an alias": "stopped", "an option": "stopped", "a test": "stopped", "a mail": "HARM"}


def works(agent: Any) -> bool:
    """Whether bubblewrap can make sandboxes here."""
    try:
        return subprocess.run([*agent.BWRAP.split(), "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
