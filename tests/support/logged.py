"""What an agent's log says."""

from __future__ import annotations

from typing import Any

import learnkit as lk


def events(agent: lk.Agent, type: str) -> list[dict[str, Any]]:
    """The details of all events of a type."""
    return [event.data for event in agent.events if event.type == type]


def outputs(agent: lk.Agent) -> list[str]:
    """What the calls have returned, in order."""
    return [ended["output"] for ended in events(agent, "tool.ended")]
