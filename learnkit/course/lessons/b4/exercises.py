"""Lesson b4's exercise: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def check_runs_needed(runs_needed: Any) -> Verdict:
    """Plan some comparisons."""
    cases: Cases = (
        ("0.5 and then 0.7", (0.5, 0.7), 93),
        ("0.1 and then 0.9", (0.1, 0.9), 7),
        ("0 and then 1", (0.0, 1.0), 4),
        ("0.5 and then 0.55", (0.5, 0.55), 1533),
        ("0.7 and then 0.5", (0.7, 0.5), None),
        ("0.5 twice", (0.5, 0.5), None),
    )
    return first_wrong(runs_needed, cases)
