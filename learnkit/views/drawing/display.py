"""The display list: a diagram as keyed shapes with positions, worked out once.

A view puts shapes on a :class:`Canvas`. The player gets them as JSON and draws them in the browser
with ``draw.js``: a shape that keeps its key moves to its new place. The static form is the same
shapes drawn here. Both make the same SVG of a shape, which a test compares.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

from learnkit.errors import UsageError
from learnkit.events.text import clean, columns, count, one_line
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import esc

#: The widths that a diagram is laid out for, in pixels: a page, and what is left of the 360 of a
#: phone. A living player may ask for any from the narrow one to the widest.
WIDE, NARROW, WIDEST = 720, 320, 1060
#: Width of one character of 12 px text, in pixels: monospaced, bold, and on average otherwise.
_MONO, _BOLD, _PLAIN = 7.3, 7.0, 6.5
#: Where the lines of text in a box stand, in pixels from its corner, and from line to line.
_INSET, _FIRST, _LEADING = 8, 17, 16

MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif"

#: How shapes look, for the player and for static pictures; the colours of the marks come with them.
RULES = (
    f"text{{font:12px {SANS};fill:var(--lk-ink);white-space:pre}}.m text{{font-family:{MONO}}}"
    ".b text,.box text:first-of-type{font-weight:600}.l text{font-weight:400!important}"
    ".q text{fill:var(--lk-quiet)}.e text{text-anchor:end}.c text{text-anchor:middle}"
    ".h text{font-size:13px;font-weight:600}"
    ".box rect,.dot.g circle{fill:var(--lk-ground);stroke:var(--lk-line);"
    "stroke-width:1.5}"
    ".bar rect,.dot circle{fill:var(--lk-line)}"
    ".text:not(.n) text{paint-order:stroke;stroke:var(--lk-ground);stroke-width:4px}"
    ".edge path{fill:none;stroke:var(--lk-line);stroke-width:1.5}.w path{stroke-width:2.5}"
    ".i path,.dot.i circle{stroke:var(--lk-ink)}.dot.w circle{stroke-width:2.5}"
    ".d path,.d rect{stroke-dasharray:4 3}.f path{stroke:none;fill:var(--lk-line)}"
    ".text.s text{transform:rotate(-38deg)}.dot.v circle{opacity:.5}"
)


@dataclass(frozen=True, slots=True)
class Shape:
    """One thing in a diagram.

    Attributes:
        key: its name, unique in the diagram; what keeps its key moves, instead of being replaced.
        kind: ``box`` (with lines of text), ``bar`` (a length), ``dot``, ``text`` or ``edge``.
        x: left edge, the centre of a dot, or where a text begins; in pixels.
        y: upper edge, the centre of a dot, or the baseline of a text; in pixels.
        width: in pixels; the radius of a dot.
        height: in pixels.
        mark: key of the mark in the theme whose colours it has; empty for plain ink.
        style: letters: ``m`` monospaced, ``b`` bold, ``l`` not bold, ``q`` quiet, ``h`` a heading,
            ``e`` ends at x, ``c`` is centred on x, ``d`` dashed, ``w`` a heavy line, ``i`` a line
            of ink, ``f`` a filled path, ``g`` an outlined disc, ``p`` a pale bar with an edge,
            ``n`` no margin around a text, ``o`` a text that stands on a box of its mark, ``s`` a
            slanted text, ``v`` a disc at half strength.
        lines: the text of a text (one), of a box (any), of a dot (one, in its centre).
        path: SVG path data of an edge, relative to x and y.
        says: what a reader hears, and sees when pointing at it; it can be reached by keyboard then.
        pair: names, separated by blanks; shapes that share one are marked together.
        intent: what a press sends to Python; empty for nothing.
    """

    key: str
    kind: str
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    mark: str = ""
    style: str = ""
    lines: tuple[str, ...] = ()
    path: str = ""
    says: str = ""
    pair: str = ""
    intent: str = ""

    def wire(self) -> str:
        """The shape without its key as JSON for the player: a list that ends with what is set."""
        fields: list[Any] = [self.kind, self.x, self.y, self.width, self.height, self.mark]
        fields += [self.style, list(self.lines), self.path, self.says, self.pair, self.intent]
        while not fields[-1]:
            fields.pop()
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    def markup(self, *, static: bool = False) -> str:
        """The shape as SVG."""
        names = " ".join(filter(None, [self.kind, *self.style, self.mark and f"k-{self.mark}"]))
        place = f' transform="translate({self.x:g} {self.y:g})"' if self.x or self.y else ""
        start, inside = f'<g class="{names}"{place}', self._inside()
        if static:
            return f"{start}>{inside}</g>"
        if self.pair:
            start += f' data-pair="{esc(self.pair)}"'
        if self.intent:
            start += f' data-intent="{html.escape(self.intent)}"'  # Python gets it as it was
        if not self.says:
            return f"{start}>{inside}</g>"
        role = "button" if self.intent else "img"
        start += f' tabindex="0" role="{role}" aria-label="{esc(self.says)}"'
        return f"{start}><title>{esc(self.says)}</title>{inside}</g>"

    def _inside(self) -> str:
        if self.kind == "edge":
            return f'<path d="{esc(self.path)}"/>'
        if self.kind == "text":
            return f"<text>{esc(''.join(self.lines[:1]))}</text>"
        if self.kind == "dot":
            text = "".join(f'<text y="4">{esc(line)}</text>' for line in self.lines[:1])
            return f'<circle r="{self.width:g}"/>{text}'
        corner = ' rx="3"' if self.kind == "box" else ""
        rect = f'<rect width="{self.width:g}" height="{self.height:g}"{corner}/>'
        return rect + "".join(
            f'<text x="{_INSET}" y="{_FIRST + number * _LEADING}">{esc(line)}</text>'
            for number, line in enumerate(self.lines)
        )


class Link(TypedDict, total=False):
    """What a reader gets from a shape besides its looks.

    Attributes:
        says: as for :class:`Shape`.
        pair: as for :class:`Shape`.
        intent: JSON-ready; what a press sends to Python.
    """

    says: str
    pair: str
    intent: object


@dataclass(slots=True)
class Canvas:
    """Shapes in the order in which they are painted.

    Attributes:
        width: in pixels, from :data:`NARROW` to :data:`WIDEST`.
        height: pixels that are used so far.
    """

    width: float = WIDE
    height: float = 0
    _shapes: dict[str, Shape] = field(default_factory=dict)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """What was drawn, in order."""
        return tuple(self._shapes.values())

    def __getitem__(self, key: str) -> Shape:
        return self._shapes[key]

    def __contains__(self, key: object) -> bool:
        return key in self._shapes

    def text(
        self,
        key: str,
        x: float,
        y: float,
        text: str,
        style: str = "",
        mark: str = "",
        *,
        width: float = 0,
        **link: Unpack[Link],
    ) -> None:
        """Write one line."""
        if not width:
            middle = 2 * min(x, self.width - x)
            width = x if "e" in style else middle if "c" in style else self.width - x
        lines = (fitting(text, width, style),)
        self._put("text", key, (x, y, 0, 0), mark, style, lines, **link)

    def rows(
        self,
        key: str,
        x: float,
        y: float,
        lines: Iterable[str],
        style: str = "",
        mark: str = "",
        each: float = _LEADING,
        says: str = "",
    ) -> float:
        """Write lines below each other, the first at y; return where one more would stand."""
        for number, line in enumerate(lines):
            self.text(f"{key} {number}", x, y, line, style, mark, says=says * (not number))
            y += each
        return y

    def box(
        self,
        key: str,
        x: float,
        y: float,
        width: float,
        height: float,
        mark: str = "",
        lines: Iterable[str] = (),
        style: str = "",
        **link: Unpack[Link],
    ) -> None:
        """Draw a box with lines of text, the first of them bold."""
        bold, room = "" if "l" in style else "b", width - 2 * _INSET
        fits = tuple(fitting(one, room, style + bold * (not n)) for n, one in enumerate(lines))
        self._put("box", key, (x, y, width, height), mark, style, fits, **link)

    def bar(
        self,
        key: str,
        x: float,
        y: float,
        width: float,
        height: float,
        mark: str = "",
        style: str = "",
        **link: Unpack[Link],
    ) -> None:
        """Fill a rectangle: a length."""
        self._put("bar", key, (x, y, width, height), mark, style, **link)

    def dot(
        self,
        key: str,
        x: float,
        y: float,
        radius: float = 6,
        mark: str = "",
        glyph: str = "",
        style: str = "c",
        **link: Unpack[Link],
    ) -> None:
        """Draw a disc, with a character in it."""
        lines = (clean(glyph),) if glyph else ()
        self._put("dot", key, (x, y, radius, 0), mark, style + "g" * bool(glyph), lines, **link)
        self.height = max(self.height, y + radius)

    def edge(
        self,
        key: str,
        path: str,
        mark: str = "",
        style: str = "",
        *,
        x: float = 0,
        y: float = 0,
        **link: Unpack[Link],
    ) -> None:
        """Draw a line."""
        self._put("edge", key, (x, y, 0, 0), mark, style, (), path, **link)

    def _put(
        self,
        kind: str,
        key: str,
        place: tuple[float, float, float, float],
        mark: str,
        style: str,
        lines: tuple[str, ...] = (),
        path: str = "",
        **link: Unpack[Link],
    ) -> None:
        x, y, width, height = map(_round, place)
        says, pair, intent = link.get("says", ""), link.get("pair", ""), link.get("intent")
        sent = "" if intent is None else json.dumps(intent, ensure_ascii=False)
        told = clean(says), clean(pair), sent
        if key in self._shapes:
            raise UsageError(f"two shapes have the key {key!r}; keys name one shape each")
        self._shapes[key] = Shape(key, kind, x, y, width, height, mark, style, lines, path, *told)
        self.height = max(self.height, y + height)

    def left_out(self, key: str, x: float, y: float, number: int, what: str = "") -> bool:
        """Say how many things are not drawn, if there are any; tell whether it was said."""
        if number > 0:
            said = count(number, what) if what else f"{number} more"
            self.text(key, x, y, f"… {said} …", "q", says=f"{said} left out")
        return number > 0

    def frame(self) -> dict[str, str]:
        """The diagram for the player: its size under the key ``size``, then each shape's JSON."""
        size = json.dumps(["size", self.width, _round(self.height)], separators=(",", ":"))
        return {"@/size": size, **{f"@/{one.key}": one.wire() for one in self.shapes}}

    def svg(self, margin: float = 0) -> str:
        """The diagram as an SVG document, light or dark as the reader's system is.

        An ``<img>`` sees no colours of the page around it, so it brings a ground of its own.
        """
        body = "".join(shape.markup(static=True) for shape in self.shapes)
        style = f"<style>{sheet(self.marks)}</style>"
        return _svg(self.width, self.height, style, body, margin=margin)

    def inline(self, alt: str) -> str:
        """The diagram as a part of an open notebook, light or dark as JupyterLab is."""
        light, dark, rules = _looks(self.marks)
        style = f".lk-inline{{{light}{rules}}}[data-jp-theme-light=false] .lk-inline{{{dark}}}"
        body = "".join(replace(shape, pair="", intent="").markup() for shape in self.shapes)
        role = "group" if any(shape.says for shape in self.shapes) else "img"
        label = f' role="{role}" aria-label="{esc(alt)}"'
        svg = _svg(self.width, self.height, "", body, label)
        return f'<style>{style}</style><div class="lk-inline">{svg}</div>'

    @property
    def marks(self) -> set[str]:
        """The keys of the marks that its shapes have."""
        return {shape.mark for shape in self.shapes}

    def img(self, alt: str, margin: float = 8) -> str:
        """The diagram as an ``<img>`` that needs no other file."""
        return f'<img alt="{esc(alt)}" src="{self.uri(margin)}">'

    def uri(self, margin: float = 8) -> str:
        """The diagram as the address of a picture."""
        data = base64.b64encode(self.svg(margin).encode()).decode()
        return f"data:image/svg+xml;base64,{data}"


