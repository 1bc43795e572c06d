"""What a mutant is, and the stage that it plays on: a short scripted run on simulated time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anthropic import AnthropicError

from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Reply, Script, say
from learnkit.core.agent import Agent
from learnkit.core.events import EventLog
from learnkit.core.mechanism import Mechanism
from learnkit.course.lessons import Option
from learnkit.errors import UsageError
from learnkit.mechanisms.teams.lead import Team
from learnkit.runtime.virtual_clock import VirtualClock


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault of one line, and the run in which it shows.

    Attributes:
        name: ``m01``, ``m02``, …
        module: the module that it is planted in.
        old: the line as it is, without its indentation.
        new: the line with the fault.
        act: plays the run in an empty folder, and returns its log.
        view: the class in :mod:`learnkit.views` that shows the fault.
        options: letter -> what the fault could be, from ``a``.
        right: the letter of what it is.
    """

    name: str
    module: str
    old: str
    new: str
    act: Callable[[Path], EventLog]
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
    def scene(self) -> str:
        """What the run is about, and what a harness without the fault does in it."""
        return " ".join((self.act.__doc__ or "").split())


def alone(script: Script, mechanisms: Sequence[Mechanism], *prompts: str, **more: Any) -> EventLog:
    """Run one agent on simulated time; what the API refuses ends it, and stands in the log.

    Args:
        script: what the model says, as for :func:`learnkit.scripted`.
        mechanisms: what the agent has.
        prompts: one run each; by default a short one.
        more: for the agent.
    """
    log = EventLog()
    with VirtualClock() as clock, scripted(script, clock) as client:
        agent = Agent(client, mechanisms, events=log, **more)
        _run(agent, prompts or ("Go.",))
    return log


def together(
    team: Team, script: Script, mechanisms: Sequence[Mechanism] = (), seconds: float = 0.0
) -> EventLog:
    """Run a lead with its team; when the lead has ended, the others may go on for a while.

    Args:
        team: new, and without a lead.
        script: by lane.
        mechanisms: what the lead has besides.
        seconds: that are left to the others.
    """
    log = EventLog()
    with VirtualClock() as clock, scripted(script, clock) as client, suppress(Killed), team:
        _run(Agent(client, [team, *mechanisms], events=log), ("Go.",))
        clock.sleep(seconds)
    return log


class Killed(RuntimeError):
    """Ends an agent in the middle of its life, as a crash would."""


def when(*steps: tuple[str, Reply]) -> Callable[[Any], Reply]:
    """A model that reacts: each step is taken once, when its text stands in the last message.

    Args:
        steps: text and reply; of several that fit the first is taken. When none does, it stops.
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


def choice(a: tuple[str, str], b: tuple[str, str], c: tuple[str, str], d: tuple[str, str]) -> Any:
    """Four options from their texts and reasons."""
    return {letter: Option(*one) for letter, one in zip("abcd", (a, b, c, d), strict=True)}


def _run(agent: Agent, prompts: Sequence[str]) -> None:
    with suppress(AnthropicError):  # the log has it as model.failed
        for prompt in prompts:
            agent.run(prompt)
