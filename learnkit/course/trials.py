"""Trials: one task, many seeds, a mechanism off and on.

The model is ``Forgetful``, a mechanical model of attention and not an LLM. Its tools only count
their calls. These trials show what follows from contexts of a certain length. They say nothing
about how often a real model fails.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from learnkit.clients.scripted import use
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import Tool, tool
from learnkit.runtime.workspace import Workspace
from learnkit.simulation.forgetful import Forgetful, Step

#: The five steps of lesson 3's feature.
FEATURE = ("parse", "alerts", "command", "manual", "tests")
#: Lesson 4's stations, and lesson 6's days.
STATIONS = tuple(f"station_{letter}" for letter in "abcdefgh")
DAYS = tuple(f"day_{number:02}" for number in range(1, 17))


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one run.

    Attributes:
        completed: whether nothing was forgotten or mixed up.
        forgotten: how many steps were never done, or have no finding in the last text.
        repeated: how many times a step was done again.
        mixed_up: how many findings were reported for the wrong step.
        turns: how many requests were sent, including those of subagents.
        tokens: estimated tokens of all requests together.
        longest: estimated tokens of the longest request.
    """

    completed: bool
    forgotten: int
    repeated: int
    mixed_up: int
    turns: int
    tokens: int
    longest: int


Both = tuple[list[Trial], list[Trial]]
Mechanisms = Callable[[Toolbox], Sequence[Mechanism]]
Make = Callable[..., Mechanism]
Name = Literal["drift", "pollution", "overflow"]


def drift(seeds: Iterable[int], *, output: int = 1_500, window: int = 2_000) -> Both:
    """Lesson 3: a feature of five steps, without and with a todo list."""
    world, prompts, having = _drifting(output, window)
    return _both(seeds, world, prompts, having(_todo()))


def _drifting(output: int = 1_500, window: int = 2_000) -> _Setting:
    world = _World(dict.fromkeys(FEATURE, ""), output, window)
    prompts = ["Build the feature:\n" + _bullets(FEATURE)]
    return world, prompts, lambda make: lambda tools: [tools, make()]


def _todo() -> Make:
    from learnkit.mechanisms.todo import Todo

    return Todo


def pollution(seeds: Iterable[int], *, output: int = 1_200, window: int = 2_700) -> Both:
    """Lesson 4: which value marks a missing reading at each of eight stations?"""
    from learnkit.mechanisms.subagents import Subagents

    world, prompts, having = _polluting(output, window)
    return _both(seeds, world, prompts, having(Subagents))


def _polluting(output: int = 1_200, window: int = 2_700) -> _Setting:
    world = _World({name: f"-{i}99" for i, name in enumerate(STATIONS, 1)}, output, window)
    prompts = ["Which value marks a missing reading?\n" + _bullets(STATIONS)]
    return world, prompts, lambda make: lambda tools: [tools, make(lambda: [world.toolbox()])]


def overflow(seeds: Iterable[int], *, output: int = 1_200, window: int = 2_700) -> Both:
    """Lesson 6: the highest value of each of many days, in a unit that was agreed on before."""
    from learnkit.mechanisms.compaction.mechanism import Compaction

    world, prompts, having = _overflowing(output, window)
    return _both(seeds, world, prompts, having(Compaction))


