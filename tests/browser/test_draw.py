"""A display list is drawn twice: in the browser by draw.js, and for static pictures in Python.

Both must make the same SVG of a shape; and a diagram that shapes have moved through must look like
one that was painted afresh, with nothing left behind.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lab
import pytest
from every_view import VIEWS
from playwright.sync_api import Page
from workday import ALONE, RACING, TOGETHER, log_of, wordy

import learnkit.widget
from learnkit.events.text import clean
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape

DRAW = Path(learnkit.widget.__file__).parent / "draw.js"
TEXTS = (
    *(
        "",
        "a",
        "oslo: 31.4",
        "&",
        "<b>",
        "'",
        '"',
        "&amp;",
        "</text></svg><script>alert(1)</script>",
    ),
    *('" onload="alert(1)', "<!--", "]]>", "  two  blanks ", "a\nb\tc", "täglich 数据 ✓ ✉\ufe0e 🜁"),
    *("\u202eright\u2066", "\x00\x1b[31m\x7f\x85", "{who}", "`${x}`", "W" * 400, "\\ud800 \\"),
)
STYLES = "mblqhecdwfg"
KEYS = [f"{name} {number}" for name in ("a", "b", "<c>") for number in range(5)]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with lab.browser(900, 800) as one:
        one.set_content("<!doctype html><meta charset=utf-8>")
        one.add_script_tag(content=DRAW.read_text("utf-8").replace("export ", ""))
        yield one


def some_shape(chance: random.Random, key: str) -> Shape:
    """A shape as a canvas makes it, with any of its fields set or left out."""

    def number() -> float:
        return chance.choice([0, 1, -7, 320, 0.04, -0.04, chance.uniform(-900, 9000)])

    def text() -> str:
        return chance.choice(TEXTS) * chance.randint(0, 2) + chance.choice(TEXTS)

    def maybe(value: Any, otherwise: Any = "") -> Any:
        return chance.choice([value, otherwise])

    canvas = Canvas(chance.choice([WIDE, NARROW]))
    style = "".join(chance.sample(STYLES, chance.randint(0, 3)))
    mark = maybe(chance.choice(list(theme.MARKS)))
    told = {"says": maybe(text()), "pair": maybe(text())}
    sent = {"intent": maybe({"do": text(), "n": chance.randint(0, 9)}, None)}
    x, y, width, height = (number() for _ in range(4))
    match chance.choice(["text", "box", "bar", "dot", "edge"]):
        case "text":
            canvas.text(key, x, y, text(), style, mark, width=maybe(abs(width), 0), **told)
        case "box":
            lines = [text() for _ in range(chance.randint(0, 4))]
            canvas.box(key, x, y, width, height, mark, lines, style, **told, **sent)
        case "bar":
            canvas.bar(key, x, y, width, height, mark, style, **told)
        case "dot":
            canvas.dot(key, x, y, abs(width), mark, maybe(text()[:2]), style, **told, **sent)
        case "edge":
            path = maybe(f"M0 0H{width:g}m-8 -4l8 4l-8 4", clean(text()))
            canvas.edge(key, path, mark, style, x=x, y=y, **told)
    return canvas[key]


def of_views(width: float) -> dict[str, list[list[list[str]]]]:
    """The frames of every diagram after each event of a day, as the player gets them."""
    found = {}
    for kind in VIEWS:
        for name, steps in (("alone", ALONE), ("together", TOGETHER), ("race", RACING)):
            for log in (log_of(steps), log_of(wordy(steps))):
                view = kind(log)
                if isinstance(view, Diagram):
                    state, frames = view.init(), []
                    for event in [*log, None]:
                        canvas = view.draw(state, width, 20)
                        frame = [["size", f'["size",{width},{round(canvas.height)}]']]
                        frames.append([*frame, *([one.key, one.wire()] for one in canvas.shapes)])
                        state = view.step(state, event) if event else state
                    found[f"{kind.__name__} {name} {len(found)}"] = frames
    return found


def test_thousands_of_shapes_have_the_same_svg_in_both(page: Page) -> None:
    chance = random.Random(17)
    shapes = [some_shape(chance, key) for key in KEYS for _ in range(250)]
    assert {one.kind for one in shapes} == {"text", "box", "bar", "dot", "edge"}
    drawn = page.evaluate(
        "all => all.map((one) => markup(JSON.parse(one)))", [one.wire() for one in shapes]
    )
    for one, svg in zip(shapes, drawn, strict=True):
        assert svg == one.markup(), one


#: Paints frames one after another, and the last of them afresh; returns where they differ first,
#: and the keys of the shapes as they stand in the page.
PAINT = """(frames) => {
  const painted = (frames) => {
    const diagram = new Diagram();
    for (const frame of frames) diagram.paint(frame);
    for (const shape of diagram.svg.children) shape.classList.remove("new"); // it has just appeared
    return diagram;
  };
  const [moved, afresh] = [painted(frames), painted(frames.slice(-1))];
  const names = new Map([...moved.shapes].map(([key, shape]) => [shape, key]));
  const keys = [...moved.svg.children].map((shape) => names.get(shape) ?? null);
  const pairs = [...moved.svg.children].map((shape, n) => [shape, afresh.svg.children[n]]);
  const odd = pairs.find(([one, other]) => !other || !one.isEqualNode(other));
  const differs = odd?.map((one) => one?.outerHTML ?? null)
    ?? (moved.svg.isEqualNode(afresh.svg) ? null : [moved.svg.outerHTML, afresh.svg.outerHTML]);
  return [differs, keys, moved.shapes.size];
}"""


def same(page: Page, frames: list[list[list[str]]], about: object) -> None:
    differs, keys, held = page.evaluate(PAINT, frames)
    assert differs is None, about
    assert keys == [key for key, _ in frames[-1] if key != "size"], about
    assert held == len(keys), about


def test_after_any_frames_the_diagram_is_that_of_the_last_one(page: Page) -> None:
    chance = random.Random(5)
    for number in range(150):
        frames = []
        for _ in range(chance.randint(2, 8)):
            keys = chance.sample(KEYS, chance.randint(0, len(KEYS)))
            size = [
                "size",
                json.dumps(["size", chance.choice([WIDE, NARROW]), chance.randint(0, 900)]),
            ]
            new = [[key, some_shape(chance, key).wire()] for key in keys]
            kept = dict(map(tuple, frames[-1][1:])) if frames else {}
            half = [
                [key, kept.get(key, wire) if chance.random() < 0.5 else wire] for key, wire in new
            ]
            frames.append([size, *half])
        same(page, frames, number)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_any_way_through_a_view_ends_in_the_same_picture(page: Page, width: float) -> None:
    chance = random.Random(7)
    views = of_views(width)
    assert views
    for name, frames in views.items():
        same(page, frames, name)
        for _ in range(6):
            same(page, [chance.choice(frames) for _ in range(9)], name)
