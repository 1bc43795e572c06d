"""What the explorables' pictures share: a scale with its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import short

#: Room for the numbers of a scale, in pixels.
LEFT = 38


def scale(
    canvas: Canvas,
    name: str,
    ticks: Iterable[int],
    base: float,
    unit: float,
    right: float,
    said: Callable[[int], str] = short,
) -> None:
    """Draw level lines with their numbers to the left of them."""
    for tick in ticks:
        y = round(base - tick * unit)
        canvas.edge(f"{name} line {tick}", f"M{LEFT} {y}H{right:g}")
        canvas.text(f"{name} {tick}", LEFT - 6, y + 4, said(tick), "qe")
