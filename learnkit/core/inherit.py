"""What an agent that works for another one inherits: one rule, for subagents and for teammates.

A child has its parent's client and clock, model, ``max_tokens``, request settings, price table and
event log. Whatever the parent's mechanisms refuse is refused to it, and what it costs counts for
its parent's limit. Everything else is its own: its mechanisms with their hooks, its messages, its
system prompt, its limit of turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from learnkit.core.agent import Agent, Outcome
from learnkit.core.interface import AgentLike, Call
from learnkit.core.mechanism import Mechanism
from learnkit.runtime.clock import Signal


def child_of(
    parent: AgentLike,
    mechanisms: Sequence[Mechanism],
    *,
    name: str,
    system: str,
    stop: Signal,
    max_turns: int,
    model: str | None = None,
) -> Agent:
    """Make an agent that works for another one."""
    child = Agent(
        parent.client,
        [AsTheParent(parent), *mechanisms],
        model=model or parent.model,
        system=system,
        name=name,
        events=parent.events,
        stop=stop,
        max_turns=max_turns,
        max_tokens=parent.max_tokens,
        request=parent.settings,
        prices=parent.prices,
        clock=parent.clock,
    )
    child.over_budget = parent.over_budget
    return child


def last_words(outcome: Outcome, notes: Mapping[str, str]) -> str:
    """What the parent is given: the last text, and a note on how it ended if not by itself."""
    text = outcome.text.strip() or "(no summary)"
    if outcome.reason in notes:
        text += f"\n\n[{notes[outcome.reason].format(turns=outcome.turns)}]"
    return text


class AsTheParent(Mechanism):
    """Refuses a child what its parent's mechanisms refuse."""

    def __init__(self, parent: AgentLike) -> None:
        self._parent = parent

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """What the first of the parent's mechanisms says that refuses the call."""
        said = (one.refuse(agent, call) for one in self._parent.mechanisms)
        return next((reason for reason in said if reason), None)
