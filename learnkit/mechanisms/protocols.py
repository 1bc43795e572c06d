"""Protocols: requests with an id, an answer that names it, and a gate that knows the answer.

Ending a thread from outside leaves half a file, and "ok" may answer anything. So a teammate is
asked to shut down, and may refuse. Where plans are required, a teammate cannot write before the
lead has approved its plan: not because its prompt says so, but because its calls are refused.

A request gets an id from the tracker and goes to its addressee as a message that carries the id.
The answer names the id, changes the state of the request once, and goes back as a message. A
request with a deadline is watched: without an answer its addressee is stopped.

The name of the lead's tool ``shutdown_response`` misleads (it only looks up a state) and is kept
because models know it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

from learnkit.backends.mail import Type
from learnkit.backends.request import Answer, Kind, Request
from learnkit.core.interface import AgentLike, Call
from learnkit.core.mechanism import Mechanism, refusals_logged
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError
from learnkit.events.declaration import part
from learnkit.events.protocols import (
    RequestAnswered,
    RequestData,
    RequestExpired,
    RequestOpened,
    RequestRefused,
)
from learnkit.mechanisms.teams.teammate import Change, Extension, TeamBase, Teammate
from learnkit.runtime.clock import joined
from learnkit.runtime.interrupts import unbroken

if TYPE_CHECKING:
    from learnkit.backends.tracker import Tracker
    from learnkit.core.agent import Agent
    from learnkit.runtime.clock import Signal, Worker

#: What may be called before a plan is approved, besides tools marked ``read_only``: the board and
#: messages.
OPEN = (
    *("task_update", "claim_task", "idle"),
    *("send_message", "read_inbox", "shutdown_response", "plan_approval"),
)
#: The types of the messages that carry a request and its answer. A plan travels as a response: the
#: name misleads, but models know it.
_TYPES: dict[Kind, tuple[Type, Type]] = {
    "shutdown": ("shutdown_request", "shutdown_response"),
    "plan": ("plan_approval_response", "plan_approval_response"),
}

_LEAD = (
    "To shut down a teammate, ask it with shutdown_request; it may refuse. Plans arrive as "
    "messages of type plan_approval_response with a request_id. Answer each with plan_approval."
)
_MEMBER = (
    "Answer a shutdown_request in your inbox with shutdown_response and its request_id; a message "
    "does not count as an answer. Approve if your work is in order, otherwise say why not."
)
_PLAN = (
    "Before you change anything, submit a plan with plan_approval and end your turn. The answer "
    "arrives in your inbox. Until the plan is approved, you cannot use tools that write."
)
_ASKED = "Please shut down. Answer with shutdown_response and this request_id."


class Protocols(Mechanism, Extension):
    """The lead's side of the protocols; a teammate gets its own when it is started.

    Emits ``request.opened``, ``request.answered`` and ``request.expired``, each with ``request``;
    and ``request.refused`` with ``tool`` and ``problem``. A step and its event are logged together:
    no other thread can log the end of a request before its beginning.

    Args:
        team: whose lead it serves.
        plan_required: which teammates need an approved plan before they may write: none, all, or
            those for which a function of name and role returns True when they are started. From
            the lead's first request on, this also holds for teammates in processes of their own;
            with a function, each of them needs a plan.
        deadline: seconds that a teammate has to answer a request to shut down. Without an answer
            it gets no further turn: a command under way is ended, a model call is not interrupted.

    Raises:
        UsageError: for a deadline that is not above 0, or a team that has protocols already.
    """

    def __init__(
        self,
        team: TeamBase,
        *,
        plan_required: bool | Callable[[str, str], bool] = False,
        deadline: float = 60.0,
    ) -> None:
        if not deadline > 0:
            raise UsageError(f"the deadline is {deadline} s; it must be above 0")
        if any(isinstance(one, Protocols) for one in team.extensions):
            raise UsageError("this team has its protocols already")
        self.team, self.deadline = team, deadline
        self._tracker: Tracker | None = None
        self._watches: dict[str, tuple[Signal, Worker]] = {}  # by request id: answered, deadline
        self._required = plan_required
        self._imposed = False  # whether the lead's process has said who needs a plan
        team.types = ["message"]  # the other types are this mechanism's, and cannot be forged
        team.extensions.append(self)

    @property
    def tracker(self) -> Tracker:
        """The state of every request of the team.

        Raises:
            UsageError: if the team has no lead yet.
        """
        if self._tracker is None:
            self._tracker = self.team.tracker()
        return self._tracker

    # The lead

    def system(self, agent: Agent) -> str | None:
        """How requests are made and answered; the first call also says who needs a plan."""
        if not self._imposed:  # through the backend, which a function can't be sent to
            self.tracker.require_plan(callable(self._required) or self._required)
            self._imposed = True
        return _LEAD

    @tool(internal=True)
    def shutdown_request(self, teammate: str) -> str:
        """Ask a teammate to shut down. It may refuse; if it does not answer in time, it is stopped.

        Args:
            teammate: Name of the teammate.
        """
        lead = self.team.lead
        with refusals(lead, "shutdown_request"):
            running = self.team.running()
            if teammate not in running:
                there = ", ".join(running) or "none"
                raise ToolError(
                    f"{teammate!r} is not a running teammate; running teammates: {there}"
                )
            request = self.ask(lead, "shutdown", teammate, _ASKED, self.deadline)
        return f"Asked {teammate} to shut down; request {request.id} is pending."

    @tool(internal=True)
    def shutdown_response(self, request_id: str) -> str:
        """Return the current state of a request.

        Args:
            request_id: Id of the request.
        """
        with refusals(self.team.lead, "shutdown_response"):
            return self.tracker.get(request_id).line

    @tool(internal=True)
    def plan_approval(
        self,
        request_id: str,
        approve: bool,
        feedback: str = "",
        request_changes: bool = False,
    ) -> str:
        """Approve or reject a teammate's plan, or request changes to it.

        Args:
            request_id: Id that came with the plan.
            approve: Whether the teammate may carry out the plan.
            feedback: Reason, or changes to make. Required unless you approve.
            request_changes: Whether to ask for a new plan instead of rejecting this one for good.
        """
        lead = self.team.lead
        state: Answer = "approved" if approve else "rejected"
        if request_changes:
            state = "changes_requested"
        with refusals(lead, "plan_approval"):
            if approve and request_changes:
                raise ToolError("approve and request_changes are both true; set only one of them")
            if not approve and not feedback.strip():
                raise ToolError(
                    "feedback is empty; tell the author of the plan why you do not approve it"
                )
            return self.answer(lead, request_id, state, feedback).line

    # The team

    def member(self, teammate: Teammate) -> Sequence[Mechanism]:
        """A teammate's side of the protocols."""
        required = self._required
        if callable(required):
            required = required(teammate.name, teammate.role)
        return [TeammateProtocols(self, teammate, required)]

    def changed(self, teammate: Teammate, what: Change) -> None:
        """With a new assignment nothing that was asked before counts; at the end, nothing at all.

        A teammate that has shut down answers nothing more.
        """
        with teammate.agent.events.ordered():
            if what == "assigned":
                self._log_expired(teammate.agent, self.tracker.assign(teammate.name))
            elif what == "shutdown":
                expired = self.tracker.expire_all(teammate.name, f"{teammate.name} has shut down")
                self._log_expired(teammate.agent, expired)

    def expects_answer(self, teammate: Teammate) -> bool:
        """Whether the teammate's plan has no answer yet."""
        plan = self.tracker.current(teammate.name)
        return plan is not None and plan.state == "pending"

    @unbroken
    def close(self, agent: AgentLike | None = None) -> None:
        """End the watches over deadlines, and wait for their threads."""
        watches, self._watches = list(self._watches.values()), {}
        for answered, _ in watches:
            answered.set()
        if errors := joined(watch for _, watch in watches):
            raise errors[0]

    # Requests

    def ask(
        self, by: Agent, kind: Kind, to: str, content: str, deadline: float | None = None
    ) -> Request:
        """Open a request, and deliver it to the agent that has to answer it.

        Args:
            by: who asks.
            kind: to shut down, or to approve a plan.
            to: the agent that has to answer.
            content: the text.
            deadline: seconds after which an addressee that has not answered is stopped.

        Raises:
            ToolError: if it cannot be asked.
        """
        with by.events.ordered():
            request = self.tracker.open(kind, by.name, to, content, deadline)
            by.emit(RequestOpened(request=part(RequestData, request.to_json())))
        if deadline is not None:
            self._watch(by, request, deadline)
        self._deliver(by, to, content, _TYPES[kind][0], request)
        return request

    def answer(self, by: Agent, id: str, state: Answer, note: str) -> Request:
        """Answer a request, and deliver the answer to the agent that asked.

        Args:
            by: who answers.
            id: of the request.
            state: the verdict.
            note: why.

        Raises:
            ToolError: if this agent cannot answer it, or not any more.
        """
        with by.events.ordered():
            request = self.tracker.answer(id, by.name, state, note)
            by.emit(RequestAnswered(request=part(RequestData, request.to_json())))
        self._end_watch(request)
        text = f"{request.id} {state}" + (f": {note}" if note.strip() else "")
        self._deliver(by, request.sender, text, _TYPES[request.kind][1], request)
        return request

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


