"""The event of a permission policy."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event
from learnkit.events.text import quoted

_RULINGS = {"allow": "allows", "deny": "denies", "ask": "asks about"}


def _decided(ruling: PermissionDecided) -> str:
    answer = f" and hears {quoted(ruling.answer, 30)}" if ruling.asked and ruling.answer else ""
    reason = f": {ruling.reason}" if ruling.reason else ""
    return f"The policy {_RULINGS[ruling.decision]} {ruling.name}{answer}{reason}."


@event("permission.mode", sentence="From now on, the mode of the permission rules is {mode}.")
class PermissionMode:
    """The mode of the rules is another one than before; noticed when a run begins, or at once."""

    mode: Literal["default", "accept-edits", "plan", "yes"]


@event("permission.decided", lesson="s02", sentence=_decided)
class PermissionDecided:
    """The policy has ruled on a call, and a person was asked if it says so."""

    id: str
    name: str = "?"
    decision: Literal["allow", "ask", "deny"]
    answer: str | None = None
    reason: str | None = None

    @property
    def asked(self) -> bool:
        """Whether a person had to be asked."""
        return self.decision == "ask"
