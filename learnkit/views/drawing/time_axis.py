"""Time from left to right: an axis with a round scale, and rows of spans on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from learnkit.views.drawing.display import Canvas, text_width

#: Seconds from one mark to the next.
_TICKS = (
    *(0.5, 1, 2, 5, 10, 15, 30),
    *(60 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12, 24)),
)
#: Seconds of each unit of a scale that is at least two of them long.
_UNITS = ((3600, "h"), (60, "min"), (1, "s"))


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
        """Seconds that the full width represents: it ends soon after what has to fit."""
        part = self.tick / 5
        return part * max(5, math.ceil(self.now / part - 1e-9))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Share of the scale and label of each mark, without that at the end."""
        marks = self.scale / self.tick
        return [(n / marks, self.said(self.tick * n)) for n in range(math.ceil(marks - 1e-9))]

    def said(self, seconds: float) -> str:
        """A time in the one unit of this scale."""
        each, unit = next((one for one in _UNITS if self.scale >= 2 * one[0]), _UNITS[-1])
        return f"{seconds / each:.1f}".removesuffix(".0") + f" {unit}"

    def x(self, at: float) -> float:
        """The place of a time, in pixels."""
        return self.left + self.room * min(at, self.scale) / self.scale

    def ruled(self, canvas: Canvas, y: float, *bands: tuple[float, float]) -> None:
        """Draw the marks, and a line from each through the bands, which no text stands in."""
        path = "".join(f"M0 {top - y:g}V{low - y:g}" for top, low in bands)
        right = self.left + self.room
        ticks = [(text, at, text, right - 8) for at, text in self.ticks]
        for key, at, text, end in [*ticks, ("end", 1, self.said(self.scale), canvas.width)]:
            x = self.left + self.room * at
            canvas.edge(f"tick {key}", path, x=x, y=y)
            if x + 4 + text_width(text) <= end:  # all labels are at the right of their marks
                canvas.text(f"time {key}", x + 4, y + 10, text, "q")


def duration(seconds: float) -> str:
    """A length of time for reading: ``1.5 s``, ``35 min``, ``2.5 h``."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
    value, unit = (seconds / 60, "min") if seconds < 7200 else (seconds / 3600, "h")
    return f"{value:.1f} {unit}" if round(value, 1) % 1 else f"{value:.0f} {unit}"
