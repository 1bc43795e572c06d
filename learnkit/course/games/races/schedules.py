"""Schedules: the order in which several writers and one reader take their steps on one inbox.

A run is a list of who moves next. It can be replayed, and reduced until it has only the steps
without which no message is lost. The inbox calls ``pause`` in the middle of reading: there the
writers move, up to the reader's next step.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError
from learnkit.events.log import EventLog
from learnkit.events.races import (
    RaceDrained,
    RaceEmptied,
    RaceEnded,
    RaceFinished,
    RaceLost,
    RacePaused,
    RaceRead,
    RaceStarted,
    RaceStep,
    RaceWrote,
)
from learnkit.events.text import listed
from learnkit.runtime.clock import SystemClock

Make = Callable[[Path, Callable[[], None]], Any]  # from a folder and a pause to an inbox

READER, WRITERS = "alice", ("bob", "carol", "dan")
#: Seconds in which all messages are written, and between the two steps of reading.
SECONDS, GAP = 2.0, 0.1
#: What a step is called, by the type of its event.
VERBS = {"race.wrote": "writes", "race.read": "reads", "race.emptied": "empties"}
VERBS |= {"race.finished": "finishes", "race.drained": "drains", "race.paused": "pauses"}
PATIENCE = 10.0  # real seconds after which a run counts as stuck; one takes milliseconds


@dataclass(frozen=True, slots=True)
class Schedule:
    """One run, and its result.

    Attributes:
        seed: what the order was drawn from; None if it was given as a list.
        events: ``race.started``, an event for each step, ``race.lost`` and ``race.ended``.
    """

    seed: int | None
    events: EventLog

    @property
    def fails(self) -> bool:
        """Whether a message is lost: the reader never got it, and it's no longer in the inbox."""
        return any(one.type == "race.lost" for one in self.events)

    @property
    def steps(self) -> list[str]:
        """Who did what, in order, such as ``bob writes``; :func:`replay` takes this list."""
        return [f"{one.lane} {VERBS[one.type]}" for one in self.events if one.type in VERBS]

    @property
    def sentence(self) -> str:
        """All steps and their result, in one sentence."""
        names = [f"“{one.data['text']}”" for one in self.events if one.type == "race.lost"]
        lost = listed(names) or "no message"
        are = "are" if len(names) > 1 else "is"
        return f"{', '.join(self.steps) or 'no step'}: {lost} {are} lost."


def run(make: Make, seed: int) -> Schedule:
    """Let each writer write two messages, while Alice reads once; she reads again at the end.

    The seed draws the moment of each message, and of the reading.
    """
    chance = random.Random(seed)
    moves = [(chance.uniform(0, SECONDS), name) for name in 2 * WRITERS]
    begins = chance.uniform(0, SECONDS)
    moves += [(begins, READER), (begins + GAP, READER)]
    return _Race(make, [name for _, name in sorted(moves)], seed).run()


def replay(make: Make, steps: Iterable[str]) -> Schedule:
    """Run a schedule that is given as a list: names, or steps such as ``bob writes``.

    Raises:
        UsageError: if a step is none, or another one comes at its place.
    """
    moves = [step.split() for step in steps]
    schedule = _Race(make, [move[0] for move in moves if move], None).run()
    for number, (move, done) in enumerate(zip(moves, schedule.steps, strict=False), 1):
        if not move or (move[1:] and _kind(" ".join(move[1:])) != _kind(done.split()[1])):
            raise UsageError(
                f"step {number} can't be {' '.join(move)!r}: what comes then is {done!r}. Alice "
                "reads and then empties, and whoever else moves writes"
            )
    return schedule


def _kind(verb: str) -> str:
    """Whether a step writes, begins to take messages, or is the end of that; else the verb."""
    kinds = {"writes": "writes", **dict.fromkeys(("reads", "pauses"), "begins")}
    return kinds.get(verb, "ends" if verb in VERBS.values() else verb)


def shrink(make: Make, schedule: Schedule) -> Schedule:
    """Make a schedule that fails as small as possible."""
    small = replay(make, schedule.steps)
    if not small.fails:
        raise UsageError("replayed as a list, this schedule loses nothing, so it cannot shrink")
    while smaller := next((one for one in _smaller(make, small) if one.fails), None):
        small = smaller
    return small


def _smaller(make: Make, schedule: Schedule) -> Iterator[Schedule]:
    """The schedule without two of its steps, such as a whole read, or without one."""
    steps = list(enumerate(schedule.steps))
    for cut in (*combinations(range(len(steps)), 2), *combinations(range(len(steps)), 1)):
        yield replay(make, [step.split()[0] for at, step in steps if at not in cut])


