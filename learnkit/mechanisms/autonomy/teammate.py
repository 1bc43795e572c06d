"""The teammate's side of autonomy: it is idle, claims tasks, and keeps its identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from learnkit.core.content import Block
from learnkit.core.frames import IDENTITY, defused
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.mechanisms.autonomy.claims import as_text

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.autonomy.claims import Claims
    from learnkit.mechanisms.teams.teammate import Teammate

_HOW = (
    "When your work is done, end your turn or call idle. The next task arrives as <auto-claimed> "
    "and is already yours. When it is done, set it to completed, with the outcome in "
    "result_summary."
)


class TeammateAutonomy(Mechanism):
    """Offers ``idle`` and ``claim_task``, and restores a lost identity."""

    def __init__(self, claims: Claims, teammate: Teammate) -> None:
        self._claims, self._mate = claims, teammate
        self._idle = False
        self._seen = 0  # events that were examined

    @property
    def identity(self) -> str:
        """Who the teammate is, as its messages say it after a compaction."""
        name, role, team = self._mate.name, self._mate.role, self._claims.team.name
        about = defused(f"You are {name!r}, role: {role}, team: {team}")
        return f"<{IDENTITY}>{about}</{IDENTITY}>"

    def system(self, agent: Agent) -> str | None:
        """Where work comes from."""
        return _HOW

    def carry(self, agent: Agent) -> str | None:
        """Its identity. (The system prompt has it too, but a summary may mix names up.)"""
        return self.identity

    def before_model(self, agent: Agent) -> None:
        """Restore the identity when the messages were rewritten without it."""
        new, self._seen = agent.events[self._seen :], len(agent.events)
        rewritten = any(e.type == "messages.rewritten" and e.lane == agent.name for e in new)
        if rewritten and agent.messages and self.identity not in str(agent.messages):
            first = agent.messages[0]
            content = first["content"]
            blocks: list[Block] = (
                [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            )
            blocks.append({"type": "text", "text": self.identity})
            agent.rewrite([{**first, "content": blocks}, *agent.messages[1:]], "identity")

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """After a call of idle: rest, and return with what there is to do."""
        if not self._idle:
            return None
        self._idle = False
        if any(one.waits_for(agent) for one in agent.mechanisms) and (more := agent.await_more()):
            return more  # it was not idle: it had jobs to wait for
        if text := self._mate.rest(_last_texts(agent)):
            return text
        self._mate.stop.set()
        return None

    @tool(internal=True)
    def idle(self) -> str:
        """Report that you have nothing to do. A message or a task wakes you, or you shut down."""
        self._idle = True
        return "You are idle now."

    @tool(internal=True)
    def claim_task(self, task_id: int) -> str:
        """Claim a task on the board. If several agents try, exactly one succeeds.

        Args:
            task_id: Id of the task.
        """
        return as_text(self._claims.claim_for(self._mate, task_id))


def _last_texts(agent: Agent) -> str:
    """The texts of the last reply."""
    for message in reversed(agent.messages):
        if message["role"] == "assistant":
            return "\n".join(b["text"] for b in message["content"] if b["type"] == "text")
    return ""
