"""Charts that make one point each, with labels next to the data and a table of the numbers.

A chart is shown as a picture and as a table, so that readers who can't see the picture get every
number.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from learnkit.core.token_count import sent
from learnkit.errors import UsageError
from learnkit.events.log import Event
from learnkit.runtime.notebook import is_live
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import legend, short, ticks_of
from learnkit.views.drawing.text import scale_of

#: Half the width of a 95 % interval, in standard errors.
Z95 = 1.96
#: In pixels: the room for a label and for a number, and from one bar to the next.
_LABEL, _NUMBER, _LINE = 130, 58, 30
#: The shortest line for an interval, in pixels: a shorter one would read as a minus sign.
_SEEN = 6
#: Parts that have the colours of the cache, as in all pictures of it.
_PARTS = {mark.word: mark for mark in (theme.CACHED, theme.FRESH, theme.OUTPUT)}
_PARTS["written to it"] = theme.FRESH


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: a picture, and a table with the same numbers.

    Attributes:
        title: the chart's point, as a sentence.
        head: the names of the table's columns.
        rows: the table's rows.
        canvas: the picture.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    canvas: Canvas

    def __str__(self) -> str:
        table = [self.head, *self.rows]
        widths = [max(len(row[place]) for row in table) for place in range(len(self.head))]
        lines = [
            "  ".join(
                cell.rjust(width) if place else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        return "\n".join([self.title, *lines])

    __repr__ = __str__

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        alt = f"{self.title} The numbers are in the table below."
        image = self.canvas.inline(alt) if is_live() else self.canvas.img(alt)
        table = static.table(self.head, self.rows)
        # Narrow pages scroll it: shrunk to their width, its letters could not be read.
        wide = f'<div style="overflow-x:auto"><div style="min-width:34rem">{image}</div></div>'
        return {"text/html": static.form(self.title, wide, table), "text/plain": str(self)}


def compare(results: Mapping[str, Sequence[Any]], measures: Sequence[str], title: str) -> Chart:
    """The mean of some measures over many runs, with a 95 % interval; truth values as shares.

    Args:
        results: label -> runs, such as :class:`learnkit.course.trials.Trial`. The first label is
            what the others are compared with.
        measures: names of attributes of the runs.
        title: the message, as a sentence.

    Raises:
        UsageError: for a label with fewer than two runs, or no measure.
    """
    if not measures or not all(len(runs) > 1 for runs in results.values()):
        raise UsageError("compare needs a measure, and at least two runs for each label")
    values = {
        (label, measure): _mean([getattr(run, measure) for run in runs])
        for label, runs in results.items()
        for measure in measures
    }
    shares = {m for m in measures if isinstance(getattr(next(iter(results.values()))[0], m), bool)}

    def shown(label: str, measure: str) -> tuple[str, str]:
        mean, spread = values[label, measure]
        if measure in shares:
            return f"{100 * mean:.0f} %", f"{100 * spread:.0f}"
        places = 0 if mean >= 100 else 1 if mean >= 10 else 2
        return f"{mean:,.{places}f}", f"{spread:,.{places}f}"

    canvas, names = Canvas(), [measure.replace("_", " ") for measure in measures]
    panel = (canvas.width - _LABEL) / len(measures)
    for place, measure in enumerate(measures):
        x = _LABEL + place * panel
        canvas.text(f"name {measure}", x, 14, names[place], "q", width=panel)
        canvas.edge(f"zero {measure}", f"M0 22v{_LINE * len(results):g}", x=x)
        top = max(sum(values[label, measure]) for label in results)
        scale = (panel - _NUMBER - 8) / (1.0 if measure in shares else top or 1.0)
        for row, label in enumerate(results):
            mean, spread = values[label, measure]
            key, y = f"{label} {measure}", 26 + row * _LINE
            canvas.bar(f"bar {key}", x, y, scale * mean, 20, _series(row).key)
            low, high = max(0.0, mean - spread), mean + spread
            seen = scale * (high - low) >= _SEEN
            if seen:
                path = f"M0 0H{scale * (high - low):.1f}M0 -4v8M{scale * (high - low):.1f} -4v8"
                canvas.edge(f"interval {key}", path, "", "i", x=x + scale * low, y=y + 10)
            end = x + scale * (high if seen else mean) + 6
            canvas.text(f"number {key}", end, y + 14, shown(label, measure)[0], width=_NUMBER)
            if place == 0:
                canvas.text(f"label {label}", _LABEL - 8, y + 14, label, "e", width=_LABEL - 8)
    canvas.height = 30 + _LINE * len(results)
    if any(one.key.startswith("interval ") for one in canvas.shapes):
        canvas.text("method", _LABEL, canvas.height + 12, "├─┤ 95 % interval of the mean", "q")
        canvas.height += 22
    runs = sorted({len(runs) for runs in results.values()})
    head = (f"mean of {' and '.join(map(str, runs))} runs", *names)
    rows = tuple((label, *(" ± ".join(shown(label, m)) for m in measures)) for label in results)
    return Chart(title, head, rows, canvas)


def bars(values: Mapping[str, Mapping[str, float]], title: str, unit: str = "") -> Chart:
    """Stacked bars: one bar for each label, one part for each name, on one scale.

    Args:
        values: label -> name of the part -> length. Parts of a request that are called as in the
            pictures of the cache (``from the cache``, ``written to it``, ``new or rewritten``,
            ``output``) have the same colours as there.
        title: the message, as a sentence.
        unit: the unit of the lengths.

    Raises:
        UsageError: for nothing to draw, or a length below 0.
    """
    lengths = [length for parts in values.values() for length in parts.values()]
    if not lengths or min(lengths) < 0:
        raise UsageError(f"bars needs lengths from 0 up; it was given {dict(values)}")
    names = list(dict.fromkeys(name for parts in values.values() for name in parts))
    others = iter([theme.CAUSE, theme.PLAIN, *theme.AGENTS[2:]] * len(names))
    marks = {name: _PARTS.get(name) or next(others) for name in names}
    canvas = Canvas()
    y = legend(canvas, _LABEL, 0, [(marks[name].key, name) for name in names]) + 8
    top = max(sum(parts.values()) for parts in values.values()) or 1.0
    totals = {label: f"{sum(parts.values()):,.0f}" for label, parts in values.items()}
    scale = (canvas.width - _LABEL - _NUMBER - 8) / top
    for label, parts in values.items():
        x = float(_LABEL)
        canvas.text(f"label {label}", x - 8, y + 14, label, "e", width=_LABEL - 8)
        for name in names:
            length = scale * parts.get(name, 0.0)
            canvas.bar(f"bar {label} {name}", x, y, length, 20, marks[name].key)
            x += length
        canvas.text(f"number {label}", x + 6, y + 14, totals[label], width=_NUMBER)
        y += _LINE
    canvas.edge("zero", f"M0 0v{_LINE * len(values):g}", x=_LABEL, y=y - _LINE * len(values) - 4)
    canvas.height = y
    head = (unit or "label", *names, "together")
    rows = tuple(
        (label, *(f"{parts.get(name, 0.0):,.0f}" for name in names), totals[label])
        for label, parts in values.items()
    )
    return Chart(title, head, rows, canvas)


def tokens(
    logs: Mapping[str, Iterable[Event]],
    title: str,
    *,
    threshold: int | None = None,
    lane: str = "lead",
) -> Chart:
    """The length of each request, over the turns of one or more runs.

    Args:
        logs: label -> event log. Of several the first is what the others are compared with.
        title: the message, as a sentence.
        threshold: tokens at which compaction begins, drawn as a line.
        lane: the agent that is followed.

    Raises:
        UsageError: if a run has no reply in that lane.
    """
    series = {label: _lengths(log, lane) for label, log in logs.items()}
    if not series or not all(series.values()):
        raise UsageError(f"tokens needs a log with replies to {lane!r} for each label")
    canvas, left, top, height = Canvas(), 48.0, 40.0, 190.0
    base, room = top + height, canvas.width - left - _LABEL
    scale = scale_of(max(threshold or 0, *map(max, series.values())))
    longest = max(map(len, series.values()))
    canvas.text("unit", 0, 12, "tokens in the request", "q")
    for tick in ticks_of(scale):
        y = base - height * tick / scale
        canvas.text(f"tick {tick}", left - 8, y + 4, short(tick), "q e")
        canvas.edge(f"line {tick}", f"M0 0H{room:g}", x=left, y=y)
    if threshold is not None:
        y = base - height * threshold / scale
        canvas.edge("threshold", f"M0 0H{room:g}", theme.ERROR.key, "d", x=left, y=y)
        canvas.text("threshold is", left + 4, y - 5, f"threshold {threshold:,}", "", "error")
    for row, (label, lengths) in enumerate(series.items()):
        mark = _series(row + (len(series) == 1)).key
        heights = [base - height * one / scale for one in lengths]
        each = room / longest
        path = "".join(f"V{y:.1f}h{each:.2f}" for y in heights[1:])
        path = f"M0 {heights[0]:.1f}h{each:.2f}{path}"
        canvas.edge(f"run {label}", path, mark, "w", x=left)
        x = left + each * len(lengths) + 6
        canvas.text(f"label {label}", x, heights[-1] + 4, label, "", mark)
    canvas.text("first", left, base + 16, "turn 1", "q")
    canvas.text("last", left + room, base + 16, f"{longest}", "q e")
    canvas.height = base + 24
    head = ("run", "turns", "longest request", "last request", "all requests together")
    rows = tuple(
        (label, *(f"{n:,}" for n in (len(one), max(one), one[-1], sum(one))))
        for label, one in series.items()
    )
    return Chart(title, head, rows, canvas)


def _series(row: int) -> theme.Mark:
    """The colours of a row: the first is what the others are compared with."""
    return theme.CAUSE if row else theme.PLAIN


def _lengths(log: Iterable[Event], lane: str) -> list[int]:
    replies = [e.data for e in log if e.type == "model.replied" and e.lane == lane]
    usages = [one["usage"] for one in replies if "purpose" not in one]  # a summary is no turn
    return [sent(usage) for usage in usages]


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval (normal approximation)."""
    return statistics.fmean(values), Z95 * statistics.stdev(values) / math.sqrt(len(values))
