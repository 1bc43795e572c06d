"""Lesson 10's trials: a rule in a prompt, compared with the same rule in code.

The model is mechanical: at each turn it follows the rule with a probability that we chose. This
says nothing about how often a real model breaks a rule. It shows what any such rate adds up to over
many turns.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from learnkit.clients.scripted import Reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import tool
from learnkit.simulation.direct_client import Direct


@dataclass(frozen=True, slots=True)
class Waited:
    """The result of one run.

    Attributes:
        early_writes: how many files were written before the plan was approved.
        wrote_early: whether there was at least one.
        turns: how many requests the model answered.
    """

    early_writes: int
    wrote_early: bool
    turns: int


Gates = Callable[[Callable[[], bool]], Sequence[Mechanism]]


def waits(
    gates: Gates, seeds: Iterable[int], *, obeys: float = 0.95, turns: int = 10
) -> list[Waited]:
    """Let a mechanical model wait for the answer to its plan."""
    return [_waited(gates, random.Random(seed), obeys, turns) for seed in seeds]


def _waited(gates: Gates, chance: random.Random, obeys: float, turns: int) -> Waited:
    written: list[bool] = []
    asked = 0

    def approved() -> bool:
        return asked > turns

    @tool(read_only=True)
    def look() -> str:
        """Read something."""
        return "nothing new"

    @tool
    def write() -> str:
        """Write a file."""
        written.append(approved())
        return "written"

    def policy(request: Any) -> Reply:
        nonlocal asked
        asked += 1
        if asked > turns + 1:
            return say("It is written.")
        return use("look") if not approved() and chance.random() < obeys else use("write")

    client: Any = Direct(policy)
    agent = Agent(client, [Toolbox(look, write), *gates(approved)], max_turns=turns + 5)
    agent.run("Write the file. Change nothing before your plan is approved.")
    early = written.count(False)
    return Waited(early, early > 0, agent.turns)
