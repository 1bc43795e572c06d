"""Which of a lesson's questions is meant, and how many answers are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from learnkit.errors import UsageError

if TYPE_CHECKING:
    from learnkit.course.content import Question

T = TypeVar("T")


def named(things: Mapping[str, T], name: str, kind: str) -> T:
    """Return what has a name, such as an option its letter."""
    if name not in things:
        raise UsageError(f"there is no {kind} {name!r}; there are: {', '.join(things)}")
    return things[name]


def score(questions: Mapping[str, Question], given: Mapping[str, str]) -> str:
    """Return the score as text, e.g. ``3 of 4 right``, and how many answers are missing."""
    right = sum(questions[name].right == letter for name, letter in given.items())
    missing = len(questions) - len(given)
    return f"{right} of {len(questions)} right" + (f", {missing} to answer" if missing else "")
