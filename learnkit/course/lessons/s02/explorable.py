"""Lesson 2's explorable: where a path leads, and which tools can reach the file.

The file tools follow a path to its end and check whether that is in the workspace. bash checks
nothing.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from learnkit.runtime.workspace import NAME
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

WITH, WITHOUT = "with bash", "without bash"
FILE_TOOLS, BASH = ("read_file", "write_file", "edit_file"), "bash"
#: The workspace, a file beside it, and what is in it; the link's value is where it points.
HOME = "/data"
ROOT = f"{HOME}/work"
SECRET = f"{HOME}/secret.txt"
LINKS = {f"{ROOT}/link": "../secret.txt"}
INSIDE = ("notes.txt", "docs/", "docs/plan.md", "link")
#: The paths that a model writes.
PATHS = (
    "notes.txt",
    "docs/plan.md",
    "docs/../notes.txt",
    f"{NAME}/notes.txt",
    "../secret.txt",
    "docs/../../secret.txt",
    SECRET,
    "link",
)
REACHES, REFUSED, ESCAPES, ABSENT = "reaches it", "refused", "escapes", "absent"
_TOP, _ROW, _TOOL = 50, 24, 40


@dataclass(frozen=True, slots=True)
class Way:
    """Where a path leads.

    Attributes:
        end: the file, as an absolute path without links.
        link: the link that it goes through; empty for none.
        is_inside: whether the file is in the workspace.
    """

    end: str
    link: str
    is_inside: bool


def way(path: str) -> Way:
    """Follow a path from the workspace, step by step, as the system does."""
    if path.startswith(f"{NAME}/"):
        path = f"{ROOT}{path.removeprefix(NAME)}"
    link = ""
    steps = posixpath.join(ROOT, path).split("/")[1:]
    place = "/"
    while steps:
        place = posixpath.normpath(posixpath.join(place, steps.pop(0)))
        if place in LINKS:
            link = place
            place, steps = posixpath.dirname(place), [*LINKS[place].split("/"), *steps]
    return Way(place, link, place.startswith(f"{ROOT}/"))


def outcomes(path: str, tools: str) -> dict[str, str]:
    """What becomes of a call of each tool with a path."""
    is_inside = way(path).is_inside
    files = dict.fromkeys(FILE_TOOLS, REACHES if is_inside else REFUSED)
    bash = ABSENT if tools == WITHOUT else REACHES if is_inside else ESCAPES
    return {**files, BASH: bash}


def draw(width: float, path: str, tools: str) -> Answer:
    """The tools, the check that three of them pass through, and the files."""
    canvas, led = Canvas(width), way(path)
    wide = 100.0 if width < 560 else 150.0
    left = 148.0 if width < 560 else width * 0.5
    gate = round((wide + left) / 2)
    canvas.text("path", 0, 16, path, "mb", "cause", width=width * 0.55)
    canvas.text("check", gate, _TOP - 12, "in the workspace?", "qc")
    rows = _files(canvas, left, width, led)
    place, edge = rows[led.end], left + (12 if led.is_inside else 4)
    middle = _TOP + 1.5 * _TOOL + 6
    for number, (tool, outcome) in enumerate(outcomes(path, tools).items()):
        y, mark = _TOP + (_TOOL + 6) * number, _MARKS[outcome][0]
        lines = (tool, f"{_MARKS[outcome][1]} {outcome}")
        canvas.box(f"tool {tool}", 0, y, wide, _TOOL, mark, lines, says=f"{tool}: {outcome}")
        start = wide
        if tool != BASH:
            canvas.edge(f"to {tool}", f"M0 0H{gate - 5 - start:g}", mark, "w", x=start, y=y + 20)
        elif outcome != ABSENT:
            _arrow(canvas, "past", (start, y + 20), gate + 8 - start, (edge, place + 4), mark)
    mark, glyph = _MARKS[REACHES if led.is_inside else REFUSED]
    canvas.bar("gate", gate - 5, _TOP, 10, 3 * _TOOL + 12, mark, "p")
    if led.is_inside:
        _arrow(canvas, "through", (gate + 5, middle), 0, (edge, place - 4), mark)
    canvas.dot("verdict", gate, middle, 9, mark, glyph)
    assumes = (
        f"the workspace is {ROOT}, which the model knows as {NAME}; beside it is "
        f"{posixpath.basename(SECRET)}; {_links()}; bash runs in no sandbox, and your account may "
        "read and write all of these files"
    )
    return Answer(_finding(path, led, tools), canvas, assumes, _because(path, led))


def _arrow(
    canvas: Canvas,
    key: str,
    start: tuple[float, float],
    straight: float,
    end: tuple[float, float],
    mark: str,
) -> None:
    """An arrow that goes straight on for some pixels before it bends."""
    x, y = round(end[0] - start[0] - straight), round(end[1] - start[1])
    path = f"M0 0h{straight:g}c{x / 2:g} 0 {x / 2:g} {y} {x} {y}m-7 -4l7 4l-7 4"
    canvas.edge(key, path, mark, "w", x=start[0], y=start[1])


def _files(canvas: Canvas, left: float, right: float, led: Way) -> dict[str, float]:
    """The folders; the middle of each file's row."""
    low = _TOP + 2 * _ROW + 4
    tall = _ROW * (len(INSIDE) + 1) + 4
    canvas.box("home", left, _TOP, right - left, 2 * _ROW + tall + 12, "", [HOME])
    inside = f"{posixpath.basename(ROOT)}/ = {NAME}"
    canvas.box("work", left + 8, low, right - left - 16, tall, "", [inside])
    rows = {SECRET: _TOP + _ROW * 1.5}
    for number, name in enumerate(INSIDE, start=1):
        rows[f"{ROOT}/{name}"] = low + _ROW * (number + 0.5)
    for place, y in rows.items():
        path = place.removeprefix(f"{ROOT}/")
        name = posixpath.basename(path.rstrip("/")) + path[len(path.rstrip("/")) :]
        if place in LINKS:
            name += f" → {LINKS[place]}"
        edge = 4 + 8 * (path != place)
        chosen = "cause" if place in (led.end, led.link) else ""
        if chosen:
            style = "p" if place == led.end else "pd"
            wide = right - left - 2 * edge
            canvas.bar(f"bar {place}", left + edge, y - 10, wide, 20, "cause", style)
        x = left + edge + 8 + 10 * path.rstrip("/").count("/") * (path != place)
        style = "n" if chosen else ""
        canvas.text(place, x, y + 4, name, style, chosen, width=right - edge - x)
    return rows


