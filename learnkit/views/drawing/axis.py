"""The axis of time under lanes: a round scale, and where its marks stand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from learnkit.views.drawing.row import span

#: Seconds from one mark to the next.
_TICKS = (
    *(0.5, 1, 2, 5, 10, 15, 30),
    *(60 * minutes for minutes in (1, 2, 5, 10, 15, 30)),
    *(3600 * hours for hours in (1, 2, 3, 6, 12, 24)),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """The scale for a time.

    Attributes:
        now: seconds that must fit.
    """

    now: float

    @property
    def tick(self) -> float:
        """Seconds between two marks: at most five of them."""
        return next((one for one in _TICKS if self.now <= 5 * one), self.now / 5)

    @property
    def scale(self) -> float:
        """Seconds that the full width stands for."""
        return self.tick * max(1, math.ceil(self.now / self.tick - 1e-9))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Share of the scale and label of each mark; the last has no room for one."""
        marks = round(self.scale / self.tick)
        return [(number / marks, span(self.tick * number)) for number in range(marks)]
