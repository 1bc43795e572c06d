"""A request beside the conversation: a mechanism asks the model for a summary, or a verdict."""

from __future__ import annotations

from learnkit.core.content import repaired, spoken
from learnkit.core.interface import AgentLike
from learnkit.core.request import TRANSPORT, log_reply, sent_until_answered
from learnkit.events.log import LANE, PURPOSE
from learnkit.events.loop import ModelRequested


def ask_aside(agent: AgentLike, prompt: str, limit: int, purpose: str) -> tuple[str | None, str]:
    """Send one prompt without tools or system prompt; returns the reply's stop_reason and text.

    It is logged like the others, with its purpose. ``limit`` is the longest reply, in tokens.
    """
    agent.emit(ModelRequested(turn=agent.turns, messages=1, purpose=purpose))
    began = agent.clock.time()
    lane, why = LANE.set(agent.name), PURPOSE.set(purpose)
    body = {
        "model": agent.model,
        "max_tokens": limit,
        "messages": [{"role": "user", "content": prompt}],
    }
    body |= {key: agent.settings[key] for key in TRANSPORT if key in agent.settings}
    try:
        reply = sent_until_answered(agent, body)
    finally:
        LANE.reset(lane)
        PURPOSE.reset(why)
    log_reply(agent, reply, began, purpose)
    blocks, _ = repaired(reply["content"], set(), agent.clock.new_id)
    return reply["stop_reason"], spoken(blocks).strip()
