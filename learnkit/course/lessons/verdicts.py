"""What the checks of several lessons' exercises say and ask."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.events.text import one_line


def is_mechanism(made: Any) -> bool:
    """Return whether a learner's object is a class of mechanisms."""
    return isinstance(made, type) and issubclass(made, lk.Mechanism)


def short(value: Any) -> str:
    """Return what a learner's code returned, in few characters."""
    return one_line(repr(value), 60)
