"""Protocols: requests with an id, an answer that names it, and a gate that knows the answer.

Ending a thread from outside leaves half a file, and "ok" may answer anything. So a teammate is
asked to shut down, and may refuse; and where plans are required it cannot write before the lead has
approved one: not because its prompt says so, but because its calls are refused.

Two names on the wire mislead, and are kept because models know them: the lead's
``shutdown_response`` only looks up a state, and a plan travels as ``plan_approval_response``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from learnkit.backends.files.tracker import Answer, Kind, Request, Tracker
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.protocols.teammate import Answers
from learnkit.mechanisms.teams.teammate import Extension, Teammate

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.lead import Team
    from learnkit.runtime.clock import Signal, Worker

#: What may be called while no plan is approved, besides tools marked read-only: board and mail.
OPEN = (
    *("task_update", "claim_task", "idle"),
    *("send_message", "read_inbox", "shutdown_response", "plan_approval"),
)

_HOW = (
    "To end a teammate, ask it with shutdown_request; it may refuse. Plans come to you as "
    "plan_approval_response, with a request_id: answer each with plan_approval."
)


class Protocols(Mechanism, Extension):
    """The lead's side of the protocols; a teammate gets its own with its first prompt.

    Emits ``request.opened``, ``request.answered`` and ``request.expired``, each with ``request``;
    and ``request.refused`` with ``tool`` and ``problem``.

    Args:
        team: whose lead it serves.
        plan_required: who has to have a plan approved before it may write: nobody, everybody, or
            those for whom a function of name and role says so.
        deadline: seconds that a teammate has to answer a request to shut down; a silent one is
            stopped where it stands.
        open: names of tools that need no approved plan; those marked ``read_only`` never do.

    Raises:
        UsageError: for a deadline that is not above 0, or a team that has protocols already.
    """

    def __init__(
        self,
        team: Team,
        *,
        plan_required: bool | Callable[[str, str], bool] = False,
        deadline: float = 60.0,
        open: Sequence[str] = OPEN,
    ) -> None:
        if not deadline > 0:
            raise UsageError(f"the deadline is {deadline} s; it must be above 0")
        if any(isinstance(one, Protocols) for one in team.extensions):
            raise UsageError("this team has its protocols already")
        self.team, self.deadline, self.open = team, deadline, tuple(open)
        self._required = plan_required
        self._waits: dict[str, tuple[Signal, Worker]] = {}
        self._tracker: Tracker | None = None
        team.types = ["message"]  # the other types are this mechanism's, and cannot be forged
        team.extensions.append(self)

    @property
    def tracker(self) -> Tracker:
        """All requests of the team.

        Raises:
            UsageError: if the team has no lead yet.
        """
        if self._tracker is None:
            now = self.team.lead.clock.now
            self._tracker = Tracker(self.team.folder / "requests.json", now)
        return self._tracker

    def requires_plan(self, mate: Teammate) -> bool:
        """Whether a teammate must have a plan approved before it may write."""
        asked = self._required
        return asked(mate.name, mate.role) if callable(asked) else asked

    # The lead

    def system(self, agent: Agent) -> str | None:
        """How requests are made and answered."""
        return _HOW

    @tool
    def shutdown_request(self, agent: Agent | None, teammate: str) -> str:
        """Ask a teammate to end. It may refuse; silence counts as agreement after a while.

        Args:
            teammate: its name.
        """

        def ask() -> str:
            lead, mate = self.team.lead, self._mate(teammate)
            request = self.opened(lead, "shutdown", mate.name, _ASKED, self.deadline)
            self._watch(mate, request)
            self.team.send(lead, mate.name, _ASKED, "shutdown_request", request_id=request.id)
            return f"{teammate} is asked to shut down: request {request.id} is pending."

        return self.tried("shutdown_request", ask)

    @tool
    def shutdown_response(self, agent: Agent | None, request_id: str) -> str:
        """Look up what has become of a request.

        Args:
            request_id: its eight characters.
        """
        return self.tried("shutdown_response", lambda: self.tracker.get(request_id).line)

    @tool
    def plan_approval(
        self,
        agent: Agent | None,
        request_id: str,
        approve: bool,
        feedback: str = "",
        request_changes: bool = False,
    ) -> str:
        """Answer a teammate's plan.

        Args:
            request_id: of the plan.
            approve: whether it may be carried out.
            feedback: why, or what has to be different; needed unless you approve.
            request_changes: ask for another plan instead of rejecting this one for good.
        """
        state: Answer = "approved" if approve else "rejected"
        if request_changes:
            state = "changes_requested"

        def answer() -> str:
            if approve and request_changes:
                raise ToolError("a plan is approved, or changes are requested: not both")
            if not approve and not feedback.strip():
                raise ToolError("say why in feedback; its author has nothing else to go by")
            lead = self.team.lead
            request = self._answer(lead, request_id, state, feedback)
            said = f"{request.id} {state}" + (f": {feedback}" if feedback.strip() else "")
            self.tell(lead, request.sender, said, "plan_approval_response", request)
            return request.line

        return self.tried("plan_approval", answer)

    # The team

    def member(self, mate: Teammate) -> Sequence[Mechanism]:
        """A teammate's side of the protocols."""
        return [Answers(self, mate)]

    def assigned(self, mate: Teammate) -> None:
        """With a new assignment nothing that was asked before counts."""
        self._expired(mate.agent, lambda: self.tracker.assign(mate.name))

    def changed(self, mate: Teammate) -> None:
        """One that has ended answers nothing more."""
        if mate.status == "shutdown":
            ended = f"{mate.name} has ended"
            self._expired(mate.agent, lambda: self.tracker.expire_all(mate.name, ended))

    def waits(self, mate: Teammate) -> bool:
        """Whether a plan of its has no answer yet."""
        plan = self.tracker.current(mate.name)
        return plan is not None and plan.state == "pending"

    def close(self) -> None:
        """End the watches over deadlines."""
        waits, self._waits = list(self._waits.values()), {}
        for answered, watch in waits:
            answered.set()
            watch.join()

    # For the teammates' side

    def opened(
        self, by: Agent, kind: Kind, to: str, content: str, within: float | None = None
    ) -> Request:
        """Note a new request, and log it before anybody can log its end."""
        with by.events.ordered():
            request = self.tracker.open(kind, by.name, to, content, within)
            by.emit("request.opened", request=request.to_json())
        return request

    def answered(self, mate: Teammate, id: str, approve: bool, reason: str) -> Request:
        """A teammate answers a request to shut down.

        Raises:
            ToolError: if it is not its to answer, or not any more.
        """
        state: Answer = "approved" if approve else "rejected"
        request = self._answer(mate.agent, id, state, reason)
        if id in self._waits:
            self._waits[id][0].set()
        said = f"{request.id} {state}" + (f": {reason}" if reason.strip() else "")
        self.tell(mate.agent, self.team.lead.name, said, "shutdown_response", request)
        mate.leaving = mate.leaving or approve
        return request

    def tell(self, agent: Agent, to: str, text: str, type: Any, request: Request) -> None:
        """Send what concerns a request."""
        self.team.send(agent, to, text, type, request_id=request.id, state=request.state)

    def tried(self, name: str, act: Callable[[], str], by: Agent | None = None) -> str:
        """Do it, and log why it was refused, if it was."""
        try:
            return act()
        except ToolError as error:
            (by or self.team.lead).emit("request.refused", tool=name, problem=str(error))
            raise

    def _mate(self, name: str) -> Teammate:
        for mate in self.team.members:
            if mate.name == name and mate.status != "shutdown":
                return mate
        there = [one.name for one in self.team.members if one.status != "shutdown"]
        raise ToolError(
            f"{name!r} is not there to be asked; there are: {', '.join(there) or 'none'}"
        )

    def _answer(self, agent: Agent, id: str, state: Answer, note: str) -> Request:
        with agent.events.ordered():
            request = self.tracker.answer(id, agent.name, state, note)
            agent.emit("request.answered", request=request.to_json())
        return request

    def _watch(self, mate: Teammate, request: Request) -> None:
        clock = self.team.lead.clock
        answered = clock.signal(f"the answer to {request.id}")
        watch = clock.spawn(f"deadline of {request.id}", self._enforce, mate, request, answered)
        self._waits[request.id] = answered, watch

    def _enforce(self, mate: Teammate, request: Request, answered: Signal) -> None:
        """Silence is no refusal: at the deadline the teammate is stopped where it stands."""
        lead = self.team.lead
        if lead.clock.wait(answered, mate.stop, timeout=self.deadline):
            return
        why = f"no answer in {self.deadline:g} s"
        if self._expired(lead, lambda: filter(None, [self.tracker.expire(request.id, why)])):
            mate.stop.set()

    def _expired(self, by: Agent, close: Callable[[], Iterable[Request]]) -> list[Request]:
        with by.events.ordered():
            requests = list(close())
            for request in requests:
                by.emit("request.expired", request=request.to_json())
                if request.id in self._waits:
                    self._waits[request.id][0].set()
        return requests


_ASKED = "Please shut down: answer with shutdown_response and this request_id."
