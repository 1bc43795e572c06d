"""Lesson 4's three tasks: the learner chooses how each is done, and it is done that way.

A program plays the model. However an agent of it was started, it does its part of the work in the
same way: it reads the same files, and writes what it knows. So the choice decides only who has read
what, and when; what comes of it is read from the disk, the requests and the clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.core.usage import sent
from learnkit.course.lab import Lab
from learnkit.course.lessons.s04.five_files import FILES, write_files
from learnkit.course.lessons.s04.messages import results_of
from learnkit.course.lessons.s04.station_parsers import way as treated
from learnkit.course.lessons.s04.station_parsers import write_parsers
from learnkit.errors import UsageError
from learnkit.events.text import content_text

#: How a task can be done.
WAYS = ("alone", "series", "parallel")
#: Tokens that the longest request of the parent may have.
ROOM = 3_000
_PARSERS = tuple(f"parsers/station_{number:02}.py" for number in range(1, 21))
_RULES = "docs/rules.md"
_NEW = ("- No test reads stations/.", "- A missing reading is -9999.")
_LISTED = "docs/todo.md"
_GAPS = [
    f"station_{number:02}"
    for number in range(1, len(_PARSERS) + 1)
    if treated(number) in ("not handled", "said, not done")
]
#: How a parser looks that handles a missing reading.
_HANDLES = re.compile(r"^ +continue$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a task, as an agent does it.

    Attributes:
        prompt: what a child is asked.
        reads: the files that it reads first, all in one reply.
        reports: its last text, from the texts that it was told and has read.
        writes: the path and the new text of a file, from the same texts; None if it writes nothing.
    """

    prompt: str
    reads: tuple[str, ...]
    reports: Callable[[Sequence[str]], str]
    writes: Callable[[Sequence[str]], tuple[str, str]] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """Some work in several parts.

    Attributes:
        asked: what the user asks for.
        parts: in the order in which one agent does them.
        wrong: what is wrong, from the workspace and the answer; empty if nothing is.
    """

    asked: str
    parts: tuple[Part, ...]
    wrong: Callable[[Path, str], str]


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a task.

    Attributes:
        wrong: what is wrong on the disk or in the answer; empty if nothing is.
        longest: tokens of the parent's longest request.
        seconds: on the virtual clock.
    """

    wrong: str
    longest: int
    seconds: float

    @property
    def counts(self) -> bool:
        """Whether the result is right, and the parent had room for the work."""
        return not self.wrong and self.longest <= ROOM

    def __str__(self) -> str:
        result = f"✗ {self.wrong}" if self.wrong else "✓ right"
        over = f" (✗ over {ROOM:,})" if self.longest > ROOM else ""
        return f"{result}; parent ≈{self.longest:,} tokens{over}; {self.seconds:g} s"


def _limit(texts: Sequence[str]) -> str:
    (found,) = re.findall(r"at most (\d+) requests", texts[-1])
    return str(found)


def _limits_wrong(_: Path, answer: str) -> str:
    found = re.findall(r"\d+", answer)
    right = sum(str(limit) == one for (_, limit, _), one in zip(FILES.values(), found, strict=True))
    return "" if right == len(FILES) else f"{right} of {len(FILES)} limits are right"


def _rule(line: str) -> Part:
    return Part(
        f"Read {_RULES} and add the rule '{line[2:]}' at its end.",
        (_RULES,),
        lambda _: f"The rule '{line[2:]}' is in {_RULES}.",
        lambda texts: (_RULES, f"{texts[-1].rstrip()}\n{line}\n"),
    )


def _rules_wrong(workspace: Path, _: str) -> str:
    text = (workspace / _RULES).read_text("utf-8")
    there = sum(line in text for line in _NEW)
    return "" if there == len(_NEW) else f"{there} of {len(_NEW)} new rules are in {_RULES}"


def _unhandled(texts: Sequence[str]) -> str:
    sources = [text for text in texts if "def parse(" in text]
    found = [f"station_{n:02}" for n, text in enumerate(sources, 1) if not _HANDLES.search(text)]
    return f"Not handled: {', '.join(found)}."


def _todo(texts: Sequence[str]) -> tuple[str, str]:
    """What an agent can write about parsers that it has read, or was told about."""
    known = [_unhandled(texts)] if any("def parse(" in text for text in texts) else texts
    names = dict.fromkeys(re.findall(r"station_\d\d(?!\.py)", "\n".join(known)))
    return _LISTED, "# Missing readings\n\n" + "".join(f"- {name}\n" for name in names)


def _todo_wrong(workspace: Path, _: str) -> str:
    text = (workspace / _LISTED).read_text("utf-8")
    there = sum(name in text for name in _GAPS)
    return "" if there == len(_GAPS) else f"{there} of {len(_GAPS)} parsers are in {_LISTED}"


TASKS = {
    "limits": Task(
        "Which limit does the docstring of each file in app/ name?",
        tuple(
            Part(f"Which limit does the docstring of app/{name}.py name?", (path,), _limit)
            for name in FILES
            for path in [f"app/{name}.py"]
        ),
        _limits_wrong,
    ),
    "rules": Task(f"Add two rules to {_RULES}.", tuple(map(_rule, _NEW)), _rules_wrong),
    "gaps": Task(
        f"Find the parsers that don't handle missing readings, and list them in {_LISTED}.",
        (
            Part("Which files in parsers/ don't handle missing readings?", _PARSERS, _unhandled),
            Part(
                f"Write {_LISTED}: a list of the parsers that don't handle missing readings.",
                (),
                lambda _: f"{_LISTED} is written.",
                _todo,
            ),
        ),
        _todo_wrong,
    ),
}


def carried_out(lab: Lab, name: str, way: str) -> Done:
    """Have a task done by real agents, in a fresh workspace."""
    if name not in TASKS:
        raise UsageError(f"there is no task {name!r}; the tasks are {', '.join(TASKS)}")
    if way not in WAYS:
        raise UsageError(f"the way of {name!r} is {way!r}; give one of {', '.join(WAYS)}")
    task = TASKS[name]
    with lab.scenario(f"{name} {way}", script=_model(task, way)) as run:
        write_files(run.workspace)
        write_parsers(run.workspace, len(_PARSERS))
        (run.workspace / "docs").mkdir(exist_ok=True)
        (run.workspace / _RULES).write_text("# Rules\n\n- Each reading has a unit.\n", "utf-8")
        tools = lk.CodingTools(run.workspace)
        subagents = lk.Subagents(lambda: [lk.CodingTools(run.workspace)])
        answer = run.agent([tools, subagents]).run(task.asked).text
        replied = [e for e in run.events if e.type == "model.replied" and e.lane == "lead"]
        longest = max(sent(event.data["usage"]) for event in replied)
        return Done(task.wrong(run.workspace, answer), longest, run.clock.time())


def carry_out(lab: Lab, plan: Mapping[str, str]) -> None:
    """Have every task done as a plan says, and print what came of each."""
    if missing := [name for name in TASKS if name not in plan]:
        raise UsageError(f"the plan says nothing about {', '.join(missing)}; give a way for each")
    done = {name: carried_out(lab, name, way) for name, way in plan.items()}
    for name, way in plan.items():
        print(f"{name:7} {way:9} {done[name]}")
    won, seconds = sum(one.counts for one in done.values()), sum(o.seconds for o in done.values())
    if won < len(TASKS):
        print(f"{won} of {len(TASKS)} tasks count: right, and no request of the parent too long.")
    elif seconds > (best := sum(min(_times(lab, name)) for name in TASKS)):
        print(f"All count, in {seconds:g} s. Another plan takes {best:g} s.")
    else:
        print(f"All count, in {seconds:g} s. No plan is faster.")


def _times(lab: Lab, name: str) -> Iterator[float]:
    """The seconds of each way that counts."""
    for way in WAYS:
        if (done := carried_out(lab, name, way)).counts:
            yield done.seconds


def _model(task: Task, way: str) -> Callable[[dict[str, Any]], lk.Reply]:
    """A function of the request, for parent and children: it knows only what the request has."""

    def answer(request: dict[str, Any]) -> lk.Reply:
        messages = request["messages"]
        told = content_text(messages[0]["content"])
        if told != task.asked:
            return _worked([one for one in task.parts if told.startswith(one.prompt)], messages)
        if way == "alone":
            return _worked(task.parts, messages)
        return _delegated(task.parts, messages, in_turn=way == "series")

    return answer


def _worked(parts: Sequence[Part], messages: Sequence[Any]) -> lk.Reply:
    """The next reply of an agent that does the work itself."""
    given, turn = len(messages) // 2, 0  # of its replies: how many, and which
    texts, reports = [content_text(messages[0]["content"])], list[str]()
    for part in parts:
        if part.reads:
            if turn == given:
                return lk.reply(*[lk.use("read_file", path=path) for path in part.reads])
            texts += results_of(messages[2 * turn + 2 : 2 * turn + 3])
            turn += 1
        if part.writes:
            if turn == given:
                path, content = part.writes(texts)
                return lk.use("write_file", path=path, content=content)
            turn += 1
        reports.append(part.reports(texts))
    return lk.say("\n".join(reports))


def _delegated(parts: Sequence[Part], messages: Sequence[Any], *, in_turn: bool) -> lk.Reply:
    """The next reply of a parent: in series, each prompt has the reports before it."""
    reports = results_of(messages)
    if len(reports) == len(parts):
        return lk.say("\n".join(reports))
    if not in_turn:
        return lk.reply(*[_ask(part.prompt) for part in parts])
    known = "".join(f"\nWhat is known: {report}" for report in reports)
    return _ask(parts[len(reports)].prompt + known)


def _ask(prompt: str) -> lk.Reply:
    return lk.use("task", prompt=prompt, description="a part of the work")
