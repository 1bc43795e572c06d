"""The map of the course: the loop with its six hooks, and each mechanism where it hooks in.

Every mechanism is a link to its lesson. The links lie over the picture as plain HTML, because
JupyterLab keeps links and their positions also on a page that it doesn't trust, but no SVG.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from learnkit.course.display.loop import HOOKS, LESSONS, WORDS, alt
from learnkit.course.progress import LessonProgress
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import NARROW, WIDE, Canvas
from learnkit.views.drawing.text import esc

#: What a lesson's state looks like: the mark and the glyph of its boxes.
_LOOKS = {
    "new": (theme.CAUSE.key, ""),
    "begun": (theme.ACTIVE.key, f"{theme.ACTIVE.glyph} "),
    "finished": (theme.DONE.key, f"{theme.DONE.glyph} "),
}
#: Height of a link, and the room around it, in pixels.
_HIGH, _GAP = 28, 6
#: Pixels that a letter of a link takes, and its two margins.
_LETTER, _INSETS = 7.2, 18
#: The loop from top to bottom: what is done, and the hooks that are asked between.
_ORDER = (
    *("prompt", "system", "messages", "before_model", "tools", "model", "reply", "on_stop"),
    *("refuse", "run", "after_tools", "results"),
)
#: The columns of the wide form, in pixels: the loop's boxes, the hooks, the links.
_NODE, _HOOK, _LINK = (40, 150), (222, 134), (368, WIDE - 376)
#: Where the line through the loop runs, and the one that leads back.
_SPINE, _BACK = 115, 18


@dataclass(frozen=True, slots=True)
class Area:
    """A place in the picture that leads to a lesson; in pixels."""

    x: float
    y: float
    width: float
    height: float
    file: str
    says: str


def course_map(found: Sequence[LessonProgress], width: float = WIDE) -> tuple[Canvas, list[Area]]:
    """Return the map, and where it leads to which lesson."""
    drawing: _Drawing = _Wide(found) if width >= 560 else _Narrow(found)
    drawing.draw()
    return drawing.canvas, drawing.areas


def as_html(found: Sequence[LessonProgress], width: float = WIDE, *, live: bool = False) -> str:
    """Return the map as HTML, with its links."""
    canvas, areas = course_map(found, width)
    said, margin = alt(None), 0 if live else _MARGIN
    picture = canvas.inline(said) if live else canvas.img(said)
    wide, high = canvas.width + 2 * margin, canvas.height + 2 * margin
    links = "".join(
        f'<a href="{esc(one.file)}" title="{esc(one.says)}" '
        f'style="position:absolute;left:{100 * (one.x + margin) / wide:.2f}%;'
        f"top:{100 * (one.y + margin) / high:.2f}%;width:{100 * one.width / wide:.2f}%;"
        f'height:{100 * one.height / high:.2f}%"></a>'
        for one in areas
    )
    whole = "<style>.lk-map svg{display:block;max-width:100%;height:auto}</style>" if live else ""
    style = f"position:relative;max-width:{wide:g}px;line-height:0"
    return f'{whole}<div class="lk-map" style="{style}">{picture}{links}</div>'


def write(folder: Path, found: Sequence[LessonProgress]) -> None:
    """Write the map for the README, wide and for phones; GitHub has no links in a picture."""
    for name, width in (("loop.svg", WIDE), ("loop-narrow.svg", NARROW)):
        canvas, _ = course_map(found, width)
        (folder / name).write_text(canvas.svg() + "\n", "utf-8")


#: Pixels around a picture that is an ``<img>``; see :meth:`Canvas.img`.
_MARGIN = 8


class _Drawing(ABC):
    """A canvas, the links on it, and what both layouts draw alike."""

    def __init__(self, found: Sequence[LessonProgress], width: float) -> None:
        self.canvas, self.areas = Canvas(width), list[Area]()
        self.lessons: Mapping[int, LessonProgress] = {one.number: one for one in found}

    @abstractmethod
    def draw(self) -> None:
        """Put everything on the canvas."""

    def node(self, name: str, x: float, y: float, width: float) -> float:
        """A box of the loop; returns its lower edge."""
        lines = WORDS[name]
        high = 28 if len(lines) == 1 else 44
        self.canvas.box(f"box {name}", x, y, width, high, "system", lines)
        return y + high

    def hook(self, name: str, x: float, y: float, width: float) -> float:
        """A hook's box; returns its lower edge."""
        self.canvas.box(f"hook {name}", x, y, width, 40, "", [name, HOOKS[name]], "d")
        return y + 40

    def links(self, numbers: Sequence[int], x: float, y: float, width: float, hook: str) -> float:
        """A link for each lesson, in lines; returns the lower edge of the last one."""
        left = x
        for number in numbers:
            text, size = self.label(number)
            if left > x and left + size > x + width:
                left, y = x, y + _HIGH + _GAP
            self.link(number, text, (left, y, size), hook)
            left += size + _GAP
        return y + _HIGH

    def label(self, number: int) -> tuple[str, float]:
        """What is written on a lesson's links, and how wide that is."""
        one = self.lessons[number]
        text = f"{_LOOKS[one.state][1]}{number} {one.lesson.title}"
        return text, _INSETS + _LETTER * len(text)

    def link(self, number: int, text: str, place: tuple[float, float, float], hook: str) -> None:
        """One link: a box with the lesson's name."""
        one, (x, y, size) = self.lessons[number], place
        does = LESSONS[number].get(hook, "the loop itself")
        says = f"lesson {number}, {one.lesson.title}: {does}"
        mark = _LOOKS[one.state][0]
        self.canvas.box(f"link {hook} {number}", x, y, size, _HIGH, mark, [text], "l")
        self.areas.append(Area(x, y, size, _HIGH, one.file, says))

    def using(self, hook: str) -> list[int]:
        """The lessons whose mechanisms use a hook, of those that there are."""
        return [n for n, hooks in LESSONS.items() if hook in hooks and n in self.lessons]

    def way(self, key: str, path: str, style: str = "w") -> None:
        """A line of the loop."""
        self.canvas.edge(f"way {key}", path, "system" if style == "w" else "", style)


