"""The night of 14 July: twelve faults, a harness to choose, and a budget of tokens."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from learnkit.clients.connect import scripted
from learnkit.core.token_count import estimate_tokens
from learnkit.course.games.night import alone, crew
from learnkit.course.games.night.fault import PARTS, Fault, Harness, Outcome
from learnkit.harness import full_agent
from learnkit.runtime.shell import LocalShell
from learnkit.runtime.shell_environment import REPRODUCIBLE

FAULTS: tuple[Fault, ...] = alone.FAULTS + crew.FAULTS
#: Estimated tokens that the night may cost. All parts together cost more.
BUDGET = 250_000
#: What a night is forecast from: so many requests, from few to many, for a part that works makes
#: more of them; and the tokens of each besides those of the parts.
REQUESTS, CONVERSATION = (80, 116), 450


@dataclass(frozen=True, slots=True)
class Night:
    """A night that is over.

    Attributes:
        outcomes: of each fault, in order.
    """

    outcomes: tuple[Outcome, ...]

    @property
    def tokens(self) -> int:
        """Estimated tokens of all requests, with what each chosen part adds to each of them."""
        return sum(one.tokens for one in self.outcomes)

    @property
    def survived(self) -> int:
        """How many faults the harness came through."""
        return sum(one.survived for one in self.outcomes)

    @property
    def took(self) -> str:
        """What the night has cost."""
        return f"≈{self.tokens:,} tokens of {BUDGET:,}."

    @property
    def headline(self) -> str:
        """The night in a few words."""
        budget = "but over" if self.tokens > BUDGET else "within"
        return f"{self.survived} of {len(FAULTS)} hours survived, {budget} the budget"


def play(
    parts: Collection[str],
    seen: Callable[[Fault, Outcome], object] = lambda fault, outcome: None,
) -> Night:
    """Play the night with a harness."""
    harness, costs = Harness(frozenset(parts)), standing_costs()
    outcomes: list[Outcome] = []
    for fault in FAULTS:
        with tempfile.TemporaryDirectory(prefix="learnkit-night-") as folder:
            outcome = fault.play(harness, Path(folder))
        idle = sum(costs[part] for part in harness.parts if part not in fault.parts)
        outcomes.append(replace(outcome, tokens=outcome.tokens + outcome.requests * idle))
        seen(fault, outcomes[-1])
    return Night(tuple(outcomes))


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
