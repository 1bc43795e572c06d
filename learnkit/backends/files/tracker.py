"""Requests that need an answer: who asked whom, what the answer was, and which may follow which.

A request has an id, so that "ok" answers one question and no other. Only its addressee may answer,
once, and only during the assignment in which it was asked. The tracker is a file: it survives a
restart, and a person can read it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from learnkit.backends.files.store import Document
from learnkit.errors import ToolError, UsageError

Kind = Literal["shutdown", "plan"]
State = Literal["pending", "approved", "rejected", "changes_requested", "expired"]
Answer = Literal["approved", "rejected", "changes_requested"]

#: How many closed requests are kept, the newest ones.
KEPT = 500


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
    Rule("shutdown", "pending", "expired", "harness", "at the deadline: it is stopped"),
    Rule("plan", "pending", "approved", "addressee", "the tools that write are open to it"),
    Rule("plan", "pending", "rejected", "addressee", "the tools that write stay closed"),
    Rule("plan", "pending", "changes_requested", "addressee", "it is asked for another plan"),
    Rule("plan", "pending", "expired", "harness", "its author has ended, or has other work"),
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
    def mate(self) -> str:
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


class Tracker:
    """All requests of a team, in one file shared by threads and processes.

    Args:
        path: such as ``.team/requests.json``.
        now: the date and time.
    """

    def __init__(self, path: str | Path, now: Callable[[], datetime]) -> None:
        self._file, self._now = Document(path), now

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        """Store a new request.

        Args:
            kind: of the request.
            sender: who asks.
            to: who may answer.
            content: what is asked.
            within: seconds until it expires; None for never.

        Returns:
            The pending request, with its id.

        Raises:
            ToolError: if the same question still waits for its answer.
        """
        with self._file.change(_EMPTY) as data:
            new = Request(f"r{data['next_id']:07}", kind, sender, to, content)
            new = replace(new, assignment=data["assignments"].get(new.mate, 0))
            if within is not None:
                new = replace(new, expires=(self._now() + timedelta(seconds=within)).isoformat())
            for old in self._read(data):
                if (old.kind, old.mate, old.state) == (kind, new.mate, "pending"):
                    raise ToolError(f"request {old.id} asks {to} that already; wait for the answer")
            data["next_id"] += 1
            data["requests"] = _kept([*data["requests"], asdict(new)])
            return new

    def answer(self, id: str, by: str, state: Answer, note: str = "") -> Request:
        """Answer a request.

        Args:
            id: of the request.
            by: who answers.
            state: the answer.
            note: a reason, or feedback.

        Returns:
            The request as it is now.

        Raises:
            ToolError: if there is no such request, ``by`` is not its addressee, it has an answer
                already, or has expired; nothing is changed then.
        """
        with self._file.change(_EMPTY) as data:
            old = self._find(data, id)
            if old.to != by:
                raise ToolError(f"request {id} is for {old.to} to answer, not for {by}")
            if old.state != "pending":
                raise ToolError(f"request {id} is {old.state} already; that stays")
            if not _may(old, state, "addressee"):
                raise ToolError(f"a {old.kind} request cannot become {state}")
            return _put(data, replace(old, state=state, note=note))

    def expire(self, id: str, why: str) -> Request | None:
        """Expire a request that has no answer.

        Args:
            id: of the request.
            why: the note that it gets.

        Returns:
            The expired request; None if it was not pending any more.

        Raises:
            ToolError: if there is no such request.
        """
        with self._file.change(_EMPTY) as data:
            old = self._find(data, id, late=False)
            if not _may(old, "expired", "harness"):
                return None
            return _put(data, replace(old, state="expired", note=why))

    def expire_all(self, mate: str, why: str) -> list[Request]:
        """Expire what is pending for a teammate.

        Args:
            mate: name of the teammate.
            why: the note that the requests get.

        Returns:
            The requests that have expired by this call.
        """
        pending = [one.id for one in self.all() if one.mate == mate and one.state == "pending"]
        return [request for id in pending if (request := self.expire(id, why))]

    def assign(self, mate: str) -> list[Request]:
        """Begin a new assignment of a teammate: nothing that was asked before counts for it.

        Args:
            mate: name of the teammate.

        Returns:
            The requests that have expired with the old one.
        """
        expired = self.expire_all(mate, f"{mate} has another assignment")
        with self._file.change(_EMPTY) as data:
            data["assignments"][mate] = data["assignments"].get(mate, 0) + 1
        return expired

    def get(self, id: str) -> Request:
        """Return one request.

        Args:
            id: of the request.

        Raises:
            ToolError: if there is none with this id.
        """
        return self._find(self._file.read(_EMPTY), id)

    def all(self) -> list[Request]:
        """Return every request, in the order in which they were opened."""
        return self._read(self._file.read(_EMPTY))

    def current(self, mate: str) -> Request | None:
        """Return the last plan of a teammate in its present assignment; None if there is none.

        Args:
            mate: name of the teammate.
        """
        data = self._file.read(_EMPTY)
        assignment = data["assignments"].get(mate, 0)
        plans = [
            one
            for one in self._read(data)
            if (one.kind, one.mate, one.assignment) == ("plan", mate, assignment)
        ]
        return plans[-1] if plans else None

    def _find(self, data: dict[str, Any], id: str, late: bool = True) -> Request:
        requests = self._read(data, late)
        for request in requests:
            if request.id == id:
                return request
        known = ", ".join(one.id for one in requests[-5:]) or "none"
        raise ToolError(f"there is no request {id!r}; the last ones are: {known}")

    def _read(self, data: dict[str, Any], late: bool = True) -> list[Request]:
        """The requests; with ``late``, one whose time is up counts as expired."""
        now = self._now()
        try:
            requests = [Request(**one) for one in data["requests"]]
        except (KeyError, TypeError):
            path = self._file.path
            raise UsageError(
                f"{path} holds something that is no request; mend or remove it"
            ) from None
        return [_late(one) if late and _is_late(one, now) else one for one in requests]


_EMPTY: dict[str, Any] = {"next_id": 1, "assignments": {}, "requests": []}


def _may(request: Request, after: State, by: str) -> bool:
    found = (request.kind, request.state, after, by)
    return any((rule.kind, rule.before, rule.after, rule.by) == found for rule in RULES)


def _is_late(request: Request, now: datetime) -> bool:
    if request.state != "pending" or not request.expires:
        return False
    return now > datetime.fromisoformat(request.expires)


def _late(request: Request) -> Request:
    return replace(request, state="expired", note="nobody has answered in time")


def _put(data: dict[str, Any], request: Request) -> Request:
    data["requests"] = [
        asdict(request) if one["id"] == request.id else one for one in data["requests"]
    ]
    return request


def _kept(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requests without the oldest closed ones, when there are too many."""
    closed = [one["id"] for one in requests if one["state"] != "pending"]
    gone = set(closed[: -KEPT or None]) if len(closed) > KEPT else set()
    return [one for one in requests if one["id"] not in gone]