class _Stopped(BaseException):
    """The schedule ends in the middle of reading; no inbox should catch this."""


class _Race:
    """A run: each participant moves when it is its turn, and each step is noted."""

    def __init__(self, make: Make, moves: list[str], seed: int | None) -> None:
        self.make, self.left, self.seed = make, iter(moves), seed
        self.names = list(dict.fromkeys((READER, *moves)))
        self.steps: list[tuple[str, RaceStep]] = []
        self.reads = False
        self.open: list[int] = []  # the reader's steps of a reading that isn't over
        self.sent, self.got = list[str](), list[str]()

    def run(self) -> Schedule:
        """Run in a thread of its own: an inbox that is stuck must not block the notebook."""
        worker = SystemClock().spawn("race", self._run)
        schedule: Schedule = worker.join(timeout=PATIENCE)
        if worker.done:
            return schedule
        stuck = f"the race has made no step for {PATIENCE:g} s"
        raise UsageError(f"{stuck}; let the inbox hold no lock while it calls pause()")

    def _run(self) -> Schedule:
        with tempfile.TemporaryDirectory() as name:
            self.folder = Path(name)
            self.inbox = self.make(self.folder, self._pause)
            try:
                self._go()
            except _Stopped:
                return self._schedule(self._content())
            return self._schedule(self._drained())

    def _go(self) -> None:
        """Let the participants move; in the middle of reading, up to the reader's next step."""
        for name in self.left:
            if name != READER:
                self.sent.append(f"{name} {sum(one == name for one, _ in self.steps) + 1}")
                self.inbox.send(self.sent[-1])
                self._note(name, RaceWrote, self.sent[-1:])
            elif self.reads:
                return
            else:
                self._read()
        if self.reads:
            raise _Stopped

    def _read(self) -> None:
        self.reads = True
        got = self._drained()
        for at in self.open:  # in the file may have been more, for this drain
            event = self.steps[at][1]
            texts = tuple(one for one in event.texts if one in got)
            self.steps[at] = READER, replace(event, texts=texts)
        ended = RaceFinished if self._content() else RaceEmptied
        self._note(READER, ended if self.open else RaceDrained, got)
        self.reads, self.open = False, []

    def _pause(self) -> None:
        if not self.reads:
            return  # nobody else moves
        new = [one for one in self._content() if one not in self.got and not self.open]
        self._note(READER, RacePaused if self.open else RaceRead, new)
        self.open.append(len(self.steps) - 1)
        self._go()

    def _drained(self) -> list[str]:
        """The messages that the reader gets now."""
        got = self._named(self.inbox.drain())
        self.got += got
        return got

    def _note(self, name: str, happened: type[RaceStep], messages: list[str]) -> None:
        event = happened(texts=tuple(messages), content=tuple(self._content()))
        self.steps.append((name, event))

    def _content(self) -> list[str]:
        """The messages in the folder, in whatever files."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return self._named(path.read_text("utf-8", "replace") for path in files)

    def _named(self, texts: Iterable[object]) -> list[str]:
        """The messages that are named in texts, each once."""
        name = rf"\b(?:{'|'.join(map(re.escape, self.names))}) \d+\b"
        return list(dict.fromkeys(one for text in texts for one in re.findall(name, str(text))))

    def _schedule(self, left: list[str]) -> Schedule:
        """The log of the run, in which a loss follows the step that caused it."""
        log, sent = EventLog(), list[str]()
        log.append(
            RaceStarted(reader=READER, writers=tuple(self.names[1:]), seed=self.seed), READER
        )
        read = [message for message in self.sent if message in {*self.got, *left}]
        ended = RaceEnded(texts=tuple(left), sent=len(self.sent), read=len(read))
        # From this step on the reader is not done yet, so what it has read is not lost.
        certain = (self.open or [len(self.steps) + 1])[0]
        every: list[tuple[str, RaceStep | RaceEnded]] = [*self.steps, (READER, ended)]
        for at, (name, event) in enumerate(every):
            log.append(event, name, at + 1.0)
            sent += event.texts if isinstance(event, RaceWrote) else ()
            for message in [one for one in sent if one not in {*read, *event.content}]:
                sent.remove(message)
                if at < certain:
                    writer = message.rsplit(" ", 1)[0]
                    loss = RaceLost(content=event.content, text=message, writer=writer)
                    log.append(loss, READER, at + 1.0)
        return Schedule(self.seed, log)
