"""A request that needs an answer: what every backend stores, and which state may follow which.

A request has an id, so that "ok" answers one question and no other.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["shutdown", "plan"]
State = Literal["pending", "approved", "rejected", "changes_requested", "expired"]
Answer = Literal["approved", "rejected", "changes_requested"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One legal succession of states.

    Attributes:
        kind: of the request.
        before: the state that it has.
        after: the state that may follow.
        by: who may cause it: the addressee, or the harness by itself.
        then: what it means.
    """

    kind: Kind
    before: State
    after: State
    by: Literal["addressee", "harness"]
    then: str


#: All that can happen to a request; nothing else can.
RULES: tuple[Rule, ...] = (
    Rule("shutdown", "pending", "approved", "addressee", "it finishes the calls in hand and ends"),
    Rule("shutdown", "pending", "rejected", "addressee", "it works on"),
    Rule(
        "shutdown",
        "pending",
        "expired",
        "harness",
        "it gets no further turn; a model call under way isn't interrupted",
    ),
    Rule("plan", "pending", "approved", "addressee", "the tools that write are open to it"),
    Rule("plan", "pending", "rejected", "addressee", "the tools that write stay closed"),
    Rule("plan", "pending", "changes_requested", "addressee", "it is asked for another plan"),
    Rule(
        "plan",
        "pending",
        "expired",
        "harness",
        "nothing, because its author has ended or has another task",
    ),
)


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


def may(request: Request, after: State, by: Literal["addressee", "harness"]) -> bool:
    """Whether a request may get a state."""
    found = (request.kind, request.state, after, by)
    return any((rule.kind, rule.before, rule.after, rule.by) == found for rule in RULES)
