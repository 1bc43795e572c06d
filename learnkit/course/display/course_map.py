"""The map of the course: the loop with its six hooks, and each lesson as a column of dots.

A column leads to its lesson. The links lie over the picture as plain HTML, because JupyterLab keeps
links and their positions also on a page that it doesn't trust, but no SVG.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from learnkit.course.display.loop import HOOKS, LESSONS, alt, draw, stacked
from learnkit.course.progress import LessonProgress
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE, Canvas
from learnkit.views.drawing.text import esc

#: What a lesson's state looks like: the mark of its dots, and what is written before its number.
_LOOKS = {
    "new": (theme.CAUSE.key, ""),
    "begun": (theme.ACTIVE.key, f"{theme.ACTIVE.glyph} "),
    "finished": (theme.DONE.key, f"{theme.DONE.glyph} "),
}
_TITLE = "One loop. Six places to plug into."
_END = "No calls, and no on_stop objects: the text is the answer."
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
    """Return the map as HTML, with its links."""
    canvas, areas = course_map(found)
    wide, high = canvas.width + 2 * _MARGIN, canvas.height + 2 * _MARGIN
    links = "".join(
        f'<a href="{esc(one.file)}" title="{esc(one.says)}" '
        f'style="position:absolute;left:{100 * (one.x + _MARGIN) / wide:.2f}%;'
        f"top:{100 * (one.y + _MARGIN) / high:.2f}%;width:{100 * one.width / wide:.2f}%;"
        f'height:{100 * one.height / high:.2f}%"></a>'
        for one in areas
    )
    style = f"position:relative;max-width:{wide:g}px;line-height:0"
    return f'<div class="lk-map" style="{style}">{canvas.img(alt(None))}{links}</div>'


def course_map(found: Sequence[LessonProgress]) -> tuple[Canvas, list[Area]]:
    """Return the map, and where it leads to which lesson.

    The loop is at the left, the hooks beside it, and each lesson has a column.
    """
    canvas, heights = Canvas(WIDE), stacked(128, 30, 36)
    left, apart, low = 336, 31, heights["results"] + 12
    columns = {one.number: left + (one.number - 2) * apart for one in found if one.number > 1}
    canvas.text("title", 8, 22, _TITLE, "h")
    canvas.text("reads", 8, 42, "Read a column down to see where a lesson hooks in.", "q")
    grid = "".join(f"M{x} 116V{low}" for x in columns.values())
    ends = left - 14, max(columns.values(), default=left) + 14
    grid += "".join(f"M{196 + 7.4 * len(hook):g} {heights[hook]}H{ends[1]}" for hook in HOOKS)
    canvas.edge("grid", grid)
    draw(canvas, heights, 130, 12)
    for name, y in heights.items():
        if name in HOOKS:
            canvas.edge(f"stub {name}", f"M130 {y}H176", "cause", "d")
            canvas.text(f"hook {name}", 182, y - 1, name, "mb")
            canvas.text(f"does {name}", 182, y + 13, HOOKS[name], "q")
        else:
            canvas.text(
                f"node {name}", 114, y + {"messages": 18, "results": -9}.get(name, 4), name, "be"
            )
    canvas.text("end", ends[0], low + 18, _END, "q")
    first = found[: found[0].number == 1]
    areas = [Area(0, 92, 140, low - 80, one.file, _says(one)) for one in first]
    for one in first:
        canvas.text("lesson 1", 8, 108, _label(one))
    for one in (one for one in found if one.number > 1):
        x = columns[one.number]
        canvas.text(f"lesson {one.number}", x + 3, 108, _label(one), "r", width=120)
        for hook in LESSONS[one.number]:
            canvas.dot(f"dot {hook} {one.number}", x, heights[hook], 7, _LOOKS[one.state][0])
        areas.append(Area(x - apart / 2, 92, apart, low - 92, one.file, _says(one)))
    canvas.height = low + 28
    return canvas, areas


def _label(one: LessonProgress) -> str:
    return f"{_LOOKS[one.state][1]}{one.number} {one.lesson.title}"


def _says(one: LessonProgress) -> str:
    does = ", ".join(f"{hook}: {words}" for hook, words in LESSONS[one.number].items())
    return f"lesson {one.number}, {one.lesson.title}: {does or 'the loop itself'}"
