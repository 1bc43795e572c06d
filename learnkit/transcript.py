"""Transcripts: messages as text, for whoever reads a conversation without taking part in it.

A subagent that inherits background, and the model that writes a summary, read one. Thinking is
left out, since it belongs to the conversation that it was thought in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learnkit.agent import Agent


def as_text(messages: Sequence[dict[str, Any]]) -> str:
    """Messages as lines ``role: text``: what was said, called and answered, in order.

    Args:
        messages: as in ``agent.messages``.
    """
    return "\n".join(f"{one['role']}: {text}" for one in messages for text in texts(one["content"]))


def texts(content: str | Sequence[dict[str, Any]]) -> Iterator[str]:
    """The readable parts of a message's content, in order."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_use":
            yield f"{block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
        elif block["type"] == "tool_result":
            yield from texts(block.get("content", ""))
        elif block["type"] not in ("thinking", "redacted_thinking"):
            yield f"[{block['type']}]"


def request_of(agent: Agent) -> str:
    """What the agent was last asked to do, by ``run``; empty if nobody has.

    The event log knows it, also when compaction has taken it out of the messages.
    """
    for place in range(len(agent.events) - 1, -1, -1):
        event = agent.events[place]
        if event.type == "run.started" and event.lane == agent.name and event.data["prompt"]:
            return "\n".join(texts(event.data["prompt"]))
    return ""
