"""What diagrams with a scale share: its round marks, bars, short numbers, and a legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from learnkit.views.drawing.display import Canvas, fitting, text_width

#: Width of one character of a legend, in pixels.
_CHARACTER = 6.5
#: The key of the mark of each swatch, and its words.
Entries = Iterable[tuple[str, str]]


def ticks_of(scale: int) -> list[int]:
    """The marks of a scale: round numbers, at most five steps."""
    step = next(s for p in range(12) for s in (10**p, 2 * 10**p, 5 * 10**p) if scale / s <= 5)
    return list(range(0, scale + 1, step))


#: A part of a bar: its key, its mark, how many tokens it has, and the same in words.
Part = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars of tokens on one scale, with labels at their left and an axis below.

    Attributes:
        canvas: what they are drawn on.
        scale: the tokens of a full length.
        right: pixels that are kept beside that, for numbers and more.
    """

    canvas: Canvas
    scale: int
    right: float = 60

    @property
    def left(self) -> float:
        """Where bars begin, in pixels."""
        return min(176.0, 0.38 * self.canvas.width)

    def length(self, value: float) -> float:
        """The length of a value, in pixels."""
        return (self.canvas.width - self.left - self.right) * value / self.scale

    def axis(self, top: float, low: float) -> None:
        """Draw round marks as lines from top to low, and their numbers below."""
        marks = ticks_of(self.scale)
        for tick in marks[:: 1 + (self.length(marks[1]) < 34)]:
            x = self.left + self.length(tick)
            said = short(tick) if self.canvas.width < 480 else f"{tick:,}"
            self.canvas.edge(f"tick {tick}", f"M0 0V{low - top:g}", x=x, y=top)
            self.canvas.text(f"at {tick}", x, low + 15, said, "qc", width=60)
        self.canvas.text("unit", self.left - 12, low + 15, "≈ tokens", "qe")

    def row(self, key: str, y: float, parts: Iterable[Part], pale: bool = False) -> float:
        """Draw parts as one bar below y, with their sum at its end; return where that ends."""
        x, total = self.left, 0
        for name, mark, tokens, words in parts:
            wide = self.length(tokens)
            self.canvas.bar(name, x, y, max(wide - 1, 0.6), 22, mark, "p" * pale, says=words)
            x, total = x + wide, total + tokens
        self.canvas.text(f"tokens {key}", x + 6, y + 16, f"≈{total:,}", width=self.right)
        return x + 6 + text_width(f"≈{total:,}")

    def label(self, key: str, x: float, y: float, lines: Sequence[str], says: str = "") -> None:
        """Write at most two lines at the left of a bar."""
        fits = [fitting(line, self.left - x - 10) for line in lines]
        self.canvas.rows(key, x, y + 22 - 7 * len(fits), fits, each=14, says=says)


def short(number: int) -> str:
    """A number for an axis or a narrow label: ``900``, ``1.2k``, ``100k``, ``1.5M``."""
    if number < 1000:
        return str(number)
    if number >= 1_000_000:
        return f"{f'{number / 1e6:.1f}'.removesuffix('.0')}M"
    thousands = f"{number / 1000:.1f}" if number < 100_000 else f"{number / 1000:.0f}"
    return f"{thousands.removesuffix('.0')}k"


def legend(canvas: Canvas, x: float, y: float, entries: Entries, style: str = "") -> float:
    """Draw swatches with their words, in as many lines as they need."""
    at = x
    for key, words in entries:
        swatch = 16 * bool(key)
        room = swatch + _CHARACTER * len(words)
        if at > x and at + room > canvas.width:
            at, y = x, y + 18
        name = f"{key} {words}" if f"legend {key}" in canvas else key  # two may share a colour
        if key:
            canvas.bar(f"swatch {name}", at, y + 4, 10, 10, key, style)
        canvas.text(f"legend {name}", at + swatch, y + 13, words, "q")
        at += room + 18
    return y + 20
