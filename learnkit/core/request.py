"""One request to the model: sent, logged, and its reply as plain blocks."""

from __future__ import annotations

from typing import Any

from learnkit.core.content import Block, sendable
from learnkit.core.events import LANE
from learnkit.core.interface import AgentLike


def ask(agent: AgentLike) -> tuple[str, list[Block]]:
    """Send an agent's next request.

    Emits ``model.requested``, then ``model.replied`` or ``model.failed``.

    Args:
        agent: whose request it is; the event log takes its name as the lane.

    Returns:
        The ``stop_reason``, and the blocks of the reply as they may be sent back.

    Raises:
        anthropic.APIError: what the API refused, after the SDK's retries.
    """
    agent.emit("model.requested", turn=agent.turns, messages=len(agent.messages))
    began = agent.clock.time()
    lane = LANE.set(agent.name)
    try:
        reply = agent.client.messages.create(**agent.request())
    except Exception as error:
        body = getattr(error, "body", None)
        said = body.get("error") if isinstance(body, dict) else None
        said = said if isinstance(said, dict) else {}  # a proxy may answer anything
        agent.emit(
            "model.failed",
            turn=agent.turns,
            status=getattr(error, "status_code", None),
            error_type=str(said.get("type") or type(error).__name__),
            message=str(said.get("message") or error),
        )
        raise
    finally:
        LANE.reset(lane)
    agent.emit(
        "model.replied",
        turn=agent.turns,
        stop_reason=reply.stop_reason,
        usage=_plain(reply.usage),
        model=reply.model,
        seconds=agent.clock.time() - began,
    )
    return reply.stop_reason or "end_turn", sendable([_plain(block) for block in reply.content])


def _plain(part: Any) -> Block:
    """A part of a reply as a dict of what was sent, without empty fields."""
    fields = part.model_dump(mode="json", exclude_unset=True)
    return {name: value for name, value in fields.items() if value is not None}