def sheet(marks: Iterable[str], dark: str = "(prefers-color-scheme:dark)") -> str:
    """The style sheet of a document of shapes, in whose dark media they are dark."""
    on_light, on_dark, looks = _looks(marks)
    return f":root{{{on_light}}}@media{dark}{{:root{{{on_dark}}}}}{looks}"


def _looks(marks: Iterable[str]) -> tuple[str, str, str]:
    """Colours on a light page, on a dark one, and the rules that use them."""
    keys = sorted(set(marks) - {""})
    light, dark = theme.variables("light", keys), theme.variables("dark", keys)
    return light, dark, RULES + theme.rules(keys)


def _svg(
    width: float, height: float, style: str, body: str, label: str = "", margin: float = 0
) -> str:
    wide, tall = width + 2 * margin, _round(height + 2 * margin)
    corner = f' x="{-margin:g}" y="{-margin:g}"' if margin else ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{0 - margin:g} {0 - margin:g} {wide:g} {tall:g}" '
        f'width="{wide:g}" height="{tall:g}"{label}>{style}'
        f'<rect{corner} width="{wide:g}" height="{tall:g}" rx="6" '
        f'style="fill:var(--lk-ground)"/>{body}</svg>'
    )


def fitting(text: str, width: float, style: str = "") -> str:
    """A text on one line, cut to what fits; monospaced, it keeps its indentation."""
    limit = max(int(width / _each(style)), 3)
    if "m" in style and (indent := _indent(text, limit)):
        return indent + fitting(text.lstrip(" "), width - text_width(indent, style), style)
    line = one_line(text, limit)
    words, blank, rest = line.rpartition(" ")
    if not blank or len(rest) > limit / 3 or line == one_line(text, limit + 1):
        return line
    return f"{words}…"  # cut between two words, because little is lost by it


