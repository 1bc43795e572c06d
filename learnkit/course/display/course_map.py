"""The map of the course: the loop with its six hooks, and each lesson as a column of dots.

A column leads to its lesson. The links lie over the picture as plain HTML, because JupyterLab keeps
links and their positions also on a page that it doesn't trust, but no SVG.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnkit.course.display.loop import LESSONS, WIDTHS, alt, draw, fitted
from learnkit.course.progress import LessonProgress
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE, Canvas
from learnkit.views.drawing.text import esc

#: What a lesson's state looks like: the mark of its dots, and what is written before its number.
_LOOKS = {
    "new": (theme.CAUSE.key, ""),
    "begun": (theme.ACTIVE.key, theme.ACTIVE.glyph),
    "finished": (theme.DONE.key, theme.DONE.glyph),
}
#: Pixels around a picture that is an ``<img>``; see :meth:`Canvas.img`.
_MARGIN = 8


@dataclass(frozen=True, slots=True)
class Area:
    """A place in the picture that leads to a lesson; in pixels."""

    x: float
    y: float
    width: float
    height: float
    file: str
    says: str


def as_html(found: Sequence[LessonProgress]) -> str:
    """Return the map as HTML, with its links, for each width."""
    return f'<div class="lk-map">{fitted({width: _linked(found, width) for width in WIDTHS})}</div>'


def _linked(found: Sequence[LessonProgress], width: float) -> str:
    canvas, areas = course_map(found, width)
    wide, high = canvas.width + 2 * _MARGIN, canvas.height + 2 * _MARGIN
    links = "".join(
        f'<a href="{esc(one.file)}" title="{esc(one.says)}" '
        f'style="position:absolute;left:{100 * (one.x + _MARGIN) / wide:.2f}%;'
        f"top:{100 * (one.y + _MARGIN) / high:.2f}%;width:{100 * one.width / wide:.2f}%;"
        f'height:{100 * one.height / high:.2f}%"></a>'
        for one in areas
    )
    return f'<div style="position:relative;line-height:0">{canvas.img(alt(None))}{links}</div>'


def course_map(found: Sequence[LessonProgress], width: float = WIDE) -> tuple[Canvas, list[Area]]:
    """Return the map, and where it leads to which lesson."""
    labels = {one.number: f"{_LOOKS[one.state][1]} {one.number}".strip() for one in found}
    looks = {one.number: (_LOOKS[one.state][0], "") for one in found}
    canvas, columns = draw(width, 0, labels, looks)
    top = 50
    places = {1: (0, min(140, *(x for x, _ in columns.values()))), **columns}
    areas = [
        Area(
            places[one.number][0],
            top,
            places[one.number][1],
            canvas.height - top,
            one.file,
            _says(one),
        )
        for one in found
    ]
    return canvas, areas


def _says(one: LessonProgress) -> str:
    does = ", ".join(f"{hook}: {words}" for hook, words in LESSONS[one.number].items())
    return f"lesson {one.number}, {one.lesson.title}: {does or 'the loop itself'}"
