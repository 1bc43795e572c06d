"""A request that needs an answer: what every backend stores, and what may become of it.

A request has an id, so that "ok" answers one question and no other.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["shutdown", "plan"]
State = Literal["pending", "approved", "rejected", "changes_requested", "expired"]
Answer = Literal["approved", "rejected", "changes_requested"]


#: What the addressee of a pending request may answer. It may also expire; nothing else can happen.
ANSWERS: dict[Kind, tuple[Answer, ...]] = {
    "shutdown": ("approved", "rejected"),
    "plan": ("approved", "rejected", "changes_requested"),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A question that waits for its answer, or has it.

    Attributes:
        id: eight characters; an answer names it.
        kind: ``shutdown`` or ``plan``.
        sender: who asks.
        to: who may answer.
        content: what is asked: the plan, or a reason.
        state: pending, until the answer.
        assignment: number of the teammate's assignment in which it was asked.
        expires: when it will be too late, ISO 8601; empty for never.
        note: the reason or feedback that came with the answer.
    """

    id: str
    kind: Kind
    sender: str
    to: str
    content: str
    state: State = "pending"
    assignment: int = 1
    expires: str = ""
    note: str = ""

    @property
    def teammate(self) -> str:
        """The teammate that it is about."""
        return self.to if self.kind == "shutdown" else self.sender

    @property
    def line(self) -> str:
        """The request on one line, for the model."""
        note = f" ({self.note})" if self.note.strip() else ""
        return f"{self.id}: {self.kind}, {self.sender} asks {self.to}: {self.state}{note}"

    def to_json(self) -> dict[str, Any]:
        """The request as the file has it."""
        return asdict(self)
