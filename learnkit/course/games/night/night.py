"""The night of 14 July: twelve faults, a harness to choose, and a budget of tokens."""

from __future__ import annotations

import functools
import inspect
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from learnkit.clients.connect import scripted
from learnkit.core.mechanism import Mechanism
from learnkit.core.token_count import estimate_tokens
from learnkit.course.games.night import alone, crew
from learnkit.course.games.night.fault import NEEDS, PARTS, Fault, Harness, Outcome
from learnkit.events.text import count
from learnkit.harness import full_agent
from learnkit.runtime.shell import LocalShell
from learnkit.runtime.shell_environment import REPRODUCIBLE

FAULTS: tuple[Fault, ...] = alone.FAULTS + crew.FAULTS
#: Estimated tokens that the night may cost. All parts together cost more.
BUDGET = 250_000


@dataclass(frozen=True, slots=True)
class Night:
    """A night that is over.

    Attributes:
        harness: what the learner chose.
        outcomes: of each fault, in order.
        tokens: estimated tokens of all requests, with what each chosen part adds to each of them.
        lines: lines of code of the chosen parts.
    """

    harness: Harness
    outcomes: tuple[Outcome, ...]
    tokens: int
    lines: int

    @property
    def survived(self) -> int:
        """How many faults the harness came through."""
        return sum(one.survived for one in self.outcomes)

    @property
    def unused(self) -> str:
        """What the rest of the budget would have paid for, as a sentence; empty for nothing.

        A part is reckoned at what it adds to each request, for as many requests as there were.
        """
        left, requests = BUDGET - self.tokens, sum(one.requests for one in self.outcomes)
        possible = [
            part
            for part, cost in standing_costs().items()
            if not self.harness.has(part) and self.harness.has(*NEEDS.get(part, ()))
            if requests * cost <= left
        ]
        if not possible:
            return ""
        return (
            f"With as many requests, the {left:,} tokens left over would have paid for one more "
            f"of these: {', '.join(possible)}."
        )

    @property
    def finding(self) -> str:
        """The night in a sentence."""
        over = self.tokens - BUDGET
        cost = f"{over:,} over" if over > 0 else f"{-over:,} under"
        parts = count(len(self.harness.parts), "part")
        return (
            f"{self.survived} of {len(FAULTS)} faults survived with {parts}, "
            f"≈{self.tokens:,} tokens ({cost} the budget) and {self.lines:,} lines of code."
        )


def play(
    parts: Collection[str],
    own: Mapping[str, Callable[..., Mechanism]] | None = None,
    seen: Callable[[Fault, Outcome], object] = lambda fault, outcome: None,
) -> Night:
    """Play the night with a harness."""
    harness = Harness(frozenset(parts), dict(own or {}))
    outcomes = []
    for fault in FAULTS:
        with tempfile.TemporaryDirectory(prefix="learnkit-night-") as folder:
            outcomes.append(fault.play(harness, Path(folder)))
        seen(fault, outcomes[-1])
    costs = standing_costs()
    idle = sum(
        one.requests * sum(costs[part] for part in harness.parts if part not in fault.parts)
        for fault, one in zip(FAULTS, outcomes, strict=True)
    )
    tokens = idle + sum(one.tokens for one in outcomes)
    return Night(harness, tuple(outcomes), tokens, lines_of(harness))


@functools.cache
def standing_costs() -> Mapping[str, int]:
    """Return what each part adds to every request, in estimated tokens: prompt and tools."""
    with tempfile.TemporaryDirectory(prefix="learnkit-night-") as folder:
        LocalShell(REPRODUCIBLE).run("git init -q", Path(folder))
        alone.house_skill(Path(folder) / "skills")
        with scripted([]) as client, full_agent(client, folder) as agent:
            agent.start("(your prompt)")
            names = {kind: name for name, kind in PARTS.items()}
            costs = dict.fromkeys(PARTS, 0)
            for one in agent.mechanisms:
                said = one.system(agent) or ""
                specs = [tool.spec() for tool in one.tools if tool.name != "bash"]
                costs[names[type(one)]] = sum(map(estimate_tokens, [said, *specs]))
    return costs


def lines_of(harness: Harness) -> int:
    """Return the lines of code of a harness's parts, with docstrings, without blank lines."""
    total = 0
    for part in harness.parts:
        made = harness.own.get(part, PARTS[part])
        try:
            source = inspect.getsource(made)
        except (OSError, TypeError):  # of a class that no file or cell defines
            continue
        total += sum(bool(line.strip()) for line in source.splitlines())
    return total
