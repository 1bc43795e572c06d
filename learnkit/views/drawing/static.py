"""The static form of a view: what survives on GitHub, nbviewer and in an untrusted notebook.

Those places strip ``<style>``, inline ``<svg>`` and attributes, so that only plain tables and
pictures are left. The picture is an ``<img>``, and a table has everything in it as text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from learnkit.core.text import count, one_line
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import esc

T = TypeVar("T")

#: Bytes a static form may have.
LIMIT = 20_000
#: Width of every static picture, in pixels.
WIDTH = 760

MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif"
#: Width of one character of 12 px text, in pixels: monospaced, and on average in the other font.
COLUMN, NARROW = 7.3, 6.5


@dataclass(slots=True)
class Picture:
    """An SVG that is drawn from the top down, on a light card.

    Attributes:
        alt: what the picture shows, for readers who cannot see it.
        height: pixels used so far.
    """

    alt: str
    height: float = 0
    _body: list[str] = field(default_factory=list)
    _marks: set[str] = field(default_factory=set)

    def text(
        self, x: float, y: float, text: str, style: str = "", width: float = 0, mark: str = ""
    ) -> None:
        """Write one line.

        Args:
            x: where the baseline starts, in pixels.
            y: height of the baseline, in pixels.
            text: raw text; it is made one line, escaped, and cut to ``width``.
            style: CSS classes among ``m`` (monospaced), ``q`` (quiet), ``b`` (bold), ``e`` (ends
                at ``x``).
            width: room in pixels; 0 means up to the right edge.
            mark: key of the theme mark whose colour it takes.
        """
        room = width or WIDTH - x - 16
        each = COLUMN if "m" in style.split() else NARROW
        line = esc(one_line(text, max(int(room / each), 4)))
        self._body.append(f'<text x="{x:g}" y="{y:g}"{self._class(style, mark)}>{line}</text>')

    def left_out(self, x: float, y: float, number: int, what: str, height: float) -> float:
        """Say how many lines are not drawn, if there are any.

        Args:
            x: where the baseline starts, in pixels.
            y: height of the baseline, in pixels.
            number: how many are left out.
            what: the noun, such as ``earlier line``; empty for ``more``.
            height: pixels that the line takes.

        Returns:
            The pixels that were used: 0 if nothing is left out.
        """
        if number <= 0:
            return 0.0
        self.text(x, y, f"… {count(number, what) if what else f'{number} more'} …", "q")
        return height

    def box(self, x: float, y: float, width: float, height: float, mark: str) -> None:
        """Fill a rectangle with a mark's ground.

        Args:
            x: left edge, in pixels.
            y: upper edge, in pixels.
            width: in pixels.
            height: in pixels.
            mark: key of the theme mark.
        """
        shape = f'<rect x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}" rx="3"'
        self._body.append(f"{shape}{self._class('g', mark)}/>")

    def bar(self, x: float, y: float, width: float, height: float, mark: str) -> None:
        """Fill a rectangle with a mark's edge colour: a length, or an edge.

        Args:
            x: left edge, in pixels.
            y: upper edge, in pixels.
            width: in pixels.
            height: in pixels.
            mark: key of the theme mark.
        """
        shape = f'<rect x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}"'
        self._body.append(f"{shape}{self._class('f', mark)}/>")

    def areas(self, d: str, mark: str) -> None:
        """Fill closed paths with a mark's ground: many boxes in few bytes.

        Args:
            d: SVG path data.
            mark: key of the theme mark.
        """
        self._body.append(f'<path d="{d}"{self._class("g", mark)}/>')

    def path(self, d: str, mark: str = "") -> None:
        """Draw a thin line in a mark's edge colour, or as a hairline.

        Args:
            d: SVG path data.
            mark: key of the theme mark; empty for a hairline.
        """
        self._body.append(f'<path d="{d}"{self._class("l", mark)}/>')

    def _class(self, style: str, mark: str) -> str:
        if mark:
            self._marks.add(mark)
        names = " ".join(filter(None, [style, mark]))
        return f' class="{names}"' if names else ""

    def svg(self) -> str:
        """The picture as an SVG document."""
        rules = [
            f"text{{font:12px {SANS};fill:{theme.INK};white-space:pre}}.m{{font-family:{MONO}}}"
            f".b{{font-weight:600}}.e{{text-anchor:end}}path{{fill:none;stroke:{theme.HAIRLINE}}}"
        ]
        for key in sorted(self._marks):
            tone, line = theme.MARKS[key].light, theme.MARKS[key].line
            dash = {"dashed": "4 3", "dotted": "1.5 2.5"}.get(line)
            edge = f"stroke:{tone.edge};stroke-dasharray:{dash}" if dash else ""
            rules.append(
                f"text.{key}{{fill:{tone.fg}}}.g.{key}{{fill:{tone.bg};{edge}}}"
                f".f.{key}{{fill:{tone.edge}}}.l.{key}{{stroke:{tone.edge}}}"
            )
        rules.append(f"text.q{{fill:{theme.QUIET}}}")
        height = round(self.height)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}"><style>{"".join(rules)}</style>'
            f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="6" '
            f'fill="{theme.GROUND}" stroke="{theme.HAIRLINE}"/>{"".join(self._body)}</svg>'
        )

    def img(self) -> str:
        """The picture as an ``<img>`` that needs no other file."""
        data = base64.b64encode(self.svg().encode()).decode()
        return f'<img alt="{esc(self.alt)}" src="data:image/svg+xml;base64,{data}">'


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, before: str = "", after: str = ""
) -> str:
    """A plain table; every cell is escaped. Numbers are aligned to the right.

    Args:
        head: the names of the columns.
        rows: the cells of each row.
        before: a text for a row of its own above the others; empty for none.
        after: a text for a row of its own below the others; empty for none.
    """
    blank = [""] * (len(head) - 1)
    rows = [*([[before, *blank]] if before else []), *rows, *([[after, *blank]] if after else [])]
    cells = "".join(f"<th>{esc(name)}</th>" for name in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td align="right">{one:,}</td>' if isinstance(one, int) else f"<td>{esc(one)}</td>"
            for one in row
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def form(head: str, image: str, facts: str) -> str:
    """Header sentence, picture, and the same facts as tables under a fold.

    Args:
        head: raw text.
        image: the picture as an ``<img>``.
        facts: HTML tables.
    """
    return (
        f"<p><strong>{esc(head)}</strong></p>{image}"
        f"<details><summary>the same as a table</summary>{facts}</details>"
    )


def more(hidden: int, word: str = "more") -> str:
    """How many rows of a table are left out, in words; empty for none.

    Args:
        hidden: how many; 0 or less for none.
        word: such as ``earlier``.
    """
    return f"… {hidden} {word}" if hidden > 0 else ""


def middle_cut(costs: Sequence[int], room: int) -> tuple[int, int]:
    """Choose what to leave out in the middle: the first things get a third of the room.

    Args:
        costs: rows that each thing takes.
        room: rows there are. The last thing is always shown.

    Returns:
        The first one left out, and the first one shown again; equal when everything fits.
    """
    if sum(costs) <= room:
        return len(costs), len(costs)
    first, used = 0, 0
    while used + costs[first] <= room // 3:
        used += costs[first]
        first += 1
    last = len(costs) - 1
    used += costs[last]
    while used + costs[last - 1] <= room:
        last -= 1
        used += costs[last]
    return (first, last) if first < last else (last, last)


@dataclass(frozen=True, slots=True)
class Gap:
    """What was left out of a list.

    Attributes:
        hidden: how many things.
    """

    hidden: int


def cut(things: Sequence[T], room: int, costs: Sequence[int] | None = None) -> list[T | Gap]:
    """The things that fit, with one gap in place of those that don't.

    Args:
        things: in order.
        room: rows there are.
        costs: rows that each thing takes; None means one each.
    """
    first, last = middle_cut(costs or [1] * len(things), room)
    gap = [Gap(last - first)] if first < last else []
    return [*things[:first], *gap, *things[last:]]
