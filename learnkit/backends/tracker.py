"""The tracker of a team's requests: stored, so that they survive a restart.

A request is pending until it is answered, once and only by its addressee, or until it expires:
at its deadline, or because the teammate that it concerns has ended or has a new assignment.
``learnkit.backends.request.ANSWERS`` lists what may be answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from learnkit.backends.request import ANSWERS, Answer, Kind, Request
from learnkit.backends.shared import VERSION, Shared, following
from learnkit.errors import ToolError

#: How many closed requests are kept, the newest ones.
KEPT = 500


class Tracker:
    """All requests of a team, in one value that threads and processes share."""

    def __init__(self, place: Shared, now: Callable[[], datetime]) -> None:
        self._place, self._now = place, now

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        """Store a new request in the teammate's present assignment.

        Args:
            kind: of the request.
            sender: who asks.
            to: who may answer.
            content: what is asked.
            within: seconds until it expires; None for never.

        Returns:
            The pending request, with an id that no other request has.

        Raises:
            ToolError: if a request of this kind is pending for this teammate.
        """
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
        """Answer a request. Of several answers only the first one counts.

        Args:
            id: of the request.
            by: who answers.
            state: the answer.
            note: a reason, or feedback.

        Returns:
            The request with its answer.

        Raises:
            ToolError: if there is no such request, ``by`` is not its addressee, it is no longer
                pending, or this kind has no such answer.
        """
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
        """Expire a pending request.

        Args:
            id: of the request.
            why: the note that it gets.

        Returns:
            The expired request; None if it was not pending any more.

        Raises:
            ToolError: if there is no such request.
        """

        def act(data: dict[str, Any]) -> dict[str, Any] | None:
            old = _find(_stored(data), id)  # one whose time is up may be said to be expired
            return _put(data, _expired(old, why)) if old.state == "pending" else None

        ended = self._place.update(act, _EMPTY)
        return None if ended is None else Request(**ended)

    def expire_all(self, teammate: str, why: str) -> list[Request]:
        """Expire what is pending for a teammate.

        Args:
            teammate: name of the teammate that was asked, or has submitted.
            why: the note that the requests get.

        Returns:
            The requests that have expired by this call.
        """
        return self._end(teammate, why)

    def assign(self, teammate: str) -> list[Request]:
        """Begin a new assignment of a teammate: nothing from the last one counts for it.

        Args:
            teammate: name of the teammate.

        Returns:
            The requests that have expired by this call.
        """
        return self._end(teammate, f"{teammate} has a new assignment", assigned=1)

    def get(self, id: str) -> Request:
        """Return one request.

        Args:
            id: of the request.

        Raises:
            ToolError: if there is none with this id.
        """
        return _find(self.all(), id)

    def all(self) -> list[Request]:
        """Return every request, in the order in which they were opened."""
        return self._read(self._place.read(_EMPTY), self._now())

    def current(self, teammate: str) -> Request | None:
        """Return the last plan that a teammate has submitted in its present assignment.

        Args:
            teammate: name of the teammate.
        """
        data = self._place.read(_EMPTY)
        assignment = data["assignments"].get(teammate, 0)
        plans = [
            one
            for one in self._read(data, self._now())
            if (one.kind, one.teammate, one.assignment) == ("plan", teammate, assignment)
        ]
        return plans[-1] if plans else None

    def require_plan(self, required: bool) -> None:
        """Say whether members in processes of their own may write only after a plan was approved.

        The lead's harness says it here, so that they learn of it.

        Args:
            required: whether they must.
        """
        if required != self.requires_plan():  # else nothing is stored for it
            said = {"plan_required": required}
            self._place.update(lambda data: data.update(said), _EMPTY)

    def requires_plan(self) -> bool:
        """Whether they must; False if nothing was said."""
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
