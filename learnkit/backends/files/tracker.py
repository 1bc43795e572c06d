"""The tracker of a team's requests: a file, so that it survives a restart and a person can read it.

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
from learnkit.backends.request import (
    Answer,
    Kind,
    Request,
    State,
    answered,
    check_free,
    expired,
    unknown,
)

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
    """All requests of a team, in one file shared by threads and processes."""

    def __init__(self, path: str | Path, now: Callable[[], datetime]) -> None:
        self._file, self._now = Document(path, _File, stays=True), now

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        with self._file.change(_EMPTY) as data:
            number = following(data["next_id"], _highest(data))
            new = Request(f"r{number:07}", kind, sender, to, content)
            new = replace(new, assignment=data["assignments"].get(new.teammate, 0))
            if within is not None:
                new = replace(new, expires=(self._now() + timedelta(seconds=within)).isoformat())
            same = (kind, new.teammate)
            check_free([one for one in self._read(data) if (one.kind, one.teammate) == same], to)
            data["next_id"] = number + 1
            data["requests"] = _kept([*data["requests"], asdict(new)])
            return new

    def answer(self, id: str, by: str, state: Answer, note: str = "") -> Request:
        with self._file.change(_EMPTY) as data:
            return _put(data, answered(self._find(data, id), by, state, note))

    def expire(self, id: str, why: str) -> Request | None:
        with self._file.change(_EMPTY) as data:
            ended = expired([self._find(data, id, late=False)], why)
            return _put(data, ended[0]) if ended else None

    def expire_all(self, teammate: str, why: str) -> list[Request]:
        pending = [
            one.id for one in self.all() if one.teammate == teammate and one.state == "pending"
        ]
        return [request for id in pending if (request := self.expire(id, why))]

    def assign(self, teammate: str) -> list[Request]:
        expired = self.expire_all(teammate, f"{teammate} has a new assignment")
        with self._file.change(_EMPTY) as data:
            data["assignments"][teammate] = data["assignments"].get(teammate, 0) + 1
        return expired

    def get(self, id: str) -> Request:
        return self._find(self._file.read(_EMPTY), id)

    def all(self) -> list[Request]:
        return self._read(self._file.read(_EMPTY))

    def current(self, teammate: str) -> Request | None:
        data = self._file.read(_EMPTY)
        assignment = data["assignments"].get(teammate, 0)
        plans = [
            one
            for one in self._read(data)
            if (one.kind, one.teammate, one.assignment) == ("plan", teammate, assignment)
        ]
        return plans[-1] if plans else None

    def require_plan(self, required: bool) -> None:
        if required != self.requires_plan():  # else no file is made for it
            with self._file.change(_EMPTY) as data:
                data["plan_required"] = required

    def requires_plan(self) -> bool:
        return bool(self._file.read(_EMPTY).get("plan_required", False))

    def _find(self, data: dict[str, Any], id: str, late: bool = True) -> Request:
        requests = self._read(data, late)
        for request in requests:
            if request.id == id:
                return request
        raise unknown(id, [one.id for one in requests[-5:]])

    def _read(self, data: dict[str, Any], late: bool = True) -> list[Request]:
        """The requests; with ``late``, one whose time is up counts as expired."""
        now = self._now()
        requests = [Request(**one) for one in data["requests"]]
        if not late:
            return requests
        return [_late(one) if self._is_late(one, now) else one for one in requests]

    def _is_late(self, request: Request, now: datetime) -> bool:
        if request.state != "pending" or not request.expires:
            return False
        try:
            return now > datetime.fromisoformat(request.expires)
        except (TypeError, ValueError):  # one without a time zone cannot be compared
            problem = f"says that {request.id} expires at {request.expires!r}, which is no date"
            raise self._file.damaged(problem) from None


_EMPTY: dict[str, Any] = {"version": VERSION, "next_id": 1, "assignments": {}, "requests": []}


def _highest(data: dict[str, Any]) -> int:
    """The highest number of a request."""
    found = (re.fullmatch(r"r([0-9]{7,9})", one["id"]) for one in data["requests"])
    return max((int(match[1]) for match in found if match), default=0)


def _late(request: Request) -> Request:
    return replace(request, state="expired", note="not answered in time")


def _put(data: dict[str, Any], request: Request) -> Request:
    data["requests"] = [
        asdict(request) if one["id"] == request.id else one for one in data["requests"]
    ]
    return request


def _kept(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The requests without the oldest closed ones, when there are too many."""
    closed = [one["id"] for one in requests if one.get("state", "pending") != "pending"]
    gone = set(closed[: -KEPT or None]) if len(closed) > KEPT else set()
    return [one for one in requests if one["id"] not in gone]
