"""The timeline: when each agent and each background job was busy, and what ran at the same time.

An agent's row has its turns, its calls that take time, and where it waits for its jobs; a job's row
has the job, and an arrow to the moment at which the model is told of it. Several runs stand on one
scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from learnkit.events import loop
from learnkit.events.background import JobDelivered, JobEnded, JobStarted
from learnkit.events.log import Event
from learnkit.events.text import count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import display, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.time_axis import Axis, duration

#: Height of a row, and of what stands in it, in pixels.
_ROW, _BAR = 40, 24
#: Begin and end, in seconds.
Times = tuple[float, float]
#: The most boxes of a kind in a row.
_MOST = 30
#: A call that only asks how a job is doing; nobody makes it if there are no jobs.
_POLL = "check_background"
#: A sleep at the beginning of a command, which is not what the command is for.
_SLEEP = re.compile(r"^\s*sleep [\d.]+\s*(;|&&)\s*(?=\S)")

_ENDS = {
    "running": theme.ACTIVE,
    "completed": theme.DONE,
    "stopped": theme.SHUTDOWN,
}


@dataclass(frozen=True, slots=True)
class Span:
    """A turn of a model, a call, or a time in which an agent waits for its jobs.

    Attributes:
        mark: key of its mark: of the assistant for a turn, of a call, or idle.
        id: the call's; ``turn`` for a turn.
        begin: in seconds.
        end: in seconds; None while it lasts.
        calls: names of the tools: those that the turn calls, or that of the call.
        acts: whether the reply of a turn calls tools.
        waits: whether the agent had to wait for a job after this turn.
    """

    mark: str
    id: str
    begin: float
    end: float | None = None
    calls: tuple[str, ...] = ()
    acts: bool = False
    waits: bool = False

    @property
    def long(self) -> float:
        """Its length in seconds; 0 while it lasts."""
        return 0.0 if self.end is None else self.end - self.begin

    @property
    def extra(self) -> bool:
        """Whether there would be no such turn if each command was waited for where it stands."""
        return self.waits or (bool(self.calls) and set(self.calls) == {_POLL})


@dataclass(frozen=True, slots=True)
class Job:
    """A command in the background.

    Attributes:
        number: counted from 1, in the order in which the run's jobs began.
        agent: who has started it.
        command: what it runs.
        begin: in seconds.
        end: in seconds; None while it runs.
        status: ``running``, ``completed``, and so on.
        output: what it printed.
        told: when the model was told of it, in seconds; None before that.
        counted: whether its sleep only counts, and takes no real time.
    """

    number: int
    agent: str
    command: str
    begin: float
    end: float | None = None
    status: str = "running"
    output: str = ""
    told: float | None = None
    counted: bool = False

    @property
    def mark(self) -> theme.Mark:
        """The mark of its status."""
        return _ENDS.get(self.status, theme.FAILED)

    @property
    def label(self) -> str:
        """What it runs while it runs, and what came of it then."""
        if self.status == "running":
            return f"{self.mark.glyph} {_SLEEP.sub('', self.command)}"
        first = next((line for line in self.output.splitlines() if line.strip()), "")
        parts = ["" if self.status == "completed" and first else self.status, first]
        return f"{self.mark.glyph} {': '.join(filter(None, parts))}"


@dataclass(frozen=True, slots=True)
class Worker:
    """An agent's row: its spans in the order in which they began, and whether its run has ended."""

    spans: tuple[Span, ...] = ()
    done: bool = False

    def of(self, mark: str) -> list[Span]:
        """The spans of a kind."""
        return [one for one in self.spans if one.mark == mark]

    @property
    def waited(self) -> float:
        """Seconds that it had nothing to do but wait."""
        return sum(one.long for one in self.of("idle"))

    def last(self, id: str, **changes: Any) -> Worker:
        """With something else said of the last span with an id, if there is one."""
        spans = list(self.spans)
        for place in [place for place, one in enumerate(spans) if one.id == id][-1:]:
            spans[place] = replace(spans[place], **changes)
        return replace(self, spans=tuple(spans))


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its agents by lane, its jobs by id, and the time of its last change in seconds."""

    name: str = ""
    workers: dict[str, Worker] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    now: float = 0.0

    @property
    def serial(self) -> float:
        """Seconds that the same work takes if each command is waited for where it stands."""
        jobs = self.jobs.values()
        total = sum((self.now if job.end is None else job.end) - job.begin for job in jobs)
        for lane, worker in self.workers.items():
            total += sum(one.long for one in worker.of("assistant") if not one.extra)
            own = [one for one in worker.of("call") if f"{lane}.{one.id}" not in self.workers]
            total += sum(one.long for one in own)  # a subagent's time is its turns
        return total

    @property
    def waited(self) -> float:
        """Seconds that agents had nothing to do but wait for their jobs."""
        return sum(one.waited for one in self.workers.values())

    @property
    def done(self) -> bool:
        """Whether nobody works any more."""
        return all(one.done for one in self.workers.values()) and bool(self.workers)


@dataclass(frozen=True, slots=True)
class State:
    """The runs on one scale; the last one grows."""

    runs: tuple[Run, ...] = (Run(),)

    @property
    def run(self) -> Run:
        """The run that grows."""
        return self.runs[-1]

    @property
    def before(self) -> float:
        """Seconds of what it is compared with: the first run, or its own work without jobs."""
        return self.runs[0].now if self.runs[1:] else self.run.serial


class Timeline(Diagram[State]):
    """Turns, tool calls and background jobs over time.

    Args:
        events: an ``EventLog``, or any sequence of events; or several by name, such as
            ``{"one after the other": first.events, "in the background": second.events}``. Then the
            last one grows, step by step, below the others, which are there from the beginning.
        lane: show only what happened to this agent; None shows everyone.
        on_intent: as for every view.
    """

    name = "timeline"
    start = State()

    def __init__(
        self,
        events: Sequence[Event] | Mapping[str, Sequence[Event]] | Any,
        *,
        lane: str | None = None,
        on_intent: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        runs: dict[str, Any] = dict(events) if isinstance(events, Mapping) else {"": events}
        self._last, last = runs.popitem() if runs else ("", [])
        self._earlier = runs
        super().__init__(last, lane=lane, on_intent=on_intent)

    def init(self) -> State:
        earlier = self._earlier.items()
        runs = (reduce(_grown, filter(self.wants, events), Run(name)) for name, events in earlier)
        return State((*runs, Run(self._last)))

    def fold(self, state: State, event: Event) -> State:
        run = _grown(state.run, event)
        return state if run is state.run else State((*state.runs[:-1], run))

    def says(self, state: State) -> list[str]:
        first, run, before = state.runs[0], state.run, state.before
        share = 1 - run.now / before if run.done and before else 0.0
        less = f"{share:.0%} less." if share > 0.005 else ""
        jobs = [job for one in state.runs for job in one.jobs.values()]
        counted = "The time that commands sleep is counted, not slept."
        counted *= run.done and any(job.counted for job in jobs)
        far, waits = duration(run.now), f"The model waits {duration(run.waited)}"
        if run is first:
            if not before:
                return ["No work so far."]
            takes = f"{far}{'' if run.done else ' so far'}"
            once = f"Work overlaps: {takes} instead of {duration(before)}."
            once = once if before > run.now * 1.005 else f"Nothing overlaps: it takes {takes}."
            return [once, less, f"{waits} for its jobs." if run.waited else "", counted]
        now = f"{run.name[:1].upper()}{run.name[1:]}{'' if run.done else ', so far'}: {far}"
        now += f" instead of {duration(before)}." if run.done else "."
        waits = f"{waits} instead of {duration(first.waited)}." if run.done else ""
        return [now, less, waits, counted]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        _Sheet(canvas, state).draw(rows)
        return canvas


def _grown(run: Run, event: Event) -> Run:
    """A run after one more event."""
    lane, now = event.lane, max(event.time, run.now)
    own, jobs = run.workers.get(lane) or Worker(), run.jobs
    turns = own.of("assistant")
    match read(event):
        case loop.ModelRequested():
            own = replace(own, spans=(*own.spans, Span("assistant", "turn", now)))
        case loop.ModelReplied() | loop.ModelFailed() as reply:
            acts = getattr(reply, "stop_reason", "") == "tool_use"
            if turns and turns[-1].end is None:
                own = own.last("turn", end=now, acts=acts)
        case loop.ToolStarted(id=id, name=name):
            own = own.last("turn", calls=(*turns[-1].calls, name)) if turns else own
            own = replace(own, spans=(*own.spans, Span("call", id, now, None, (name,))))
        case loop.ToolEnded(id=id):
            own = own.last(id, end=now)
        case loop.RunStarted():
            own = replace(own, done=False)
        case loop.RunEnded():
            own = replace(own, done=True)
        case JobStarted(id=id, command=command, counted=counted):
            jobs = {**jobs, id: Job(len(jobs) + 1, lane, command, now, counted=counted)}
        case JobEnded(id=id, status=status, output=output) if id in jobs:
            jobs = {**jobs, id: replace(jobs[id], end=now, status=status, output=output)}
        case JobDelivered(ids=ids, by=by):
            told = {id: replace(jobs[id], told=now) for id in ids if id in jobs}
            jobs = {**jobs, **told}
            if told and by == "stop" and turns and not turns[-1].acts:
                begin = now if turns[-1].end is None else turns[-1].end
                own = own.last("turn", waits=True)
                own = replace(own, spans=(*own.spans, Span("idle", "", begin, now)))
        case _:
            return run
    return replace(run, now=now, workers={**run.workers, lane: own}, jobs=jobs)


def _rows(run: Run) -> Iterator[str]:
    """Keys of the rows: each agent that has done something, and after it its jobs, by id."""
    for lane, worker in run.workers.items():
        jobs = [id for id, job in run.jobs.items() if job.agent == lane]
        if worker.spans or jobs:
            yield f"of {lane}"
            yield from jobs


class _Sheet:
    """Where things stand on a canvas, and what is drawn there."""

    def __init__(self, canvas: Canvas, state: State) -> None:
        self.canvas, self.state = canvas, state
        self.left = 66.0 if canvas.width < 560 else 84.0
        self.right = canvas.width - 6
        # What is saved stands behind the end.
        self.saved = state.run.done and state.before > state.run.now * 1.005
        far = max(state.before * self.saved, *(run.now for run in state.runs))
        self.axis = Axis(far, self.left, self.right - self.left - (38 if canvas.width > 560 else 6))
        self.x = self.axis.x

    def draw(self, rows: int) -> None:
        canvas, y = self.canvas, 24.0
        every = [(place, key) for place, run in enumerate(self.state.runs) for key in _rows(run)]
        tops: dict[tuple[int, str], float] = {}
        bands: dict[int, tuple[float, float]] = {}
        for place, key in every[:rows]:
            run = self.state.runs[place]
            if run.name and place not in bands:
                canvas.text(f"run {place}", 0, y + 16, f"{run.name}: {duration(run.now)}", "b")
                y += 26
            tops[place, key] = y
            y += _ROW
            bands[place] = bands.get(place, (tops[place, key],))[0], y
        if tops:
            self.axis.ruled(canvas, 0, (0, 14), *bands.values())
        for (place, key), top in tops.items():  # the arrows lie under everything else
            job = self.state.runs[place].jobs.get(key)
            if job and job.end is not None and job.told is not None:
                begin, low = self.x(job.end), top + _BAR / 2
                up = tops[place, f"of {job.agent}"] + _BAR + 2 - low
                path = f"M0 0H{self.x(job.told) - begin:.1f}V{up:.1f}"
                canvas.edge(f"arrow {place} {key}", path, "injected", x=begin, y=low)
        for (place, key), top in tops.items():
            run = self.state.runs[place]
            if key in run.jobs:
                self.job(f"{place} {key}", run.jobs[key], run.now, top)
            else:
                self.worker(f"{place} {key}", key[3:], run, top)
        if self.saved and (last := len(self.state.runs) - 1) in bands:
            self.bracket(bands[last][0] + _BAR / 2)
        y += 20 * canvas.left_out("gone", self.left, y + 14, len(every) - len(tops), "row")
        canvas.height = y + 4
        if any(job.told is not None for run in self.state.runs for job in run.jobs.values()):
            sign = f"{theme.INJECTED.glyph} a job's result reaches the model"
            canvas.text("sign", 0, y + 15, sign, "q")
            canvas.height = y + 24

    def bracket(self, y: float) -> None:
        """What was saved, from the end to where it would have been, beside the last run's agent."""
        x, end = self.x(self.state.run.now), self.x(self.state.before)
        path = f"M0 -6V6M0 0H{end - x:.1f}m0 -6v12"
        self.canvas.edge("saved", path, theme.DONE.key, "w", x=x, y=y + 6)
        took = duration(round(self.state.before - self.state.run.now, 1))
        said = f"{took} saved" if end - x > display.text_width(f"{took} saved", "b") + 8 else took
        self.canvas.text("saved is", (x + end) / 2, y - 2, said, "bc", theme.DONE.key)

    def box(self, key: str, times: Times, y: float, mark: str, label: str, says: str) -> None:
        """A length of time: a box with its label, or a bar where there is no room for one."""
        x, end = map(self.x, times)
        wide = max(end - x, 2)
        if wide >= 90 or not label:
            self.canvas.box(key, x, y, wide, _BAR, mark, [label] * bool(label), "l", says=says)
        else:
            style = "p" if mark == "idle" else ""
            self.canvas.bar(key, x, y + 7, max(wide - 1, 1.5), 10, mark, style, says=says)

    def worker(self, key: str, name: str, run: Run, y: float) -> None:
        """The row of an agent: its turns, its calls, and where it waits."""
        worker = run.workers[name]
        self.canvas.text(f"name {key}", 0, y + 16, name, "b", width=self.left - 6)
        spans = [one if one.end is not None else replace(one, end=run.now) for one in worker.spans]
        for mark in ("idle", "call", "assistant"):
            for group in self.grouped([one for one in spans if one.mark == mark and one.long]):
                times, many = (group[0].begin, group[-1].end or 0), len(group)
                did = listed([call for one in group for call in one.calls]) or "text"
                label = f"{theme.MARKS[mark].glyph} {did}"
                label = f"waits {duration(times[1] - times[0])}" if mark == "idle" else label
                what = f"{count(many, 'turn')}: {did}" if mark == "assistant" else label
                says = f"{name}, {duration(times[0])} to {duration(times[1])}: {what}"
                self.box(f"{mark} {key} {times[0]:g}", times, y, mark, label, says)
        told = {job.told for job in run.jobs.values() if job.agent == name}
        for at in sorted(at for at in told if at is not None):
            says = f"at {duration(at)} a request delivers the results of finished jobs"
            spot = self.x(at), y + (_BAR + _ROW) / 2
            self.canvas.dot(f"told {key} {at:g}", *spot, 7, "injected", "✉\ufe0e", says=says)

    def grouped(self, spans: list[Span]) -> list[list[Span]]:
        """Spans with a gap between them that cannot be seen; of too many, those with the least."""
        gap = 2
        while True:
            groups: list[list[Span]] = []
            for one in spans:
                if groups and self.x(one.begin) - self.x(groups[-1][-1].end or 0) < gap:
                    groups[-1].append(one)
                else:
                    groups.append([one])
            if len(groups) <= _MOST:
                return groups
            gap *= 2

    def job(self, key: str, job: Job, now: float, y: float) -> None:
        """The row of a job; its label stands in it, or beside it where there is more room."""
        self.canvas.text(f"name {key}", 0, y + 16, f"job {job.number}", width=self.left - 6)
        end, mark = now if job.end is None else job.end, job.mark.key
        x, right = self.x(job.begin), self.x(max(end, job.told or 0))
        label, took = one_line(job.label, 200), duration(end - job.begin)
        says = f"Job {job.number}, {took}, {job.status}: {one_line(job.command, 160)}"
        inside = self.x(end) - x - 16
        places = [(inside, 0.0, ""), (self.right - right - 10, right + 10, "")]
        places += [(x - self.left - 10, x - 10, "e")]
        whole = [one for one in places if one[0] > 40 and display.fitting(label, one[0]) == label]
        room, spot, style = (whole or [max(places)])[0]
        self.box(f"job {key}", (job.begin, end), y, mark, "" if spot else label, says)
        if spot:
            self.canvas.text(f"label {key}", spot, y + 16, label, style, mark, width=room)
