"""Which part of a conversation lesson 11 shows: how a teammate got a task, found by its content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from learnkit.events.text import blocks_of

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.course.lab import Lab
    from learnkit.views import Messages

_FRAME = "<auto-claimed>"


def claimer(agents: Sequence[Agent], otherwise: Agent) -> Agent:
    """Return the first agent that got a task."""
    return next((one for one in agents if claim_of(one.messages, 1)[1]), otherwise)


def show_claim(lab: Lab, agent: Agent, number: int) -> Messages | None:
    """Show how an agent got a task; where an edited run has nothing to show, say so."""
    first, part = claim_of(agent.messages, number)
    if not part:
        again = number > 1 and claim_of(agent.messages, 1)[1]
        print(
            "No second task was claimed in this conversation."
            if again
            else "In the run above, nobody was started, or nobody claimed a task. Undo your change."
        )
        return None
    if number == 1 and not any(map(_asks, part)):
        print(f"In this run, the harness claimed the first task of {agent.name}, who was idle.")
    return lab.show(part, first=first)


def claim_of(messages: Sequence[Any], number: int) -> tuple[int, Sequence[Any]]:
    """Find the part in which an agent gets a task, from its own first attempt to the task's frame.

    The harness also claims for an idle agent. Then the part begins with the message before.
    """
    frames = [at for at, one in enumerate(messages) if one["role"] == "user" and _has_frame(one)]
    if len(frames) < number:
        return 0, []
    before = frames[number - 2] if number > 1 else -1
    end = frames[number - 1]
    asked = (at for at in range(before + 1, end) if _asks(messages[at]))
    begin = next(asked, max(end - 1, 0))
    return begin, messages[begin : end + 1]


def _has_frame(message: Any) -> bool:
    return _FRAME in str(message["content"])


def _asks(message: Any) -> bool:
    """Whether the agent itself tries to claim a task."""
    blocks = blocks_of(message["content"])
    return any(one["type"] == "tool_use" and one["name"] == "claim_task" for one in blocks)
