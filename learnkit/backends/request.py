"""A request that needs an answer: what every backend stores, and what may become of it.

A request has an id, so that "ok" answers one question and no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from learnkit.errors import ToolError

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


def check_free(requests: Iterable[Request], to: str) -> None:
    """Refuse a second request as long as one of these, of its kind and teammate, is pending."""
    for old in requests:
        if old.state == "pending":
            raise ToolError(f"request {old.id} to {to} has no answer yet; wait for it")


def answered(old: Request, by: str, state: Answer, note: str) -> Request:
    """Return a request with its answer, if it may have it."""
    if old.to != by:
        raise ToolError(f"request {old.id} is for {old.to} to answer, not for {by}")
    if old.state != "pending":
        raise ToolError(f"request {old.id} is already {old.state}, which cannot be changed")
    if state not in ANSWERS[old.kind]:
        raise ToolError(f"a {old.kind} request cannot become {state}")
    return replace(old, state=state, note=note)


def expired(requests: Iterable[Request], why: str) -> list[Request]:
    """Return those that are pending, as they are once they have expired."""
    pending = (one for one in requests if one.state == "pending")
    return [replace(one, state="expired", note=why) for one in pending]


def unknown(id: str, latest: Sequence[str]) -> ToolError:
    """Return the error for an id that no request has."""
    known = ", ".join(latest) or "none"
    return ToolError(f"there is no request {id!r}; the latest requests are: {known}")