def _links() -> str:
    return ", ".join(f"{posixpath.basename(at)} points to {to}" for at, to in LINKS.items())


def _finding(path: str, led: Way, tools: str) -> str:
    if led.is_inside:
        every = "every tool reaches it" if tools == WITH else "the file tools reach it"
        return f"{path} is in the workspace: {every}."
    return f"{path} leads out: {'only bash reaches it' if tools == WITH else 'no tool reaches it'}."


def _because(path: str, led: Way) -> str:
    if led.link:
        return f"The link is in the workspace, but it points to {led.end}."
    if path.startswith(NAME):
        return f"The model knows the workspace as {NAME}."
    if path.startswith("/"):
        return "An absolute path starts at the top of the file system, not in the workspace."
    if ".." in path:
        return f"“..” means one folder up, so the path ends at {led.end}."
    return f"A relative path starts in the workspace; this one ends at {led.end}."


_MARKS = {
    REACHES: ("done", "✓"),
    REFUSED: ("blocked", "⊘"),
    ESCAPES: ("failed", "✗"),
    ABSENT: ("idle", "◌"),
}


def explorable() -> Explorable:
    """Choose a path for the model to send, with and without bash."""
    path = drag(PATHS, "../secret.txt", "path")
    return explore(draw, path=path, tools=pick([WITH, WITHOUT], label="tools"))
