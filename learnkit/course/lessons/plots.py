"""What the explorables' pictures share: a scale with its lines, a legend, and short numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.theme import Mark

#: Pixels from one character of a legend to the next.
_EACH = 6.2


def short(tokens: float) -> str:
    """Write a number in thousands, such as ``12k``; 0 is ``0``."""
    return f"{tokens / 1000:,.0f}k" if tokens else "0"


def scale(
    canvas: Canvas,
    name: str,
    ticks: Iterable[int],
    base: float,
    unit: float,
    right: float,
    said: Callable[[float], str] = short,
) -> None:
    """Draw level lines with their numbers to the left of them."""
    for tick in ticks:
        y = round(base - tick * unit)
        canvas.edge(f"{name} line {tick}", f"M{LEFT} {y}H{right:g}")
        canvas.text(f"{name} {tick}", LEFT - 6, y + 4, said(tick), "qe")


def legend(canvas: Canvas, y: float, *entries: tuple[Mark, str, str]) -> None:
    """Say in one row what the colours mean."""
    x = 0
    for mark, style, word in entries:
        canvas.bar(f"key {word}", x, y, 10, 10, mark.key, style)
        canvas.text(f"key of {word}", x + 14, y + 9, word, "q")
        x += 26 + round(_EACH * len(word))


#: Room for the numbers of a scale, in pixels.
LEFT = 38
