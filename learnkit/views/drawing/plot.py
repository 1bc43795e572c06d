"""What diagrams with a scale share: its round marks, short numbers, and a legend."""

from __future__ import annotations

from collections.abc import Iterable

from learnkit.views.drawing.display import Canvas

#: Width of one character of a legend, in pixels.
_CHARACTER = 6.5
#: The key of the mark of each swatch, and its words.
Entries = Iterable[tuple[str, str]]


def ticks_of(scale: int) -> list[int]:
    """The marks of a scale: round numbers, at most five steps."""
    step = next(s for p in range(12) for s in (10**p, 2 * 10**p, 5 * 10**p) if scale / s <= 5)
    return list(range(0, scale + 1, step))


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
