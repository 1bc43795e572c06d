"""Explorables in a browser: without a kernel, with one that stands in for it, and in JupyterLab.

After any moves the picture, its texts and what a screen reader hears are those that Python gives
for the same values.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lab
import pytest
from alone import WIDGET, give, open_widget
from explorables import NAMES, all_places, explorable
from playwright.sync_api import Locator, Page, expect

from learnkit.views.drawing.display import NARROW, RULES, WIDE
from learnkit.widget import frozen
from learnkit.widget.explore import Explorable

#: Whether the diagram is an SVG of these shapes; what has just appeared counts as any other.
SAME = """(host, svg) => {
  const template = document.createElement("template");
  template.innerHTML = svg;
  const shown = host.shadowRoot.querySelector(".diagram").cloneNode(true);
  for (const shape of shown.children) shape.classList.remove("new");
  const [mine, its] = [[...template.content.firstElementChild.children], [...shown.children]];
  return mine.length === its.length && mine.every((one, n) => one.isEqualNode(its[n]));
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with lab.browser(900, 900) as one:
        one.emulate_media(reduced_motion="reduce")
        yield one


def look(host: Locator) -> tuple[str, str, str]:
    """The texts around a picture: finding, why, and what is assumed."""
    found: list[str] = host.locator("p").all_text_contents()
    return found[0], found[1], found[2]


def check(host: Locator, shown: Explorable, places: dict[str, int], width: float) -> None:
    """The page shows Python's answer to these values."""
    answer = shown.answer(places, width)
    expect(host.locator(".head")).to_have_text(answer.finding)
    said = (answer.finding, answer.because, answer.assumes)
    assert look(host) == said, places
    shapes = "".join(shape.markup() for shape in answer.canvas.shapes)
    assert host.evaluate(SAME, f'<svg xmlns="http://www.w3.org/2000/svg">{shapes}</svg>'), places
    cause, *choice = shown.controls
    label = shown.controls[cause].labels[places[cause]]
    slider = host.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == f"{label}. {answer.finding}"
    assert slider.input_value() == str(places[cause])
    assert host.locator("output").inner_text() == label
    for name in choice:
        pressed = host.locator("[aria-pressed=true]").all_text_contents()
        assert pressed == [shown.controls[name].labels[places[name]]]


def move(host: Locator, shown: Explorable, chance: random.Random, places: dict[str, int]) -> None:
    """Change something as a reader does, in one of the ways there are."""
    cause, *choice = shown.controls
    last, slider = len(shown.controls[cause].values) - 1, host.get_by_role("slider")
    way = chance.choice(["drag", "less", "more", "left", "right", "first", "last", *choice * 2])
    match way:
        case "drag":
            places[cause] = chance.randint(0, last)
            slider.fill(str(places[cause]))
        case "less" | "more":
            host.get_by_role("button", name=f": {way}").click()
            places[cause] += 1 if way == "more" else -1
        case "left" | "right":
            slider.press(f"Arrow{way.title()}")
            places[cause] += 1 if way == "right" else -1
        case "first" | "last":
            slider.press("Home" if way == "first" else "End")
            places[cause] = 0 if way == "first" else last
        case name:
            places[name] = chance.randrange(len(shown.controls[name].values))
            host.get_by_role("group").get_by_role("button").nth(places[name]).click()
    places[cause] = max(0, min(places[cause], last))


@pytest.mark.parametrize("name", NAMES)
def test_without_a_kernel_any_moves_end_in_pythons_picture(
    page: Page, tmp_path: Path, name: str
) -> None:
    shown, chance = explorable(name), random.Random(int(name[1:]))
    file = tmp_path / "page.html"
    tape = frozen.framed(shown.html(), shown.tape())
    file.write_text(frozen.page(name, f"<main><h1>{name}</h1>{tape}</main>"), "utf-8")
    for window, width in ((900, WIDE), (360, NARROW)):
        page.set_viewport_size({"width": window, "height": 900})
        page.goto(file.as_uri())
        host, places = page.locator(".learnkit-explorer"), dict(shown.start)
        expect(host.locator(".diagram")).to_have_attribute("width", str(width))
        check(host, shown, places, width)
        for _ in range(12):
            move(host, shown, chance, places)
            check(host, shown, places, width)
    assert page.errors == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("frame", [360, 720, 1058])
def test_a_picture_fills_its_frame_and_its_axis_has_the_sliders_ends(
    page: Page, name: str, frame: int
) -> None:
    shown = explorable(name)
    host = open_with_kernel(page, shown, frame + 16)  # the body has a margin of 8
    width = int(found[-1]["width"]) if (found := asked(page)) else WIDE
    cause, *_ = shown.controls
    last = len(shown.controls[cause].values) - 1
    for place in (0, last // 3, last):
        places = {**shown.start, cause: place}
        give(page, shown.message(places, width))
        slider, picture, head = (
            host.locator(one).evaluate(BOX) for one in ("input", ".explored svg", ".head")
        )
        assert picture["left"] == head["left"] + head["pad"], "one left edge"
        assert frame - 36 <= picture["width"] <= frame - 8
        assert picture["right"] == pytest.approx(head["right"] - head["pad"], abs=1)
        host.get_by_role("slider").fill(str(place))
        if (axis := shown.answer(places, width).axis) and axis[1] == axis[3]:
            share = place / last
            thumb = slider["left"] + 8 + (slider["width"] - 16) * share
            mark = picture["left"] + picture["width"] / width * (
                axis[0] + (axis[2] - axis[0]) * share
            )
            assert thumb == pytest.approx(mark, abs=0.6), place
            assert abs(slider["top"] + 22 - picture["bottom"]) < 40


BOX = """(one) => {
  const { left, right, top, bottom, width } = one.getBoundingClientRect();
  return { left, right, top, bottom, width, pad: parseFloat(getComputedStyle(one).paddingLeft) };
}"""
#: Those whose picture can be dragged.
GRABBED = [name for name in NAMES if explorable(name).answer(explorable(name).start).axis]


@pytest.mark.parametrize("name", GRABBED)
def test_what_the_picture_shows_of_the_cause_can_be_dragged(
    page: Page, tmp_path: Path, name: str
) -> None:
    shown = explorable(name)
    (tmp_path / "page.html").write_text(
        frozen.page(name, frozen.framed(shown.html(), shown.tape())), "utf-8"
    )
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto((tmp_path / "page.html").as_uri())
    host, places = page.locator(".learnkit-explorer"), dict(shown.start)
    expect(host.locator(".explored")).to_have_css("cursor", "grab")
    cause, *_ = shown.controls
    last = len(shown.controls[cause].values) - 1
    box = host.locator("svg.diagram").bounding_box()
    assert box
    for step, place in enumerate((places[cause], last // 2, last, 0)):
        x, y, u, v = shown.answer(places, WIDE).axis or (0, 0, 0, 0)
        share, scale = place / last, box["width"] / WIDE
        spot = x + (u - x) * share + (0 if x != u else WIDE / 4), y + (v - y) * share
        page.mouse.move(box["x"] + spot[0] * scale, box["y"] + spot[1] * scale)
        if not step:
            page.mouse.down()
        places[cause] = place
        check(host, shown, places, WIDE)
    page.mouse.up()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 9)
    page.keyboard.press("ArrowRight")  # the slider has the focus
    check(host, shown, {**places, cause: 1}, WIDE)


def open_with_kernel(page: Page, shown: Explorable, window: int = 770) -> Locator:
    """An explorable on an empty page, as a notebook would make it; 770 are room for 720."""
    page.set_viewport_size({"width": window, "height": 900})
    css = RULES + "".join((WIDGET / name).read_text() for name in ("player.css", "explore.css"))
    traits = {"controls": shown.looks(), "start": shown.message(shown.start)}
    open_widget(page, "draw.js", "parts.js", "explore.js", css=css, **traits)
    # What it asks for first depends on the room it has; here there is enough.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page.locator(".learnkit-explorer")


def asked(page: Page) -> list[Any]:
    """What the kernel was asked since the last time."""
    found: list[Any] = page.evaluate("() => window.sent.splice(0)")
    return found


def asked_in_a_window(page: Page, width: int) -> Any:
    """The one thing that the kernel is asked when the window gets another width."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function("() => window.sent.length")
    (message,) = asked(page)
    return message


def test_a_drag_during_an_answer_asks_only_for_the_newest(page: Page) -> None:
    shown = explorable("s08")
    host = open_with_kernel(page, shown)
    cause, choice = shown.controls
    assert asked(page) == []  # the first picture came with the page
    slider = host.get_by_role("slider")
    for value in (3, 5, 9, 2):
        slider.fill(str(value))
    first = {**shown.start, cause: 3}
    assert asked(page) == [{"places": first, "width": WIDE}]
    give(page, {"something": "else"})
    assert asked(page) == []
    give(page, shown.message(first))
    newest = {**shown.start, cause: 2}
    assert asked(page) == [{"places": newest, "width": WIDE}]
    give(page, shown.message(newest))
    check(host, shown, newest, WIDE)
    assert asked(page) == []
    other = (shown.start[choice] + 1) % len(shown.controls[choice].values)
    host.get_by_role("group").get_by_role("button").nth(other).click()
    assert asked(page) == [{"places": {**newest, choice: other}, "width": WIDE}]
    give(page, shown.message({**newest, choice: other}))
    check(host, shown, {**newest, choice: other}, WIDE)


def test_another_room_is_another_width_and_too_little_cuts_nothing_off(page: Page) -> None:
    shown = explorable("s06")
    host = open_with_kernel(page, shown)
    message = asked_in_a_window(page, 610)
    assert message["places"] == shown.start
    assert NARROW < message["width"] < 610
    assert message["width"] % 10 == 0
    give(page, shown.message(shown.start, message["width"]))
    check(host, shown, shown.start, message["width"])
    message = asked_in_a_window(page, 270)
    assert message["width"] == NARROW
    give(page, shown.message(shown.start, NARROW))
    svg = host.locator("svg.diagram")
    box, around = svg.bounding_box(), host.locator(".explored").bounding_box()
    assert box is not None
    assert around is not None
    assert box["x"] + box["width"] <= around["x"] + around["width"] <= 270
    drawn = shown.answer(shown.start, NARROW).canvas
    assert box["width"] / NARROW == pytest.approx(box["height"] / drawn.height, rel=0.02)


def test_when_the_kernel_is_gone_or_raises_it_says_so(page: Page) -> None:
    shown = explorable("s06")
    host = open_with_kernel(page, shown)
    (cause,) = shown.controls
    slider, head = host.get_by_role("slider"), host.locator(".head")
    slider.fill("1")
    give(page, {"failed": "ValueError: <b>no</b>"})
    expect(head).to_have_text("ValueError: <b>no</b>")
    asked(page)
    slider.fill("2")
    assert asked(page) == [{"places": {cause: 2}, "width": WIDE}]  # it goes on
    give(page, shown.message({cause: 2}))
    check(host, shown, {cause: 2}, WIDE)
    page.evaluate("() => { window.alive = false }")
    slider.fill("3")
    expect(head).to_have_text("The kernel behind this picture is gone; run its cell again.")
    page.evaluate("() => window.close()")
    assert page.evaluate("() => window.listeners()") == 0
    assert page.errors == []  # type: ignore[attr-defined]


def test_targets_are_large_and_a_picture_keeps_its_height(page: Page) -> None:
    shown = explorable("s06")
    for window, least in ((770, 32), (360, 44)):
        host = open_with_kernel(page, shown, window)
        for one in host.locator("button, input").all():
            box = one.bounding_box()
            assert box
            assert box["width"] >= least, one
            assert box["height"] >= least, one
    host, heights = open_with_kernel(page, shown), []
    states = all_places(shown)
    tallest = max(states, key=lambda places: shown.answer(places).canvas.height)
    for places in (tallest, states[0], states[-1]):
        give(page, shown.message(places))
        heights.append(host.locator(".picture").evaluate("one => one.offsetHeight"))
    assert len(set(heights)) == 1


@pytest.fixture(scope="module")
def notebook(notebooks: Path, server: str, page: Page) -> lab.Notebook:
    cells = ["from learnkit import lesson\nlesson('s06').explore()"]
    lab.write_notebook(notebooks / "explore.ipynb", cells)
    one = lab.Notebook(page, server, "explore.ipynb")
    one.run_all()
    return one


def test_in_jupyterlab_it_answers_a_drag(notebook: lab.Notebook, shots: Path) -> None:
    shown = explorable("s06")
    (cause,) = shown.controls
    host = notebook.output(0).locator(".learnkit-explorer")
    expect(host.locator(".head")).to_have_text(shown.answer(shown.start).finding)
    for value in [*range(len(shown.controls[cause].values)), 3]:
        host.get_by_role("slider").fill(str(value))
        width = host.locator(".diagram").evaluate("one => one.width.baseVal.value")
        check(host, shown, {cause: value}, width)
    host.get_by_role("slider").focus()
    notebook.page.keyboard.press("ArrowRight")  # JupyterLab would go to the next cell
    expect(host.locator("output")).to_have_text(shown.controls[cause].labels[4])
    notebook.shoot(0, shots / "explore")
