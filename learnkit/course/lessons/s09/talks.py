"""What lesson 9's teammates share while they talk: a tool, and what a cell asks of their arrays."""

from __future__ import annotations

import learnkit as lk


@lk.tool
def look() -> str:
    """Look at the tests."""
    return "two tests"


def received(agent: lk.Agent) -> list[str]:
    """Return every text that an agent got after its first prompt.

    Args:
        agent: whose messages to read.
    """
    users = [one["content"] for one in agent.messages[1:] if one["role"] == "user"]
    blocks = [[{"text": one}] if isinstance(one, str) else one for one in users]
    return [one["text"] for some in blocks for one in some if "text" in one]