class _Wide(_Drawing):
    """The loop at the left, from top to bottom; each hook at the height where it is asked."""

    def __init__(self, found: Sequence[LessonProgress]) -> None:
        super().__init__(found, WIDE)

    def draw(self) -> None:
        rows = dict(self._rows())
        middle = {hook: top + 20 for hook, (top, _) in rows.items()}
        boxes = dict(self._boxes(middle))
        first, last = boxes["prompt"][1], boxes["results"][0]
        self.way("down", f"M{_SPINE} {first}V{last}m-4 -7l4 7l4 -7")
        corner = boxes["messages"][0] + 22
        self.way("back", f"M{_NODE[0]} {last + 22}H{_BACK}V{corner}H{_NODE[0]}m-7 -4l7 4l-7 4")
        edge = _NODE[0] + _NODE[1]
        for hook, (top, _) in rows.items():
            if hook != "on_stop":
                self.way(hook, f"M{_SPINE} {middle[hook]}H{_HOOK[0]}", "d")
            self.hook(hook, _HOOK[0], top, _HOOK[1])
        self.way("no", f"M{edge} {middle['on_stop']}H{_HOOK[0]}")
        self.canvas.text("said no", edge + 8, middle["on_stop"] - 6, "no", "b")
        self.canvas.text("said yes", _SPINE + 8, boxes["reply"][1] + 16, "yes", "b")
        for name, (top, _) in boxes.items():
            self.node(name, _NODE[0], top, _NODE[1])
        left, top = WIDE - 104, middle["on_stop"] - 14
        self.way("end", f"M{_HOOK[0] + _HOOK[1]} {middle['on_stop']}H{left}m-7 -4l7 4l-7 4")
        self.node("answer", left, top, 96)
        for hook, (top, _) in rows.items():
            self._row(hook, top)
        if 1 in self.lessons:
            text, size = self.label(1)
            self.link(1, text, (_NODE[0], boxes["results"][1] + 14, size), "loop")
        self.canvas.height += 12

    def _rows(self) -> Iterator[tuple[str, tuple[float, float]]]:
        """Each hook's upper and lower edge."""
        top = 28.0
        for hook in (one for one in _ORDER if one in HOOKS):
            trial = _Wide(list(self.lessons.values()))
            low = max(trial._row(hook, top), top + 40)
            yield hook, (top, low)
            top = low + 14

    def _row(self, hook: str, top: float) -> float:
        """A hook's links, in the middle of its height or below; returns the lower edge."""
        left, width = _LINK
        width -= 110 if hook == "on_stop" else 0
        return self.links(self.using(hook), left, top + 6, width, hook)

    def _boxes(self, middle: Mapping[str, float]) -> Iterator[tuple[str, tuple[float, float]]]:
        """Each box's upper and lower edge: below the hook that is asked before it."""
        before = {"messages": "system", "model": "tools", "run": "refuse", "results": "after_tools"}
        yield "prompt", (8, 36)
        for name in ("messages", "model", "reply", "run", "results"):
            high = 28 if len(WORDS[name]) == 1 else 44
            top = middle["on_stop"] - 14 if name == "reply" else middle[before[name]] + 12
            yield name, (top, top + high)


class _Narrow(_Drawing):
    """Everything in one column: the links of a hook stand below it."""

    def __init__(self, found: Sequence[LessonProgress]) -> None:
        super().__init__(found, NARROW)

    def draw(self) -> None:
        spine, left, width = 40, 60, NARROW - 68
        # The line is painted first, so it has to be known where it ends.
        trial = _Narrow(list(self.lessons.values()))
        places = trial._column(left, width)
        self.way("down", f"M{spine} {places['prompt']}V{places['results']}m-4 -7l4 7l4 -7")
        back, end = places["messages"] + 22, places["results"] + 22
        self.way("back", f"M24 {end}H10V{back}H24m-7 -4l7 4l-7 4")
        for hook in HOOKS:
            if hook != "on_stop":
                self.way(hook, f"M{spine} {places[hook] + 20}H{left}", "d")
        reply = places["reply"] + 14
        self.way("end", f"M164 {reply}H216m-7 -4l7 4l-7 4")
        self.way("on_stop", f"M190 {reply}V{places['on_stop']}", "d")
        self.canvas.text("said no", 174, reply - 6, "no", "b")
        self.canvas.text("said yes", 14, reply + 34, "yes", "b")
        self.node("answer", 216, places["reply"], 96)
        self._column(left, width)
        self.canvas.height += 12

    def _column(self, left: float, width: float) -> dict[str, float]:
        """Boxes, hooks and links; returns where each box and each hook begins."""
        places, top = dict[str, float](), 8.0
        for name in _ORDER:
            places[name] = top
            if name in WORDS:
                top = self.node(name, 24, top, 140) + 14
            else:
                low = self.hook(name, left, top, width)
                top = self.links(self.using(name), left, low + _GAP, width, name) + 14
        if 1 in self.lessons:
            text, size = self.label(1)
            self.link(1, text, (24, top, size), "loop")
        return places