class TeammateProtocols(Mechanism):
    """A teammate's side of the protocols: tools to answer and to submit, and a gate."""

    def __init__(self, protocols: Protocols, teammate: Teammate, plan_required: bool) -> None:
        self._protocols, self._mate, self._plan_required = protocols, teammate, plan_required

    def system(self, agent: Agent) -> str | None:
        """How requests are answered, and whether a plan is required."""
        return f"{_MEMBER}\n\n{_PLAN}" if self._needs_plan() else _MEMBER

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """The gate: what may write waits for an approved plan."""
        free = agent.tools[call.name].read_only or call.name in OPEN
        if free or not self._needs_plan():
            return None
        plan = self._protocols.tracker.current(self._mate.name)
        if plan is None:
            return f"{call.name} needs an approved plan; submit yours with plan_approval"
        if plan.state == "approved":
            return None
        if plan.state == "pending":
            return f"{call.name} must wait: your plan {plan.id} has no answer yet; end your turn"
        return f"your plan {plan.id} is {plan.state}: {plan.note}; submit another one"

    def _needs_plan(self) -> bool:
        """In a process of its own it also asks what the lead has said."""
        apart = bool(self._protocols.team.incarnation)
        return self._plan_required or (apart and self._protocols.tracker.requires_plan())

    @tool(internal=True)
    def shutdown_response(self, request_id: str, approve: bool, reason: str = "") -> str:
        """Answer a request to shut down.

        Args:
            request_id: Id of the request.
            approve: Whether you shut down, once the calls of this turn are finished.
            reason: Reason for refusing. Required if you refuse.
        """
        teammate = self._mate
        with refusals(teammate.agent, "shutdown_response"):
            if not approve and not reason.strip():
                raise ToolError("reason is empty; say why you cannot shut down now")
            state: Answer = "approved" if approve else "rejected"
            request = self._protocols.answer(teammate.agent, request_id, state, reason)
        teammate.leaving = teammate.leaving or approve
        return request.line

    @tool(internal=True)
    def plan_approval(self, plan: str) -> str:
        """Submit a plan to the lead, then end your turn. The answer arrives in your inbox.

        Args:
            plan: Steps in order, and how to undo them if something goes wrong.
        """
        agent, lead = self._mate.agent, self._protocols.team.lead_name
        with refusals(agent, "plan_approval"):
            if not plan.strip():
                raise ToolError("the plan is empty; say what you will do")
            request = self._protocols.ask(agent, "plan", lead, plan)
        return f"Sent plan {request.id} to {lead}; end your turn and wait for the answer."


def refusals(by: Agent, tool: str) -> AbstractContextManager[None]:
    """Log why a call of a protocol's tool was refused, if it is."""
    return refusals_logged(by.emit, partial(RequestRefused, tool=tool))
