"""The teammate's side of the protocols: it answers, submits plans, and meets the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.protocols.lead import Protocols
    from learnkit.mechanisms.teams.teammate import Teammate

_MEMBER = (
    "A shutdown_request in your inbox is answered with shutdown_response and its request_id; a "
    "message does not count as an answer. Approve when your work is in order, else say why not."
)
_PLAN = (
    "Before you change anything, submit a plan with plan_approval, and end your turn; the answer "
    "comes to your inbox. Until it is approved, tools that write are refused."
)


class Answers(Mechanism):
    """A teammate's side of the protocols: tools to answer and to submit, and a gate.

    Args:
        protocols: of the team.
        mate: whom it serves.
    """

    def __init__(self, protocols: Protocols, mate: Teammate) -> None:
        self._protocols, self._mate = protocols, mate

    def system(self, agent: Agent) -> str | None:
        """How requests are answered, and whether a plan is required."""
        return f"{_MEMBER}\n\n{_PLAN}" if self._protocols.requires_plan(self._mate) else _MEMBER

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """The gate: what may write waits for an approved plan."""
        protocols, mate = self._protocols, self._mate
        if agent.tools[call.name].read_only or call.name in protocols.open:
            return None
        if not protocols.requires_plan(mate):
            return None
        plan = protocols.tracker.current(mate.name)
        if plan is None:
            return f"{call.name} needs an approved plan; submit yours with plan_approval"
        if plan.state == "approved":
            return None
        if plan.state == "pending":
            return f"{call.name} has to wait: your plan {plan.id} has no answer yet; end your turn"
        return f"your plan {plan.id} is {plan.state}: {plan.note}; submit another one"

    @tool
    def shutdown_response(self, request_id: str, approve: bool, reason: str = "") -> str:
        """Answer a request to shut down.

        Args:
            request_id: as it stands in the request.
            approve: whether you end now; the calls of this turn are finished first.
            reason: why not, if you refuse.
        """

        def answer() -> str:
            if not approve and not reason.strip():
                raise ToolError("say in reason why you cannot end now")
            return self._protocols.answered(self._mate, request_id, approve, reason).line

        return self._protocols.tried("shutdown_response", answer, self._mate.agent)

    @tool
    def plan_approval(self, plan: str) -> str:
        """Submit a plan to the lead, then end your turn; the answer comes to your inbox.

        Args:
            plan: what you will do, in which order, and how it is undone if it goes wrong.
        """

        def submit() -> str:
            if not plan.strip():
                raise ToolError("the plan is empty")
            team, agent = self._protocols.team, self._mate.agent
            request = self._protocols.opened(agent, "plan", team.lead.name, plan)
            self._protocols.tell(agent, team.lead.name, plan, "plan_approval_response", request)
            return f"Plan {request.id} is with {team.lead.name}; end your turn and wait."

        return self._protocols.tried("plan_approval", submit, self._mate.agent)
