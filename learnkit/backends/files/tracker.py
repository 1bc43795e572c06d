"""The tracker of a team's requests: stored, so that they survive a restart.

Only the addressee of a request may answer it, once, and only during the assignment in which it was
asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import (
    Any,
    NotRequired,  # pydantic wants this one before Python 3.12
)

from typing_extensions import TypedDict

from learnkit.backends.files.store import VERSION, Document, following
from learnkit.backends.interface import RequestBackend
from learnkit.backends.request import ANSWERS, Answer, Kind, Request, State
from learnkit.backends.shared import Shared
from learnkit.errors import ToolError

#: How many closed requests are kept, the newest ones.
KEPT = 500


class _Entry(TypedDict):
    """A request as the file has it; what is left out has its default."""

    id: str
    kind: Kind
    sender: str
    to: str
    content: str
    state: NotRequired[State]
    assignment: NotRequired[int]
    expires: NotRequired[str]
    note: NotRequired[str]


_Entry.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]


class _File(TypedDict):
    version: NotRequired[int]
    next_id: int
    assignments: dict[str, int]
    requests: list[_Entry]
    plan_required: NotRequired[bool]


class Tracker(RequestBackend):
    """All requests of a team, in one value that threads and processes share."""

    def __init__(self, place: Shared, now: Callable[[], datetime]) -> None:
        self._place, self._now = place, now

    @classmethod
    def at(cls, path: str | Path, now: Callable[[], datetime]) -> Tracker:
        """Keep the requests in a file."""
        return cls(Document(path, _File, stays=True), now)

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        now = self._now()

        def act(data: dict[str, Any]) -> dict[str, Any]:
            number = following(data["next_id"], _highest(data))
            new = Request(f"r{number:07}", kind, sender, to, content)
            new = replace(new, assignment=data["assignments"].get(new.teammate, 0))
            if within is not None:
                new = replace(new, expires=(now + timedelta(seconds=within)).isoformat())
            for old in self._read(data, now):
                if (old.kind, old.teammate, old.state) == (kind, new.teammate, "pending"):
                    raise ToolError(f"request {old.id} to {to} has no answer yet; wait for it")
            data["next_id"] = number + 1
            data["requests"] = _kept([*data["requests"], asdict(new)])
            return asdict(new)

        return Request(**self._place.update(act, _EMPTY))

    def answer(self, id: str, by: str, state: Answer, note: str = "") -> Request:
        now = self._now()

        def act(data: dict[str, Any]) -> dict[str, Any]:
            old = _find(self._read(data, now), id)
            if old.to != by:
                raise ToolError(f"request {id} is for {old.to} to answer, not for {by}")
            if old.state != "pending":
                raise ToolError(f"request {id} is already {old.state}, which cannot be changed")
            if state not in ANSWERS[old.kind]:
                raise ToolError(f"a {old.kind} request cannot become {state}")
            return _put(data, replace(old, state=state, note=note))

        return Request(**self._place.update(act, _EMPTY))

    def expire(self, id: str, why: str) -> Request | None:
        def act(data: dict[str, Any]) -> dict[str, Any] | None:
            old = _find(_stored(data), id)  # one whose time is up may be said to be expired
            return _put(data, _expired(old, why)) if old.state == "pending" else None

        ended = self._place.update(act, _EMPTY)
        return None if ended is None else Request(**ended)

    def expire_all(self, teammate: str, why: str) -> list[Request]:
        return self._end(teammate, why)

    def assign(self, teammate: str) -> list[Request]:
        return self._end(teammate, f"{teammate} has a new assignment", assigned=1)

    def get(self, id: str) -> Request:
        return _find(self.all(), id)

    def all(self) -> list[Request]:
        return self._read(self._place.read(_EMPTY), self._now())

    def current(self, teammate: str) -> Request | None:
        data = self._place.read(_EMPTY)
        assignment = data["assignments"].get(teammate, 0)
        plans = [
            one
            for one in self._read(data, self._now())
            if (one.kind, one.teammate, one.assignment) == ("plan", teammate, assignment)
        ]
        return plans[-1] if plans else None

    def require_plan(self, required: bool) -> None:
        if required != self.requires_plan():  # else nothing is stored for it
            said = {"plan_required": required}
            self._place.update(lambda data: data.update(said), _EMPTY)

    def requires_plan(self) -> bool:
        return bool(self._place.read(_EMPTY).get("plan_required", False))

    def _end(self, teammate: str, why: str, assigned: int = 0) -> list[Request]:
        """Expire what is pending for a teammate, whose assignments are so many more now."""
        now = self._now()

        def act(data: dict[str, Any]) -> list[dict[str, Any]]:
            if assigned:
                before = data["assignments"].get(teammate, 0)
                data["assignments"][teammate] = before + assigned
            pending = [
                one
                for one in self._read(data, now)
                if one.teammate == teammate and one.state == "pending"
            ]
            return [_put(data, _expired(one, why)) for one in pending]

        return [Request(**one) for one in self._place.update(act, _EMPTY)]

    def _read(self, data: dict[str, Any], now: datetime) -> list[Request]:
        """The requests; one whose time is up counts as expired."""
        late = "not answered in time"
        return [_expired(one, late) if self._is_late(one, now) else one for one in _stored(data)]

    def _is_late(self, request: Request, now: datetime) -> bool:
        if request.state != "pending" or not request.expires:
            return False
        try:
            return now > datetime.fromisoformat(request.expires)
        except (TypeError, ValueError):  # one without a time zone cannot be compared
            problem = f"says that {request.id} expires at {request.expires!r}, which is no date"
            raise self._place.damaged(problem) from None


_EMPTY: dict[str, Any] = {"version": VERSION, "next_id": 1, "assignments": {}, "requests": []}


def _highest(data: dict[str, Any]) -> int:
    """The highest number of a request."""
    found = (re.fullmatch(r"r([0-9]{7,9})", one["id"]) for one in data["requests"])
    return max((int(match[1]) for match in found if match), default=0)


def _stored(data: dict[str, Any]) -> list[Request]:
    return [Request(**one) for one in data["requests"]]


def _find(requests: list[Request], id: str) -> Request:
    for request in requests:
        if request.id == id:
            return request
    known = ", ".join(one.id for one in requests[-5:]) or "none"
    raise ToolError(f"there is no request {id!r}; the latest requests are: {known}")


def _expired(request: Request, why: str) -> Request:
    return replace(request, state="expired", note=why)


def _put(data: dict[str, Any], request: Request) -> dict[str, Any]:
    stored = asdict(request)
    data["requests"] = [stored if one["id"] == request.id else one for one in data["requests"]]
    return stored


def _kept(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requests without the oldest closed ones, when there are too many."""
    closed = [one["id"] for one in requests if one.get("state", "pending") != "pending"]
    gone = set(closed[: -KEPT or None]) if len(closed) > KEPT else set()
    return [one for one in requests if one["id"] not in gone]
