"""The events of the user's hooks."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event

Outcome = Literal["passed", "refused", "failed", "timed out", "not started"]


@event(
    "hook.ran",
    sentence="The user's hook {command:quoted}, for {moment}, has {outcome}. {said:line}",
)
class HookRan:
    """A command that the user has set up for this moment has run.

    ``said`` is the beginning of its output if it passed, else of its standard error.
    """

    moment: Literal["prompt", "before_tool", "after_tool", "stop"]
    command: str
    outcome: Outcome
    said: str = ""
