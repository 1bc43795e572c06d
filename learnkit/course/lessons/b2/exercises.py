"""Lesson b2's exercise: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong

_OLD, _NEW, _MERGED = (20, "28 °C"), (24, "25 °C"), (20, "30 °C\n28 °C")


def check_merged(merged: Any) -> Verdict:
    """Merge the notes of two machines."""
    both = {"oslo": _OLD}, {"lima": _NEW}
    clash = (20, "30 °C")
    cases: Cases = (
        ("notes of two names", both, {"oslo": _OLD, "lima": _NEW}),
        ("a newer one of theirs", ({"oslo": _OLD}, {"oslo": _NEW}), {"oslo": _NEW}),
        ("a newer one of mine", ({"oslo": _NEW}, {"oslo": _OLD}), {"oslo": _NEW}),
        ("the same note twice", ({"oslo": _OLD}, {"oslo": _OLD}), {"oslo": _OLD}),
        (
            "two texts of one day",
            ({"oslo": clash}, {"oslo": _OLD}),
            {"oslo": _MERGED},
        ),
        (
            "notes that were merged yesterday",
            ({"oslo": _MERGED}, {"oslo": _OLD}),
            {"oslo": _MERGED},
        ),
        ("nothing of mine", ({}, {"oslo": _OLD}), {"oslo": _OLD}),
    )
    return first_wrong(merged, cases, dict)


EXERCISES = {"merged": check_merged}
