"""Lesson b2's exercise: what is wrong with an answer."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong, short

_OLD, _NEW, _CLASH, _MERGED = (20, "28 °C"), (24, "25 °C"), (20, "30 °C"), (20, "30 °C\n28 °C")
#: What the two have of one name, in words, mine, theirs, and what is right.
_PAIRS = (
    ("a newer one of theirs", _OLD, _NEW, _NEW),
    ("a newer one of mine", _NEW, _OLD, _NEW),
    ("the same note twice", _OLD, _OLD, _OLD),
    ("two texts of one day", _CLASH, _OLD, _MERGED),
    ("notes that were merged yesterday", _MERGED, _OLD, _MERGED),
    ("5 °C beside 25 °C", (20, "25 °C"), (20, "5 °C"), (20, "25 °C\n5 °C")),
    ("six lines of one day", (20, "a\nb\nc"), (20, "d\ne\nf"), (20, "a\nb\nc\nd\ne\nf")),
)


def check_merged(merged: Any) -> Verdict:
    """Merge the notes of two machines."""
    cases: Cases = (
        ("notes of two names", ({"oslo": _OLD}, {"lima": _NEW}), {"oslo": _OLD, "lima": _NEW}),
        *((what, ({"oslo": a}, {"oslo": b}), {"oslo": right}) for what, a, b, right in _PAIRS),
        ("nothing of mine", ({}, {"oslo": _OLD}), {"oslo": _OLD}),
    )
    if wrong := first_wrong(merged, cases, dict):
        return wrong
    before = {"oslo": _CLASH}, {"oslo": _OLD, "lima": _NEW}
    mine, theirs = deepcopy(before)
    merged(mine, theirs)
    said = f"it changes what it gets: mine is now {short(mine)}. Return a new dict"
    return said if (mine, theirs) != before else None
