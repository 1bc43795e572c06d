"""What the explorables' pictures share: their signs, a scale, and the bills of two ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from learnkit.views.drawing.display import Canvas, text_width
from learnkit.views.drawing.plot import short

#: Room for the numbers of a scale, and for the names of curves; the upper edge of bills, and their
#: 0, in pixels.
LEFT, NAMES, TOP, BASE = 38, 88, 52, 236


def signs(canvas: Canvas, y: float, entries: Iterable[tuple[str, str, str]]) -> None:
    """Draw what a picture is made of: a bar, a line, ✗ or a disc's style; its mark; its words."""
    x = 0.0
    for shape, mark, words in entries:
        if shape == "bar":
            canvas.bar(f"sign {words}", x, y - 10, 12, 12, mark, "p")
        elif shape == "line":
            canvas.edge(f"sign {words}", "M0 0V14", mark, "w", x=x + 6, y=y - 11)
        elif shape == "✗":
            canvas.text(f"sign {words}", x + 6, y, shape, "bc", mark)
        else:
            canvas.dot(f"sign {words}", x + 6, y - 4, 6, mark, style=shape)
        canvas.text(f"means {words}", x + 18, y, words, "q")
        x += 34 + text_width(words)


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


def cheapest(ways: Mapping[str, Callable[[int], float]], number: int) -> str:
    """Return the way that costs least for so many."""
    return min(ways, key=lambda way: ways[way](number))


def bills(
    canvas: Canvas,
    ways: Mapping[str, Callable[[int], float]],
    now: int,
    axis: range,
    what: str,
    costs: range,
    said: str,
) -> None:
    """Draw what each way costs in tokens of plain input: heavily as far as it was dragged.

    Args:
        canvas: of the picture, whose height this gives.
        ways: name -> what so many cost.
        now: the number that is dragged.
        axis: the numbers below, the last one at the end.
        what: is counted there.
        costs: the numbers of the scale.
        said: what is so from the number on where the cheaper way changes.
    """
    right, last = canvas.width - NAMES, axis[-1]
    begin = cheapest(ways, 0)
    first = next((n for n in range(last + 1) if cheapest(ways, n) != begin), last + 1)
    unit, step = (BASE - TOP) / costs[-1], (right - LEFT) / last
    canvas.text("bill in", 0, 12, "bill, in tokens of plain input", "b")
    scale(canvas, "bill", costs, BASE, unit, right)
    for number in axis:
        place = LEFT + number * step
        canvas.edge(f"line {number}", f"M{place:g} {BASE}V{BASE + 5}")
        canvas.text(f"tick {number}", place, BASE + 18, str(number), "qc")
    canvas.text("what", right + 18, BASE + 18, what, "q")
    x = LEFT + now * step
    canvas.edge("cause", f"M0 0V{BASE - TOP}", "cause", "d", x=x, y=TOP)
    low = 0.0  # two names never share a line
    for way in sorted(ways, key=lambda way: -ways[way](last)):
        best, cost = way == cheapest(ways, now), ways[way]
        mark = "cause" if best else "system"
        for part, end, style in (("whole", last, "d"), ("curve", now, "w")):
            numbers = [*range(0, end, axis.step // 5), end]
            spots = [f"{LEFT + n * step:.0f} {BASE - cost(n) * unit:.0f}" for n in numbers]
            canvas.edge(f"{way} {part}", f"M{'L'.join(spots)}", mark, style)
        canvas.dot(f"{way} now", x, BASE - cost(now) * unit, 5 if best else 4, mark)
        low = max(low + 15, BASE - cost(last) * unit + 4)
        canvas.text(f"{way} line", right + 9, low, way, "b" if best else "", mark)
    if first <= now:
        x, y = LEFT + first * step, BASE - ways[cheapest(ways, now)](first) * unit
        canvas.edge("from", f"M0 0V{y - TOP + 5:g}", "plain", x=x, y=TOP - 10)
        canvas.dot("crossing", x, y, 5, "plain", style="cg")
        line = f"from {first} {what} on, {said}"
        canvas.text("first", min(x, canvas.width - text_width(line) - 4), TOP - 15, line)
    canvas.height = BASE + 24