def _indent(text: str, limit: int) -> str:
    """The blanks that a line of code begins with, at most half of the room; none if it is blank."""
    blanks = len(text) - len(text.lstrip(" "))
    return " " * min(blanks, limit // 2) if blanks < len(text) else ""


def text_width(text: str, style: str = "") -> float:
    """About how wide a text of one line is, in pixels."""
    return columns(text) * _each(style)


def _each(style: str) -> float:
    """The width of a character, in pixels."""
    each = _MONO if "m" in style else _BOLD if "b" in style else _PLAIN
    return _BOLD * 13 / 12 if "h" in style else each


def wrapped(text: str, width: float, style: str = "", most: int = 3) -> list[str]:
    """A text on several lines, between words; the last one is cut to what fits."""
    if "m" in style and (indent := _indent(text, int(width / _each(style)))):
        room = width - text_width(indent, style)
        return [indent + line for line in wrapped(text.lstrip(" "), room, style, most)]
    lines: list[str] = []
    rest = one_line(text, 2000)
    while rest and len(lines) < most - 1:
        line = fitting(rest, width, style)
        if line == rest:
            break
        head = line.removesuffix("…").rstrip()
        if rest[len(head)] != " ":  # in the middle of a word
            head = head.rpartition(" ")[0] or head
        lines.append(head)
        rest = rest[len(head) :].lstrip()
    return [*lines, fitting(rest, width, style)] if rest else lines


def _round(number: float) -> float:
    rounded = round(number, 1)
    return int(rounded) if rounded == int(rounded) else rounded
