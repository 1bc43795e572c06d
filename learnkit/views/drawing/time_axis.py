"""Time from left to right: an axis with a round scale, and rows of spans on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas

#: Seconds from one mark to the next.
_TICKS = (
    *(0.5, 1, 2, 5, 10, 15, 30),
    *(60 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12, 24)),
)
#: The most spans of one row; of more, the two oldest are merged.
LENGTHS = 80


@dataclass(frozen=True, slots=True)
class Axis:
    """The scale for a time.

    Attributes:
        now: seconds that have to fit.
        left: where time 0 is, in pixels.
        room: length of the scale, in pixels.
    """

    now: float
    left: float = 0
    room: float = 0

    @property
    def tick(self) -> float:
        """Seconds between two marks: at most five of them."""
        return next((one for one in _TICKS if self.now <= 5 * one), self.now / 5)

    @property
    def scale(self) -> float:
        """Seconds that the full width represents."""
        return self.tick * max(1, math.ceil(self.now / self.tick - 1e-9))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Share of the scale and label of each mark, without the last one, which has no room."""
        marks = round(self.scale / self.tick)
        return [(number / marks, duration(self.tick * number)) for number in range(marks)]

    def x(self, at: float) -> float:
        """The place of a time, in pixels.

        Args:
            at: in seconds.
        """
        return self.left + self.room * min(at, self.scale) / self.scale

    def ruled(self, canvas: Canvas, y: float, low: float) -> None:
        """Draw the marks, and a line down from each.

        Args:
            canvas: to draw into.
            y: upper edge, in pixels.
            low: where the lines end, in pixels.
        """
        for at, text in self.ticks:
            x = self.left + self.room * at
            canvas.edge(f"tick {text}", f"M0 0V{low - y:g}", x=x, y=y)
            canvas.text(f"time {text}", x + 4, y + 10, text, "q", width=60)

    def rule(self, canvas: Canvas, left: float, width: float, height: float, y: float = 0) -> None:
        """Draw the scale on a canvas: a label and a thin line down for each mark.

        Args:
            canvas: to draw on.
            left: where time 0 is, in pixels.
            width: length of the scale, in pixels.
            height: of the lines, in pixels.
            y: upper edge, in pixels.
        """
        for number, (at, text) in enumerate(self.ticks):
            x = left + width * at
            canvas.edge(f"mark {number}", f"M0 16V{height:g}", x=x, y=y)
            canvas.text(f"at {number}", x, y + 12, text, "q")
        canvas.edge("mark end", f"M0 16V{height:g}", x=left + width, y=y)
        if width > 110 * len(self.ticks):
            canvas.text("at end", left + width, y + 12, duration(self.scale), "q e")


@dataclass(frozen=True, slots=True)
class TimeRow:
    """An agent or a job.

    Attributes:
        name: the agent's lane, or the job's id.
        title: the command of a job.
        agent: the agent that started the job; empty for an agent's own row.
        spans: key of a mark, begin and end in seconds; the last may still be growing.
        open: what is running (a turn, a call, a job): key of a mark, id, begin in seconds.
        mark: the mark of its status.
        state: its status in words.
        delivered: times in seconds at which the job's result, or results for the agent, arrived.
        busy: seconds of all spans that have ended.
        counted: whether the job only counts its sleep, which then takes no real time.
    """

    name: str
    title: str = ""
    agent: str = ""
    spans: tuple[tuple[str, float, float], ...] = ()
    open: tuple[tuple[str, str, float], ...] = ()
    mark: theme.Mark = theme.WORKING
    state: str = "working"
    delivered: tuple[float, ...] = ()
    busy: float = 0.0
    counted: bool = False

    def begun(self, key: str, id: str, now: float) -> TimeRow:
        """The row with a new span.

        Args:
            key: the key of the span's mark.
            id: the id to give to ``over`` when the span ends.
            now: the time in seconds.
        """
        return replace(self, open=(*self.open, (key, id, now)))

    def over(self, id: str, now: float) -> TimeRow:
        """The row with the span ``id`` ended, if there is one.

        Args:
            id: the id that was given to ``begun``.
            now: the time in seconds.
        """
        found = next((one for one in self.open if one[1] == id), None)
        if found is None:
            return self
        key, _, since = found
        rest = tuple(one for one in self.open if one is not found)
        spans = _joined((*self.spans, (key, since, now)))
        return replace(self, open=rest, spans=spans, busy=self.busy + now - since)

    def drawn(self, now: float) -> tuple[tuple[str, float, float], ...]:
        """All spans, including those that are still running.

        Args:
            now: the time in seconds, where a running span ends for now.
        """
        return (*self.spans, *((key, since, now) for key, _, since in self.open))


def duration(seconds: float) -> str:
    """A length of time for reading: ``1.5 s``, ``35 min``, ``2.5 h``.

    Args:
        seconds: 0 or more.
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
    value, unit = (seconds / 60, "min") if seconds < 7200 else (seconds / 3600, "h")
    return f"{value:.1f} {unit}" if round(value, 1) % 1 else f"{value:.0f} {unit}"


def _joined(spans: tuple[tuple[str, float, float], ...]) -> tuple[tuple[str, float, float], ...]:
    """At most ``LENGTHS`` spans: if there are more, the two oldest become one."""
    if len(spans) <= LENGTHS:
        return spans
    (key, begin, _), (_, _, end) = spans[:2]
    return ((key, begin, end), *spans[2:])
