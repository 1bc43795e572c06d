"""Charts that make one point each, with labels next to the data and a table of the numbers.

matplotlib is imported only when a chart is drawn. A chart is shown as a picture and as a table, so
that readers who can't see the picture get every number.
"""

from __future__ import annotations

import base64
import io
import math
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from learnkit.core.events import Event
from learnkit.core.token_count import sent
from learnkit.errors import UsageError, lab_extra
from learnkit.runtime.notebook import is_live
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.text import esc

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width of a chart in CSS pixels, and device pixels for each of them.
WIDTH, SHARP = 760, 2
#: Colours of the series, in order. The first one is grey, for the run without the mechanism.
SERIES = ("#9aa0a8", "#6a4fb3", "#2d8691", "#ad7518")
#: Half the width of a 95 % interval, in standard errors.
Z95 = 1.96


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: a picture, and a table with the same numbers.

    Attributes:
        title: the chart's point, as a sentence.
        head: the names of the table's columns.
        rows: the table's rows.
        png: the picture.
        height: the picture's height, in pixels.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    png: bytes
    height: int

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

    def _ipython_display_(self) -> None:
        show = sys.modules["IPython"].display.display
        size = {"width": WIDTH, "height": self.height, "alt": f"{self.title} Numbers: below."}
        data, text = base64.b64encode(self.png).decode(), f"chart: {self.title}"
        if is_live():  # JupyterLab draws a PNG without its alternative text
            attributes = "".join(f' {name}="{esc(value)}"' for name, value in size.items())
            html = f'<img{attributes} src="data:image/png;base64,{data}">'
            show({"text/html": html, "text/plain": text}, raw=True)
        else:
            show({"image/png": data, "text/plain": text}, metadata={"image/png": size}, raw=True)
        table = {"text/html": static.table(self.head, self.rows), "text/plain": str(self)}
        show(table, raw=True)


