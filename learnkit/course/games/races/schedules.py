"""Schedules: the order in which several writers and one reader take their steps on one inbox.

On a virtual clock all of them want to move at the same moments, so only the seed decides who goes
first. A run is therefore a list of who moves next. It can be replayed, and reduced until it has
only the steps without which no message is lost, or read twice.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError
from learnkit.events.log import LANE, EventLog
from learnkit.events.races import (
    RaceDrained,
    RaceEmptied,
    RaceEnded,
    RaceFinished,
    RaceLost,
    RacePaused,
    RaceRead,
    RaceRepeated,
    RaceStarted,
    RaceStep,
    RaceWrote,
)
from learnkit.events.text import count
from learnkit.runtime.clock import SystemClock
from learnkit.runtime.virtual_clock import VirtualClock

Make = Callable[[Path, Callable[[], None]], Any]  # from a folder and a pause to an inbox

READER, WRITERS = "alice", ("bob", "carol", "dan")
#: What a step is called, by the type of its event.
VERBS = {"race.wrote": "writes", "race.read": "reads", "race.emptied": "empties"}
VERBS |= {"race.finished": "finishes", "race.drained": "drains", "race.paused": "pauses"}
_MIDDLE = ("race.read", "race.paused")  # steps in the middle of an action
_BEGIN = [VERBS[type] for type in _MIDDLE]
PATIENCE = 10.0  # real seconds after which a run counts as stuck; one takes milliseconds


@dataclass(frozen=True, slots=True)
class Schedule:
    """One run, and its result.

    Attributes:
        seed: the clock's seed; None if the order was given as a list.
        events: ``race.started``, an event for each step, ``race.lost``, ``race.repeated`` and
            ``race.ended``.
        sent: how many messages were sent.
        read: how many messages the reader got, or still finds at the end.
        lost: how many messages the reader never got, and are no longer in the inbox.
        repeated: how many messages the reader got more than once.
    """

    seed: int | None
    events: EventLog
    sent: int
    read: int
    lost: int
    repeated: int

    @property
    def fails(self) -> bool:
        """Whether a message is lost, or read twice."""
        return bool(self.lost or self.repeated)

    @property
    def steps(self) -> list[str]:
        """Who did what, in order, such as ``bob writes``; :func:`replay` takes this list."""
        return [f"{one.lane} {VERBS[one.type]}" for one in self.events if one.type in VERBS]

    @property
    def sentence(self) -> str:
        """All steps and their result, in one sentence."""
        ends = [
            f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {word}"
            for type, word in (("race.lost", "lost"), ("race.repeated", "read twice"))
            if (names := [f"“{one.data['text']}”" for one in self.events if one.type == type])
        ]
        said = ", and ".join(ends) or "no message is lost"
        return f"{', '.join(self.steps) or 'no step'}: {said}."

    def __str__(self) -> str:
        name = "schedule" if self.seed is None else f"seed {self.seed}"
        twice = f", {self.repeated} read twice" if self.repeated else ""
        return f"{name}: {self.lost} of {count(self.sent, 'message')} lost{twice}"


def run(make: Make, seed: int) -> Schedule:
    """Let several participants write and one read, at the same moments of a virtual clock.

    Each of them writes two messages, one a second. Alice reads together with the last messages,
    then a second later, and once more at the end, to see what comes again.
    """
    moments = {READER: [2.0, 3.0], **{name: [1.0, 2.0] for name in WRITERS}}
    return _Race(make, moments, seed).run()


def replay(make: Make, steps: Iterable[str]) -> Schedule:
    """Run a schedule that is given as a list: names, or steps such as ``bob writes``.

    Raises:
        UsageError: if a step is none, or another one comes at its place.
    """
    moments: dict[str, list[float]] = {READER: []}
    given = [step.split() or [""] for step in steps]
    for number, (name, *verb) in enumerate(given, 1):
        if not name or (verb and " ".join(verb) not in VERBS.values()):
            said = " ".join([name, *verb])
            raise UsageError(
                f"step {number} is {said!r}; write 'bob writes', 'alice reads' or 'alice empties'"
            )
        moments.setdefault(name, []).append(number)
    schedule = _Race(make, moments, None).run()
    for number, (step, done) in enumerate(zip(given, schedule.steps, strict=False), 1):
        if step[1:] and _kind(step[1]) != _kind(done.split()[1]):
            raise UsageError(
                f"step {number} can't be {' '.join(step)!r}: what comes then is {done!r}. Alice "
                "reads and then empties, and whoever else moves writes"
            )
    return schedule


def _kind(verb: str) -> str:
    """Whether a step writes, begins to take messages, or is the end of that."""
    return verb if verb == "writes" else "begins" if verb in _BEGIN else "ends"


def shrink(make: Make, schedule: Schedule) -> Schedule:
    """Make a schedule that fails as small as possible."""
    small = replay(make, schedule.steps)
    fault = "lost" if small.lost else "repeated"
    if not small.fails:
        raise UsageError(f"{schedule}: replayed as a list it loses nothing, so it cannot shrink")
    while smaller := next((one for one in _smaller(make, small) if getattr(one, fault)), None):
        small = smaller
    return small


def _smaller(make: Make, schedule: Schedule) -> Iterator[Schedule]:
    """The schedule without a writer, a message, a read or a step; big cuts first."""
    moves = [one for one in schedule.events if one.type in VERBS]
    names = [one.lane for one in moves]
    cuts = [{at for at, name in enumerate(names) if name == one} for one in sorted(set(names))]
    begun: dict[str, set[int]] = {}
    for at, one in enumerate(moves):
        begun.setdefault(one.lane, set()).add(at)
        if one.type not in _MIDDLE:
            cuts.append(begun.pop(one.lane))
    for cut in [*cuts, *({at} for at in range(len(moves)))]:
        yield replay(make, [name for at, name in enumerate(names) if at not in cut])


@dataclass(slots=True)
class _Step:
    lane: str
    time: float
    event: RaceStep | RaceEnded


class _Race:
    """A run: each participant waits for its moments, and each step is noted."""

    def __init__(self, make: Make, moments: dict[str, list[float]], seed: int | None) -> None:
        self.make, self.moments, self.seed = make, moments, seed
        self.clock = VirtualClock(seed=0 if seed is None else seed + 1)
        self.end = 1 + max((times[-1] for times in moments.values() if times), default=0)
        self.steps: list[_Step] = []
        # For each participant, the steps of what it has begun and not finished.
        self.open: dict[str, list[int]] = {name: [] for name in moments}
        self.sent, self.got = list[str](), list[str]()
        self.again: dict[int, Sequence[str]] = {}  # number of a step -> messages read once more

    def run(self) -> Schedule:
        """Run in a thread of its own, because a run that is stuck must not block the notebook."""
        worker = SystemClock().spawn("race", self._run)
        schedule: Schedule = worker.join(timeout=PATIENCE)
        if worker.done:
            return schedule
        stuck = f"the race has made no step for {PATIENCE:g} s"
        raise UsageError(f"{stuck}; let the inbox hold no lock while it calls pause()")

    def _run(self) -> Schedule:
        with tempfile.TemporaryDirectory() as name, self.clock:
            self.folder = Path(name)
            self.inbox = self.make(self.folder, self._pause)
            for one in self.moments:  # leaving the clock raises what a participant raises
                self.clock.spawn(one, self._participate, one)
            self.clock.sleep(self.end)
            stopped = any(self.open.values())
            left, again = (self._content(), []) if stopped else self._drained()
            return self._schedule(left, again)

    def _participate(self, name: str) -> None:
        LANE.set(name)
        number = 0
        while self.moments[name]:
            self._wait(name)
            number += 1
            if name == READER:
                got, again = self._drained()
                for at in self.open[name]:  # in the file may have been more, for this drain
                    step = self.steps[at]
                    texts = tuple(one for one in step.event.texts if one in got)
                    step.event = replace(step.event, texts=texts)
                ended = RaceFinished if self._content() else RaceEmptied
                self._note(name, ended if self.open[name] else RaceDrained, got, again)
            else:
                self.inbox.send(message := f"{name} {number}")
                self.sent.append(message)
                self._note(name, RaceWrote, [message])

    def _drained(self) -> tuple[list[str], list[str]]:
        """The messages that the reader gets now, and those of them that it gets once more."""
        every = [one for text in self.inbox.drain() for one in self._named([text])]
        got = list(dict.fromkeys(every))
        again = [one for one in got if one in self.got or every.count(one) > 1]
        self.got += got
        return got, again

    def _pause(self) -> None:
        name = LANE.get()
        if name not in self.moments or self.clock.time() >= self.end:
            return  # no other participant moves any more
        reads = name == READER and not self.open[name]
        new = [message for message in self._content() if reads and message not in self.got]
        self._note(name, RaceRead if reads else RacePaused, new)
        if self.seed is None:
            self._wait(name)
        else:
            self.clock.sleep(0)  # draws again who goes first

    def _wait(self, name: str) -> None:
        """Wait for a participant's next moment; forever, if it has none left."""
        self.clock.sleep((self.moments[name] or [math.inf]).pop(0) - self.clock.time())

    def _note(
        self,
        name: str,
        happened: type[RaceStep],
        messages: list[str],
        again: Sequence[str] = (),
    ) -> None:
        self.open[name] = (
            [*self.open[name], len(self.steps)] if happened in (RaceRead, RacePaused) else []
        )
        event = happened(texts=tuple(messages), content=tuple(self._content()))
        self.steps.append(_Step(name, self.clock.time(), event))
        if again:
            self.again[len(self.steps) - 1] = again

    def _content(self) -> list[str]:
        """The messages in the folder, in whatever files."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return self._named(path.read_text("utf-8", "replace") for path in files)

    def _named(self, texts: Iterable[object]) -> list[str]:
        """The messages that are named in texts, each once."""
        name = rf"\b(?:{'|'.join(map(re.escape, self.moments))}) \d+\b"
        return list(dict.fromkeys(one for text in texts for one in re.findall(name, str(text))))

    def _schedule(self, left: list[str], again: list[str]) -> Schedule:
        """The log of the run, in which a loss or a repetition follows the step that caused it."""
        log, sent, writers = EventLog(), list[str](), [*self.moments][1:]
        log.append(RaceStarted(reader=READER, writers=tuple(writers), seed=self.seed), READER)
        read = [message for message in self.sent if message in {*self.got, *left}]
        ended = RaceEnded(texts=tuple(left), sent=len(self.sent), read=len(read))
        # From this step on the reader is not done yet, so what it has read is not lost.
        certain = (self.open[READER] or [len(self.steps) + 1])[0]
        repeated = self.again | {len(self.steps): again}
        for at, step in enumerate([*self.steps, _Step(READER, self.end, ended)]):
            event, time = step.event, step.time
            log.append(event, step.lane, time)
            for message in repeated.get(at, ()):
                log.append(RaceRepeated(text=message), READER, time)
            sent += event.texts if isinstance(event, RaceWrote) else ()
            for message in [one for one in sent if one not in {*read, *event.content}]:
                sent.remove(message)
                if at < certain:
                    writer = message.rsplit(" ", 1)[0]
                    loss = RaceLost(content=event.content, text=message, writer=writer)
                    log.append(loss, READER, time)
        lost = [event for event in log if event.type == "race.lost"]
        twice = {message for some in repeated.values() for message in some}
        return Schedule(self.seed, log, len(self.sent), len(read), len(lost), len(twice))