def _overflowing(output: int = 1_200, window: int = 2_700) -> _Setting:
    days = {name: f"{20 + i}" for i, name in enumerate(DAYS)}
    world = _World(days, output, window, {"unit": "celsius"})
    prompts = ["We have decided: the unit is celsius.", "How hot was it?\n" + _bullets(DAYS)]

    def having(make: Make) -> Mechanisms:
        def mechanisms(tools: Toolbox) -> list[Mechanism]:
            folder = tempfile.TemporaryDirectory(prefix="learnkit-")
            world.folders.append(folder)
            place = _NamedFolder(folder.name)
            return [tools, place, make(window // 2, len(DAYS), folder.name)]  # summaries only

        return mechanisms

    return world, prompts, having


def single(name: Name, seed: int, mechanism: Callable[..., Mechanism] | None) -> Trial:
    """Run one of the trials once."""
    world, prompts, having = _TRIALS[name]()
    if mechanism is None:
        return world.run(seed, prompts, lambda tools: [tools])
    return world.run(seed, prompts, having(mechanism))


class _NamedFolder(Mechanism):
    """Gives a folder the workspace's name in what the model reads.

    Where a machine keeps its temporary files must not count as tokens.
    """

    def __init__(self, folder: str) -> None:
        self.workspace = Workspace(folder)


class _World:
    """What the trials' tools answer, and what a run is measured by."""

    def __init__(
        self, findings: dict[str, str], output: int, window: int, said: dict[str, str] | None = None
    ) -> None:
        self.findings, self._lines, self._window = findings, output // 180, window
        self._said = said or {}
        self._made: Counter[str] = Counter()
        self.folders: list[Any] = []
        self._tool = self._work()  # one for all: making a schema takes longer than a turn

    def run(self, seed: int, prompts: Sequence[str], mechanisms: Mechanisms) -> Trial:
        agent, text = self.started(seed, prompts, mechanisms)
        while self.folders:
            self.folders.pop().cleanup()
        return self._judge(text, [e.data["usage"] for e in agent.events if e.type == _REPLIED])

    def started(
        self, seed: int, prompts: Sequence[str], mechanisms: Mechanisms
    ) -> tuple[Agent, str]:
        """An agent that was asked the prompts, and its last text."""
        from learnkit.simulation.direct_client import Direct

        self._made.clear()
        plan = [Step(name, None, rf"{name} is (\w+)") for name in self._said]
        plan += [Step(name, use("work", step=name), r"FOUND (\S+)") for name in self.findings]
        client: Any = Direct(Forgetful(plan, window=self._window, seed=seed))
        agent = Agent(client, mechanisms(self.toolbox()), max_turns=4 * len(plan))
        text = ""
        for prompt in prompts:
            text = agent.run(prompt).text
        return agent, text

    def toolbox(self) -> Toolbox:
        """A new toolbox with the tool that does the steps; each agent needs its own."""
        return Toolbox(self._tool)

    def _work(self) -> Tool:
        @tool
        def work(step: str) -> str:
            """Do a step, and see what it prints."""
            self._made[step] += 1
            lines = [f"{i:4} {'what one sees on the way ' * 7}" for i in range(self._lines)]
            if found := self.findings[step]:
                lines.insert(len(lines) // 2, f"FOUND {found}")
            return "\n".join(lines)

        return work

    def _judge(self, text: str, usages: Sequence[dict[str, int]]) -> Trial:
        said = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
        right = {name: found for name, found in self.findings.items() if found} | self._said
        left = sum(name not in said for name in right) or len(self.findings) - len(self._made)
        mixed = sum(said[name] != right[name] for name in right if name in said)
        sent = [usage["input_tokens"] for usage in usages]
        repeated = self._made.total() - len(self._made)
        done = left == mixed == 0
        return Trial(done, left, repeated, mixed, len(sent), sum(sent), max(sent))


def rate(trials: Sequence[Trial]) -> str:
    """Return in words how many trials were completed, and how many requests each one took."""
    turns = sum(one.turns for one in trials) / len(trials)
    done = sum(one.completed for one in trials)
    return f"{done} of {len(trials)} runs right, in {turns:.0f} requests"


def _both(
    seeds: Iterable[int], world: _World, prompts: Sequence[str], mechanisms: Mechanisms
) -> Both:
    seeds = list(seeds)
    off = [world.run(seed, prompts, lambda tools: [tools]) for seed in seeds]
    return off, [world.run(seed, prompts, mechanisms) for seed in seeds]


def _bullets(names: Iterable[str]) -> str:
    return "\n".join(f"- {name}" for name in names)


_REPLIED = "model.replied"


#: The world of a trial, its prompts, and what a run gets with the mechanism.
_Setting = tuple[_World, list[str], Callable[[Make], Mechanisms]]
_TRIALS: dict[Name, Callable[[], _Setting]] = {
    "drift": _drifting,
    "pollution": _polluting,
    "overflow": _overflowing,
}