def compare(results: Mapping[str, Sequence[Any]], measures: Sequence[str], title: str) -> Chart:
    """The mean of some measures over many runs, with a 95 % interval; truth values as shares.

    Args:
        results: label -> runs, such as :class:`learnkit.course.trials.Trial`.
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

    figure = _figure(title, 92 + 34 * len(results))
    for place, measure in enumerate(measures):
        axes = _panel(figure, place, len(measures), 0.16, len(results))
        axes.set_title(measure.replace("_", " "), loc="left", fontsize=9, color=theme.QUIET)
        top = max(sum(values[label, measure]) for label in results)
        top = 1.0 if measure in shares else top or 1.0
        axes.set_xlim(0, top * 1.6)
        for row, (label, colour) in enumerate(zip(results, SERIES * len(results), strict=False)):
            mean, spread = values[label, measure]
            axes.barh(row, mean, height=0.56, color=colour)
            axes.plot([max(0.0, mean - spread), mean + spread], [row, row], color=theme.INK, lw=1)
            end, text = mean + spread + top * 0.06, shown(label, measure)[0]
            axes.text(end, row, text, va="center", fontsize=8.5)
            if place == 0:
                axes.text(-0.06 * top, row, label, va="center", ha="right", fontsize=9)
    runs = sorted({len(runs) for runs in results.values()})
    head = (
        "mean of " + " and ".join(map(str, runs)) + " runs",
        *(m.replace("_", " ") for m in measures),
    )
    rows = tuple(
        (label, *(" ± ".join(shown(label, measure)) for measure in measures)) for label in results
    )
    return _chart(figure, title, head, rows)


def bars(values: Mapping[str, Mapping[str, float]], title: str, unit: str = "") -> Chart:
    """Stacked bars: one bar for each label, one part for each name, on one scale.

    Args:
        values: label -> name of the part -> length.
        title: the message, as a sentence.
        unit: the unit of the lengths.

    Raises:
        UsageError: for nothing to draw, or a length below 0.
    """
    lengths = [length for parts in values.values() for length in parts.values()]
    if not lengths or min(lengths) < 0:
        raise UsageError(f"bars needs lengths from 0 up; it was given {dict(values)}")
    names = list(dict.fromkeys(name for parts in values.values() for name in parts))
    colours = dict(zip(names, SERIES[1:] * len(names), strict=False))
    figure = _figure(title, 108 + 38 * len(values))
    axes = _panel(figure, 0, 1, 0.2, len(values))
    height, x = figure.get_size_inches()[1] * 100, 0.2
    for name in names:
        figure.text(x, 1 - 48 / height, f"■ {name}", fontsize=8.5, color=colours[name])
        x += (len(name) + 5) * 0.0095
    top = max(sum(parts.values()) for parts in values.values()) or 1.0
    axes.set_xlim(0, top * 1.16)
    for row, (label, parts) in enumerate(values.items()):
        start = 0.0
        for name in names:
            length = parts.get(name, 0.0)
            axes.barh(row, length, left=start, height=0.56, color=colours[name])
            if length > top * 0.016 * len(name):
                where = start + length / 2
                axes.text(where, row, name, va="center", ha="center", fontsize=8.5, color="white")
            start += length
        axes.text(start + top * 0.012, row, f"{start:,.0f}", va="center", fontsize=8.5)
        axes.text(-0.015 * top, row, label, va="center", ha="right", fontsize=9)
    head = (unit or "label", *names, "together")
    rows = tuple(
        (
            label,
            *(f"{parts.get(name, 0.0):,.0f}" for name in names),
            f"{sum(parts.values()):,.0f}",
        )
        for label, parts in values.items()
    )
    return _chart(figure, title, head, rows)


def tokens(
    logs: Mapping[str, Iterable[Event]],
    title: str,
    *,
    threshold: int | None = None,
    lane: str = "lead",
) -> Chart:
    """The length of each request, over the turns of one or more runs.

    Args:
        logs: label -> event log.
        title: the message, as a sentence.
        threshold: tokens at which compaction begins, drawn as a line.
        lane: the agent that is followed.

    Raises:
        UsageError: if a run has no reply in that lane.
    """
    series = {label: _lengths(log, lane) for label, log in logs.items()}
    if not series or not all(series.values()):
        raise UsageError(f"tokens needs a log with replies to {lane!r} for each label")
    figure = _figure(title, 300)
    axes = figure.add_axes((0.1, 0.16, 0.74, 0.66))
    colours = SERIES if len(series) > 1 else SERIES[1:]
    for (label, lengths), colour in zip(series.items(), colours * len(series), strict=False):
        turns = range(1, len(lengths) + 1)
        axes.step(turns, lengths, where="mid", color=colour, lw=1.6)
        axes.text(len(lengths) + 0.8, lengths[-1], label, va="center", fontsize=9, color=colour)
    longest = max(map(len, series.values()))
    axes.set_xlim(0.5, longest + 0.5)
    axes.set_ylim(0, max(max(max(one) for one in series.values()), threshold or 0) * 1.08)
    if threshold is not None:
        axes.axhline(threshold, color=theme.QUIET, lw=1, ls=(0, (4, 3)))
        axes.text(longest + 0.8, threshold, "threshold", va="center", fontsize=9, color=theme.QUIET)
    axes.set_xlabel("turn", fontsize=9, color=theme.QUIET)
    axes.set_ylabel("tokens in the request", fontsize=9, color=theme.QUIET)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.tick_params(labelsize=8.5, colors=theme.QUIET, length=3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    head = ("run", "turns", "longest request", "last request", "all requests together")
    rows = tuple(
        (label, *(f"{n:,}" for n in (len(one), max(one), one[-1], sum(one))))
        for label, one in series.items()
    )
    return _chart(figure, title, head, rows)


def _lengths(log: Iterable[Event], lane: str) -> list[int]:
    replies = [e.data for e in log if e.type == "model.replied" and e.lane == lane]
    usages = [one["usage"] for one in replies if "purpose" not in one]  # a summary is no turn
    return [sent(usage) for usage in usages]


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and half the width of its 95 % interval (normal approximation)."""
    return statistics.fmean(values), Z95 * statistics.stdev(values) / math.sqrt(len(values))


def _figure(title: str, height: int) -> Figure:
    with lab_extra():
        from matplotlib.figure import Figure

    figure = Figure((WIDTH / 100, height / 100), dpi=100 * SHARP, facecolor=theme.GROUND)
    figure.text(0.02, 1 - 24 / height, title, fontsize=10.5, weight="bold", color=theme.INK)
    return figure


def _panel(figure: Figure, place: int, panels: int, left: float, rows: int) -> Axes:
    """An empty panel beside the others, for ``rows`` horizontal bars."""
    height = figure.get_size_inches()[1] * 100
    width = (1 - left - 0.02) / panels
    axes = figure.add_axes((left + place * width, 12 / height, width * 0.94, 1 - 74 / height))
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    axes.set_xticks([])
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color(theme.HAIRLINE)
    axes.set_facecolor("none")
    return axes


def _chart(
    figure: Figure, title: str, head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]
) -> Chart:
    with lab_extra():
        from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    file = io.BytesIO()
    figure.savefig(file, format="png", facecolor=theme.GROUND, metadata={"Software": None})
    height = round(figure.get_size_inches()[1] * 100)
    return Chart(title, head, rows, file.getvalue(), height)
