"""Protocols: requests with an id, an answer that names it, and a gate that knows the answer.

Ending a thread from outside leaves half a file, and "ok" may answer anything. So a teammate is
asked to shut down, and may refuse. Where plans are required, a teammate cannot write before the
lead has approved its plan: not because its prompt says so, but because its calls are refused.

This is the lead's side; ``teammate`` is the other one, and both use ``requests``. The name of the
lead's tool ``shutdown_response`` misleads (it only looks up a state) and is kept because models
know it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from learnkit.backends.request import Answer
from learnkit.core.interface import AgentLike
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.protocols.requests import Requests
from learnkit.mechanisms.protocols.teammate import TeammateProtocols
from learnkit.mechanisms.teams.teammate import Change, Extension, Teammate

if TYPE_CHECKING:
    from learnkit.backends.tracker import Tracker
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.base import TeamBase

#: What may be called before a plan is approved, besides tools marked ``read_only``: the board and
#: messages.
OPEN = (
    *("task_update", "claim_task", "idle"),
    *("send_message", "read_inbox", "shutdown_response", "plan_approval"),
)

_HOW = (
    "To shut down a teammate, ask it with shutdown_request; it may refuse. Plans arrive as "
    "messages of type plan_approval_response with a request_id. Answer each with plan_approval."
)


class Protocols(Mechanism, Extension):
    """The lead's side of the protocols; a teammate gets its own when it is started.

    Emits ``request.opened``, ``request.answered`` and ``request.expired``, each with ``request``;
    and ``request.refused`` with ``tool`` and ``problem``.

    Args:
        team: whose lead it serves.
        plan_required: which teammates need an approved plan before they may write: none, all, or
            those for which a function of name and role returns True when they are started. From
            the lead's first request on, this also holds for teammates in processes of their own;
            with a function, each of them needs a plan.
        deadline: seconds that a teammate has to answer a request to shut down. Without an answer
            it gets no further turn: a command under way is ended, a model call is not interrupted.
        open: names of tools that need no approved plan; those marked ``read_only`` never do.

    Raises:
        UsageError: for a deadline that is not above 0, or a team that has protocols already.
    """

    def __init__(
        self,
        team: TeamBase,
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
        self.requests = Requests(team)
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
        return self.requests.tracker

    def requires_plan(self, teammate: Teammate) -> bool:
        """Whether a teammate of this process must have a plan approved before it may write.

        Args:
            teammate: the teammate.
        """
        required = self._required
        return required(teammate.name, teammate.role) if callable(required) else required

    # The lead

    def system(self, agent: Agent) -> str | None:
        """How requests are made and answered; the first call also says who needs a plan."""
        self._impose()
        return _HOW

    @tool(internal=True)
    def shutdown_request(self, teammate: str) -> str:
        """Ask a teammate to shut down. It may refuse; if it does not answer in time, it is stopped.

        Args:
            teammate: Name of the teammate.
        """
        lead = self.team.lead
        with self.requests.refusals(lead, "shutdown_request"):
            self._check_running(teammate)
            request = self.requests.ask(lead, "shutdown", teammate, _ASKED, self.deadline)
        return f"Asked {teammate} to shut down; request {request.id} is pending."

    @tool(internal=True)
    def shutdown_response(self, request_id: str) -> str:
        """Return the current state of a request.

        Args:
            request_id: Id of the request.
        """
        with self.requests.refusals(self.team.lead, "shutdown_response"):
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
        with self.requests.refusals(lead, "plan_approval"):
            if approve and request_changes:
                raise ToolError("approve and request_changes are both true; set only one of them")
            if not approve and not feedback.strip():
                raise ToolError(
                    "feedback is empty; tell the author of the plan why you do not approve it"
                )
            return self.requests.answer(lead, request_id, state, feedback).line

    # The team

    def member(self, teammate: Teammate) -> Sequence[Mechanism]:
        """A teammate's side of the protocols."""
        required = self.requires_plan(teammate)

        def needs_plan() -> bool:
            """In a process of its own it also asks what the lead has said."""
            return required or (bool(self.team.incarnation) and self.tracker.requires_plan())

        return [TeammateProtocols(self.requests, teammate, needs_plan, self.open)]

    def changed(self, teammate: Teammate, what: Change) -> None:
        """With a new assignment nothing that was asked before counts; at the end, nothing at all.

        A teammate that has shut down answers nothing more.
        """
        if what == "assigned":
            self.requests.begin_assignment(teammate)
        elif what == "shutdown":
            self.requests.end(teammate)

    def expects_answer(self, teammate: Teammate) -> bool:
        """Whether the teammate's plan has no answer yet."""
        plan = self.tracker.current(teammate.name)
        return plan is not None and plan.state == "pending"

    def close(self, agent: AgentLike | None = None) -> None:
        """End the watches over deadlines."""
        self.requests.close()

    def _impose(self) -> None:
        """Say once, through the backend, whether a plan is needed: a function can't be sent."""
        if not self._imposed:
            self.tracker.require_plan(callable(self._required) or self._required)
            self._imposed = True

    def _check_running(self, name: str) -> None:
        running = self.team.running()
        if name not in running:
            there = ", ".join(running) or "none"
            raise ToolError(f"{name!r} is not a running teammate; running teammates: {there}")


_ASKED = "Please shut down. Answer with shutdown_response and this request_id."
