"""The events of a goal."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event
from learnkit.events.text import one_line

_VERDICTS = {
    "met": "The goal is met",
    "unmet": "The goal is not met, and the model goes on",
    "impossible": "The goal counts as impossible, and the run ends",
    "given up": "The goal is not met, and the run ends",
    "unknown": "Nobody knows whether the goal is met, and the run ends",
}


def _checked(goal: GoalChecked) -> str:
    reason = f": {one_line(goal.reason, 120)}" if goal.reason else ""
    return f"{_VERDICTS[goal.verdict]} (check {goal.number} of at most {goal.most}){reason}."


@event("goal.checked", sentence=_checked)
class GoalChecked:
    """The model has stopped, and the goal was checked; ``by`` says what checked it."""

    verdict: Literal["met", "unmet", "impossible", "given up", "unknown"]
    number: int
    most: int
    by: Literal["command", "function", "judge"] = "command"
    reason: str = ""
