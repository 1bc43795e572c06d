"""The map of the course: the loop with its six hooks, and each lesson as a column of dots.

A column leads to its lesson. The links lie over the picture as plain HTML, because JupyterLab keeps
links and their positions also on a page that it doesn't trust, but no SVG.
"""

from __future__ import annotations

from collections.abc import Sequence

from learnkit.course.display.loop import WIDTHS, alt, draw, fitted
from learnkit.course.progress import LessonProgress
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.text import esc

#: What a lesson's state looks like: the mark of its dots, and what is written before its number.
_LOOKS = {
    "new": (theme.CAUSE.key, ""),
    "begun": (theme.ACTIVE.key, f"{theme.ACTIVE.glyph} "),
    "finished": (theme.DONE.key, f"{theme.DONE.glyph} "),
}
#: Pixels around a picture that is an ``<img>``, see :meth:`Canvas.img`; and above the links.
_MARGIN, _TOP = 8, 50


def as_html(found: Sequence[LessonProgress]) -> str:
    """Return the map as HTML, with its links, for each width."""
    return f'<div class="lk-map">{fitted({width: _linked(found, width) for width in WIDTHS})}</div>'


def _linked(found: Sequence[LessonProgress], width: float) -> str:
    canvas, columns = course_map(found, width)
    wide, high = width + 2 * _MARGIN, canvas.height + 2 * _MARGIN
    down = f"top:{100 * (_TOP + _MARGIN) / high:.2f}%;height:{100 * (high - _TOP) / high:.2f}%"
    links = "".join(
        f'<a href="{esc(one.file)}" title="{esc(_says(one))}" style="position:absolute;{down};'
        f'left:{100 * (x + _MARGIN) / wide:.2f}%;width:{100 * room / wide:.2f}%"></a>'
        for one in found
        for x, room in [columns.get(one.number, (0, 140 if width > 400 else 30))]
    )
    return f'<div style="position:relative;line-height:0">{canvas.img(alt(0))}{links}</div>'


def course_map(
    found: Sequence[LessonProgress], width: float
) -> tuple[Canvas, dict[int, tuple[float, float]]]:
    """Return the map, and where each lesson's column begins and how wide it is."""
    looks = {one.number: _LOOKS[one.state] for one in found}
    return draw(width, {n: (glyph, mark, "") for n, (mark, glyph) in looks.items()})


def _says(one: LessonProgress) -> str:
    does = ", ".join(f"{hook}: {words}" for hook, words in one.lesson.hooks.items())
    return f"lesson {one.number}, {one.lesson.title}: {does or 'the loop itself'}"
