"""What the explorables' pictures share: a scale with its lines, and the bills of two ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import short

#: Room for the numbers of a scale, and for the names of curves; the upper edge of bills, and their
#: 0, in pixels.
LEFT, NAMES, TOP, BASE = 38, 88, 52, 236


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


def bills(
    canvas: Canvas,
    ways: Mapping[str, Callable[[int], float]],
    dragged: range,
    axis: range,
    what: str,
    costs: range,
    said: str,
) -> None:
    """Draw what each way costs in tokens of plain input, as far as it was dragged.

    Args:
        canvas: of the picture, whose height this gives.
        ways: name -> what so many cost.
        dragged: the numbers that the curves go through.
        axis: the numbers below, the last one at the end.
        what: is counted there.
        costs: the numbers of the scale.
        said: above the curves.
    """
    right, now = canvas.width - NAMES, dragged[-1]
    unit, step = (BASE - TOP) / costs[-1], (right - LEFT) / axis[-1]
    canvas.text("bill in", 0, TOP - 40, "bill, in tokens of plain input", "b")
    scale(canvas, "bill", costs, BASE, unit, right)
    x = LEFT + now * step
    canvas.edge("cause", f"M0 0V{BASE - TOP}", "cause", "d", x=x, y=TOP)
    for number in axis:
        place = LEFT + number * step
        canvas.edge(f"line {number}", f"M{place:g} {BASE}V{BASE + 5}")
        canvas.text(f"tick {number}", place, BASE + 18, str(number), "qc")
    canvas.text("what", right + 18, BASE + 18, what, "q")
    low = 0.0  # two names never share a line
    falling = sorted(ways, key=lambda way: -ways[way](now))
    for way in falling:
        best = way == falling[-1]
        mark, cost = "cause" if best else "system", ways[way]
        spots = [f"{LEFT + n * step:.0f} {BASE - cost(n) * unit:.0f}" for n in dragged]
        canvas.edge(f"{way} curve", f"M{'L'.join(spots)}", mark, "w" if best else "")
        y = BASE - cost(now) * unit
        canvas.dot(f"{way} now", x, y, 5 if best else 3, mark)
        low = max(low + 14, y + 4)
        canvas.text(f"{way} line", x + 9, low, way, "b" if best else "q", mark)
    canvas.text("crossing", 0, TOP - 20, said, "q")
    canvas.height = BASE + 24
