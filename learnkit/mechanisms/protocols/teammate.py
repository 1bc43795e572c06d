"""The teammate's side of the protocols: it answers, submits plans, and meets the gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from learnkit.backends.request import Answer
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.protocols.requests import Requests
    from learnkit.mechanisms.teams.teammate import Teammate

_MEMBER = (
    "Answer a shutdown_request in your inbox with shutdown_response and its request_id; a message "
    "does not count as an answer. Approve if your work is in order, otherwise say why not."
)
_PLAN = (
    "Before you change anything, submit a plan with plan_approval and end your turn. The answer "
    "arrives in your inbox. Until the plan is approved, you cannot use tools that write."
)


class TeammateProtocols(Mechanism):
    """A teammate's side of the protocols: tools to answer and to submit, and a gate."""

    def __init__(
        self,
        requests: Requests,
        teammate: Teammate,
        plan_required: bool | Callable[[], bool],
        open: Sequence[str],
    ) -> None:
        self._requests, self._mate = requests, teammate
        self._plan_required, self._open = plan_required, tuple(open)

    def system(self, agent: Agent) -> str | None:
        """How requests are answered, and whether a plan is required."""
        return f"{_MEMBER}\n\n{_PLAN}" if self._needs_plan() else _MEMBER

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """The gate: what may write waits for an approved plan."""
        free = agent.tools[call.name].read_only or call.name in self._open
        if free or not self._needs_plan():
            return None
        plan = self._requests.tracker.current(self._mate.name)
        if plan is None:
            return f"{call.name} needs an approved plan; submit yours with plan_approval"
        if plan.state == "approved":
            return None
        if plan.state == "pending":
            return f"{call.name} must wait: your plan {plan.id} has no answer yet; end your turn"
        return f"your plan {plan.id} is {plan.state}: {plan.note}; submit another one"

    def _needs_plan(self) -> bool:
        required = self._plan_required
        return required() if callable(required) else required

    @tool(internal=True)
    def shutdown_response(self, request_id: str, approve: bool, reason: str = "") -> str:
        """Answer a request to shut down.

        Args:
            request_id: Id of the request.
            approve: Whether you shut down, once the calls of this turn are finished.
            reason: Reason for refusing. Required if you refuse.
        """
        teammate = self._mate
        with self._requests.refusals(teammate.agent, "shutdown_response"):
            if not approve and not reason.strip():
                raise ToolError("reason is empty; say why you cannot shut down now")
            state: Answer = "approved" if approve else "rejected"
            request = self._requests.answer(teammate.agent, request_id, state, reason)
        teammate.leaving = teammate.leaving or approve
        return request.line

    @tool(internal=True)
    def plan_approval(self, plan: str) -> str:
        """Submit a plan to the lead, then end your turn. The answer arrives in your inbox.

        Args:
            plan: Steps in order, and how to undo them if something goes wrong.
        """
        agent, lead = self._mate.agent, self._requests.team.lead_name
        with self._requests.refusals(agent, "plan_approval"):
            if not plan.strip():
                raise ToolError("the plan is empty; say what you will do")
            request = self._requests.ask(agent, "plan", lead, plan)
        return f"Sent plan {request.id} to {lead}; end your turn and wait for the answer."
