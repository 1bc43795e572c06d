"""Lesson b4's exercise: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def check_better(better: Any) -> Verdict:
    """Compare some results."""
    cases: Cases = (
        ("5 of 10 and then 7 of 10", ((5, 10), (7, 10)), False),
        ("1 of 10 and then 10 of 10", ((1, 10), (10, 10)), True),
        ("80 of 160 and then 112 of 160", ((80, 160), (112, 160)), True),
        ("112 of 160 and then 80 of 160", ((112, 160), (80, 160)), False),
        ("50 of 100 and then 7 of 10", ((50, 100), (7, 10)), False),
        ("2 of 3 and then 60 of 300", ((2, 3), (60, 300)), False),
        ("the same twice", ((9, 10), (9, 10)), False),
    )
    return first_wrong(better, cases, bool)
