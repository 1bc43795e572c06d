"""What a mutant is, and how its run is played: short, scripted, on simulated time.

The rows are in ``mutants.yaml``, and the runs in ``scenes``. The fault exists only while the run is
played; no file changes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anthropic import AnthropicError
from pydantic import ImportString

from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Reply, Script, say
from learnkit.core.agent import Agent
from learnkit.core.events import EventLog
from learnkit.core.mechanism import Mechanism
from learnkit.course.games.mutants.patch import planted
from learnkit.course.lessons import Option
from learnkit.errors import UsageError
from learnkit.mechanisms.teams.lead import Team
from learnkit.runtime.virtual_clock import VirtualClock

#: Lines of code to choose from.
LINES = 12


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault of one line, and the run in which it shows.

    Attributes:
        name: ``m01``, ``m02``, …
        module: the module that it is planted in.
        old: the line as it is, without its indentation.
        new: the line with the fault.
        run: runs agents in an empty folder, and returns their log; one of ``scenes``.
        scene: what the run is about, and what a harness without the fault does in it.
        view: the class in :mod:`learnkit.views` that shows the fault.
        options: letter -> what the fault could be, from ``a``.
        right: the letter of what it is.
    """

    name: str
    module: str
    old: str
    new: str
    run: ImportString[Callable[[Path], EventLog]]
    scene: str
    view: str
    options: Mapping[str, Option]
    right: str

    def __post_init__(self) -> None:
        if list(self.options) != ["a", "b", "c", "d"] or self.right not in self.options:
            raise UsageError(
                f"{self.name}: options {', '.join(self.options)}, right {self.right!r}; "
                "give a to d, and one of them"
            )

    @property
    def number(self) -> int:
        """Its number, from 1."""
        return int(self.name[1:])

    def lines(self) -> tuple[dict[int, str], int]:
        """The code around the fault, without comments and docstrings, and where it is.

        Returns:
            Line number in the module -> line, with the fault planted; and the number of its line.
        """
        source = inspect.getsource(importlib.import_module(self.module))
        code = _code(source)
        at = next(number for number, line in code.items() if line.strip() == self.old.strip())
        numbers = list(code)
        # The fault isn't always in the same place among them.
        before = 1 + 7 * self.number % (LINES - 2)
        first = min(max(numbers.index(at) - before, 0), max(len(numbers) - LINES, 0))
        shown = numbers[first : first + LINES]
        code[at] = code[at].replace(self.old.strip(), self.new.strip())
        cut = textwrap.dedent("\n".join(code[number] for number in shown)).split("\n")
        return dict(zip(shown, cut, strict=True)), at


def _code(source: str) -> dict[int, str]:
    """Number -> line of a module's lines that aren't blank, a comment or in a docstring."""
    lines = dict(enumerate(source.split("\n"), start=1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines.pop(number, None)
    return {n: one for n, one in lines.items() if one.strip() and not one.strip().startswith("#")}


def play(mutant: Mutant) -> EventLog:
    """Play a mutant's run with its fault planted.

    Args:
        mutant: which one.

    Returns:
        The log of the run.

    Raises:
        UsageError: if another fault is planted, or the line has changed since Python started.
    """
    with planted(mutant.module, mutant.old, mutant.new):
        return healthy(mutant)


def healthy(mutant: Mutant) -> EventLog:
    """Play the same run with the harness as it is, in a folder that is removed again.

    Args:
        mutant: the one whose run is played.

    Returns:
        The log of the run.
    """
    with tempfile.TemporaryDirectory(prefix=f"learnkit-{mutant.name}-") as folder:
        return mutant.run(Path(folder))


def alone(script: Script, mechanisms: Sequence[Mechanism], *prompts: str, **more: Any) -> EventLog:
    """Run one agent on simulated time; a request that the API refuses ends the run.

    Args:
        script: the model's replies, as for :func:`learnkit.scripted`.
        mechanisms: what the agent has.
        prompts: one run each; by default a single short one.
        more: options of the agent.

    Returns:
        The log; a refused request is in it as ``model.failed``.
    """
    log = EventLog()
    with VirtualClock() as clock, scripted(script, clock) as client:
        agent = Agent(client, mechanisms, events=log, **more)
        _run(agent, prompts or ("Go.",))
    return log


def together(
    team: Team, script: Script, mechanisms: Sequence[Mechanism] = (), seconds: float = 0.0
) -> EventLog:
    """Run a lead with its team; after the lead has ended, the others may continue for a while.

    Args:
        team: a new one, without a lead.
        script: the replies, by lane.
        mechanisms: what the lead has besides the team.
        seconds: virtual seconds that the others have after the lead's end.

    Returns:
        The log of the whole team.
    """
    log = EventLog()
    with VirtualClock() as clock, scripted(script, clock) as client, suppress(Killed), team:
        _run(Agent(client, [team, *mechanisms], events=log), ("Go.",))
        clock.sleep(seconds)
    return log


class Killed(RuntimeError):
    """Ends an agent in the middle of its work, as a crash would."""


def when(*steps: tuple[str, Reply]) -> Callable[[Any], Reply]:
    """Return a model that reacts: it gives each reply once, when its text is in the last message.

    Args:
        steps: text and reply; of several that fit, the first is used. If none fits, the model
            ends its turn.
    """
    left = list(steps)

    def answer(request: Any) -> Reply:
        said = str(request["messages"][-1]["content"])
        for step in left:
            if step[0] in said:
                left.remove(step)
                return step[1]
        return say("Nothing more to do.")

    return answer


def _run(agent: Agent, prompts: Sequence[str]) -> None:
    with suppress(AnthropicError):  # the log has it as model.failed
        for prompt in prompts:
            agent.run(prompt)
