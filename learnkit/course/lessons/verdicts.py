"""What the checks of several lessons' exercises say and ask."""

from __future__ import annotations

from typing import Any

from learnkit.events.text import one_line


def short(value: Any) -> str:
    """Return what a learner's code returned, in few characters."""
    return one_line(repr(value), 60)
