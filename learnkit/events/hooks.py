"""The events of the user's hooks."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event
from learnkit.events.text import quoted

Outcome = Literal["passed", "refused", "failed", "timed_out"]

_MOMENTS = {
    "prompt": "before a prompt",
    "before_tool": "before a call",
    "after_tool": "after a call",
    "stop": "when the model stops",
}
_OUTCOMES = {
    "passed": "has nothing against it",
    "refused": "refuses",
    "failed": "fails",
    "timed_out": "takes too long",
}


def _ran(hook: HookRan) -> str:
    said = f": {quoted(hook.said, 90)}" if hook.said else ""
    return (
        f"The user's hook {quoted(hook.command, 40)}, {_MOMENTS[hook.moment]}, "
        f"{_OUTCOMES[hook.outcome]}{said}."
    )


@event("hook.ran", sentence=_ran)
class HookRan:
    """A command that the user has set up for this moment has run.

    ``said`` is the beginning of its output if it passed, else of its standard error.
    """

    moment: Literal["prompt", "before_tool", "after_tool", "stop"]
    command: str
    outcome: Outcome
    said: str = ""
