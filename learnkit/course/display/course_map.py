"""The map of the course: the loop with its six hooks, and each lesson as a column of dots.

A column leads to its lesson. The links lie over the picture as plain HTML, because JupyterLab keeps
links and their positions also on a page that it doesn't trust, but no SVG.
"""

from __future__ import annotations

from collections.abc import Sequence

from learnkit.course.display.loop import WIDTHS, Place, alt, draw, fitted
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


def as_html(found: Sequence[LessonProgress]) -> str:
    """Return the map as HTML, with its links, for each width."""
    return f'<div class="lk-map">{fitted({width: _linked(found, width) for width in WIDTHS})}</div>'


def _linked(found: Sequence[LessonProgress], width: float) -> str:
    canvas, places = course_map(found, width)

    def link(one: LessonProgress) -> str:
        x, y, wide, high = places[one.number]
        across = f"left:{100 * x / width:.2f}%;width:{100 * wide / width:.2f}%"
        down = f"top:{100 * y / canvas.height:.2f}%;height:{100 * high / canvas.height:.2f}%"
        place = f"position:absolute;{across};{down}"
        return f'<a href="{esc(one.file)}" title="{esc(_says(one))}" style="{place}"></a>'

    links = "".join(map(link, found))
    return (
        f'<div style="position:relative;line-height:0">{canvas.img(alt(0), margin=0)}{links}</div>'
    )


def course_map(found: Sequence[LessonProgress], width: float) -> tuple[Canvas, dict[int, Place]]:
    """Return the map, and the place of each lesson in it."""
    looks = {one.number: _LOOKS[one.state] for one in found}
    return draw(width, {n: (glyph, mark, "") for n, (mark, glyph) in looks.items()})


def _says(one: LessonProgress) -> str:
    does = ", ".join(f"{hook}: {words}" for hook, words in one.lesson.hooks.items())
    return f"lesson {one.number}, {one.lesson.title}: {does or 'the loop itself'}"
