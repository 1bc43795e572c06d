"""The requests of a team: who asks, who answers, and what each of them learns from it.

A request gets an id from the tracker and goes to its addressee as a message that carries the id.
The answer names the id, changes the state of the request once, and goes back as a message. A
request with a deadline is watched: without an answer its addressee is stopped. The tools of the
lead and those of a teammate both use this service, and do not know each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from learnkit.backends.mail import Type
from learnkit.backends.request import Answer, Kind, Request
from learnkit.errors import ToolError
from learnkit.events.declaration import part
from learnkit.events.protocols import (
    RequestAnswered,
    RequestData,
    RequestExpired,
    RequestOpened,
    RequestRefused,
)
from learnkit.runtime.clock import joined
from learnkit.runtime.interrupts import unbroken

if TYPE_CHECKING:
    from learnkit.backends.tracker import Tracker
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.base import TeamBase
    from learnkit.mechanisms.teams.teammate import Teammate
    from learnkit.runtime.clock import Signal, Worker

#: The types of the messages that carry a request and its answer. A plan travels as a response: the
#: name misleads, but models know it.
_TYPES: dict[Kind, tuple[Type, Type]] = {
    "shutdown": ("shutdown_request", "shutdown_response"),
    "plan": ("plan_approval_response", "plan_approval_response"),
}


class Requests:
    """Opens, answers and expires the requests of a team; logs and delivers each step.

    A step and its event are logged together: no other thread can log the end of a request before
    its beginning.
    """

    def __init__(self, team: TeamBase) -> None:
        self.team = team
        self._tracker: Tracker | None = None
        self._watches: dict[str, tuple[Signal, Worker]] = {}  # by request id: answered, deadline

    @property
    def tracker(self) -> Tracker:
        """The state of every request."""
        if self._tracker is None:
            self._tracker = self.team.tracker()
        return self._tracker

    def ask(
        self, by: Agent, kind: Kind, to: str, content: str, deadline: float | None = None
    ) -> Request:
        """Open a request, and deliver it to the agent that has to answer it."""
        with by.events.ordered():
            request = self.tracker.open(kind, by.name, to, content, deadline)
            by.emit(RequestOpened(request=part(RequestData, request.to_json())))
        if deadline is not None:
            self._watch(by, request, deadline)
        self._deliver(by, to, content, _TYPES[kind][0], request)
        return request

    def answer(self, by: Agent, id: str, state: Answer, note: str) -> Request:
        """Answer a request, and deliver the answer to the agent that asked."""
        with by.events.ordered():
            request = self.tracker.answer(id, by.name, state, note)
            by.emit(RequestAnswered(request=part(RequestData, request.to_json())))
        self._end_watch(request)
        text = f"{request.id} {state}" + (f": {note}" if note.strip() else "")
        self._deliver(by, request.sender, text, _TYPES[request.kind][1], request)
        return request

    def begin_assignment(self, teammate: Teammate) -> None:
        """Begin a new assignment of a teammate: what was asked in the last one expires."""
        with teammate.agent.events.ordered():
            self._log_expired(teammate.agent, self.tracker.assign(teammate.name))

    def end(self, teammate: Teammate) -> None:
        """Expire what is pending for a teammate that has shut down and answers nothing more."""
        with teammate.agent.events.ordered():
            expired = self.tracker.expire_all(teammate.name, f"{teammate.name} has shut down")
            self._log_expired(teammate.agent, expired)

    @unbroken
    def close(self) -> None:
        """End the watches over deadlines, and wait for their threads."""
        watches, self._watches = list(self._watches.values()), {}
        for answered, _ in watches:
            answered.set()
        if errors := joined(watch for _, watch in watches):
            raise errors[0]

    @contextmanager
    def refusals(self, by: Agent, tool: str) -> Iterator[None]:
        """Log why a call of a protocol's tool was refused, if it is."""
        try:
            yield
        except ToolError as error:
            by.emit(RequestRefused(tool=tool, problem=str(error)))
            raise

    def _deliver(self, by: Agent, to: str, text: str, type: Type, request: Request) -> None:
        self.team.send(by, to, text, type, request_id=request.id, state=request.state)

    def _watch(self, by: Agent, request: Request, deadline: float) -> None:
        clock, name = self.team.clock, f"deadline of {request.id}"
        answered = clock.signal(f"the answer to {request.id}")
        here = [one.stop for one in self.team.members if one.name == request.to]
        watch = clock.spawn(name, self._enforce, by, request, deadline, [answered, *here])
        self._watches[request.id] = answered, watch

    def _end_watch(self, request: Request) -> None:
        if request.id in self._watches:
            self._watches[request.id][0].set()

    def _enforce(
        self, by: Agent, request: Request, deadline: float, over: Sequence[Signal]
    ) -> None:
        """Silence is no refusal: at the deadline the teammate gets no further turn."""
        if self.team.clock.wait(*over, timeout=deadline):
            return
        with by.events.ordered():
            expired = self.tracker.expire(request.id, f"no answer in {deadline:g} s")
            self._log_expired(by, [expired] if expired else [])
        if expired:
            self.team.stop(request.to)

    def _log_expired(self, by: Agent, requests: list[Request]) -> None:
        for request in requests:
            by.emit(RequestExpired(request=part(RequestData, request.to_json())))
            self._end_watch(request)
