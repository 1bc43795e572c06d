"""What a fault is, and what a harness brings to it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.clients.connect import scripted
from learnkit.clients.scripted import Reply
from learnkit.core.agent import Agent
from learnkit.core.mechanism import Mechanism
from learnkit.core.toolbox import Toolbox
from learnkit.core.usage import Meter
from learnkit.events.log import EventLog
from learnkit.mechanisms.autonomy import Autonomy
from learnkit.mechanisms.background import Background
from learnkit.mechanisms.coding import CodingTools
from learnkit.mechanisms.compaction.mechanism import Compaction
from learnkit.mechanisms.protocols import Protocols
from learnkit.mechanisms.skills.mechanism import Skills
from learnkit.mechanisms.subagents import Subagents
from learnkit.mechanisms.tasks import Tasks
from learnkit.mechanisms.teams.lead import Team
from learnkit.mechanisms.todo import Todo
from learnkit.mechanisms.worktrees.mechanism import Worktrees
from learnkit.runtime.virtual_clock import VirtualClock

#: What can be chosen, in the order of the lessons, and the class of each. The loop and bash are
#: always there.
PARTS: dict[str, type[Mechanism]] = {
    "tools": CodingTools,
    "todo": Todo,
    "subagents": Subagents,
    "skills": Skills,
    "compaction": Compaction,
    "tasks": Tasks,
    "background": Background,
    "team": Team,
    "protocols": Protocols,
    "autonomy": Autonomy,
    "worktrees": Worktrees,
}
#: What a part cannot work without; the page chooses that as well.
NEEDS = {"protocols": ("team",), "autonomy": ("team", "tasks")}


@dataclass(frozen=True, slots=True)
class Harness:
    """The mechanisms that a learner has chosen."""

    parts: frozenset[str]

    def has(self, *parts: str) -> bool:
        """Return whether all of these parts were chosen."""
        return self.parts.issuperset(parts)

    def chosen(self, part: str, *args: Any, **options: Any) -> list[Mechanism]:
        """Return a new mechanism, if it was chosen."""
        return [PARTS[part](*args, **options)] if self.has(part) else []

    def hands(self, folder: Path) -> list[Mechanism]:
        """Return what works on files: the typed tools if they were chosen, else bash alone."""
        return self.chosen("tools", folder) or [Toolbox(CodingTools(folder).bash)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a harness came through a fault.

    Attributes:
        survived: whether the work was done and nothing was lost, read from what is left.
        why: a sentence about what was found.
        requests: how many requests were sent.
        tokens: estimated tokens of all requests together.
    """

    survived: bool
    why: str
    requests: int
    tokens: int


Play = Callable[[Harness, Path], Outcome]


@dataclass(frozen=True, slots=True)
class Fault:
    """One hour of the night.

    Attributes:
        hour: such as ``22:00``.
        lesson: the lesson whose mechanism was made for it.
        title: what happens, in a few words.
        story: what happens, in a sentence or two.
        play: runs it in an empty folder.
        parts: those that its agents have, if they were chosen; others would only add their tools.
    """

    hour: str
    lesson: str
    title: str
    story: str
    play: Play
    parts: tuple[str, ...] = ()


def fault(hour: str, lesson: str, title: str, *parts: str) -> Callable[[Play], Fault]:
    """Make a function a fault, whose story is its docstring."""
    return lambda play: Fault(hour, lesson, title, play.__doc__ or "", play, parts)


Model = Callable[[Any], Reply]


class Killed(RuntimeError):
    """Ends an agent in the middle of its work, as a crash would."""


def run(
    model: Model, mechanisms: list[Mechanism], *prompts: str, log: EventLog | None = None
) -> EventLog:
    """Run one agent on a virtual clock, until it is killed, and return its log."""
    log = EventLog() if log is None else log
    with (
        VirtualClock() as clock,
        scripted(model, clock) as client,
        suppress(Killed),
        Agent(client, mechanisms, events=log) as agent,
    ):
        for prompt in prompts:
            with suppress(KeyboardInterrupt):  # you press Ctrl-C, and go on
                agent.run(prompt)
    return log


class Kill(Mechanism):
    """Ends its agent before a request, as ``kill -9`` would end its process.

    Args:
        turn: the number of that request, or a text that is in its last message.
    """

    def __init__(self, turn: int | str) -> None:
        self._turn = turn

    def before_model(self, agent: Any) -> None:
        last = str(agent.messages[-1]["content"])
        if agent.turns + 1 == self._turn or (isinstance(self._turn, str) and self._turn in last):
            raise Killed(f"{agent.name} is killed")


def judged(log: EventLog, survived: bool, good: str, bad: str) -> Outcome:
    """Return the outcome of a log."""
    meter = Meter.of(log)
    return Outcome(survived, good if survived else bad, meter.turns, meter.input_tokens)


def offered(request: Any) -> set[str]:
    """Return the names of the tools that a request offers."""
    return {tool["name"] for tool in request.get("tools") or ()}


def last(request: Any) -> str:
    """Return the last message of a request as text."""
    content = request["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(str(one.get("text") or one.get("content") or "") for one in content)
