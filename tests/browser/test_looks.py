"""Every view and explorable on a page: for phones and wide screens, in all colours, by keyboard.

Pictures of the page go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lab
import pytest
from every_view import VIEWS
from explorables import NAMES, all_places, explorable
from playwright.sync_api import Locator, Page, expect
from project import ROOT
from workday import ALONE, RACING, TOGETHER, log_of, wordy

import learnkit.widget
from learnkit.course.display.course_map import course_map
from learnkit.course.display.loop import LESSONS, WIDTHS, strip
from learnkit.course.progress import lesson_progress
from learnkit.views import View
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import NARROW, RULES, WIDE, WIDEST
from learnkit.widget import frozen

DIAGRAMS = [kind for kind in VIEWS if issubclass(kind, Diagram)]  # documents flow
OF_TEAMS = {"Protocol", "Tasks", "Team", "Traffic", "Worktrees"}
DRAW = Path(learnkit.widget.__file__).parent / "draw.js"
#: What does not fit into its place on the page, in words.
CUT = """() => {
  const page = document.documentElement;
  const found = page.scrollWidth > page.clientWidth ? ["the page scrolls sideways"] : [];
  for (const section of document.querySelectorAll("section")) {
    const picture = section.querySelector("div > div").shadowRoot.querySelector(".picture");
    if (picture.scrollWidth > picture.clientWidth) {
      found.push(`${section.id} is ${picture.scrollWidth - picture.clientWidth} pixels too wide`);
    }
  }
  return found;
}"""
#: Which texts of a diagram leave it, lie upon another, or have something drawn over them, in words;
#: measured by the browser.
CLASHES = """([frames, sheet]) => {
  const style = document.body.appendChild(document.createElement("style"));
  style.textContent = sheet;
  const diagram = new Diagram();
  document.body.append(diagram.svg);
  const found = new Set();
  for (const [name, frame] of frames) {
    diagram.paint(frame);
    const all = diagram.svg.getBoundingClientRect();
    const texts = [...diagram.svg.querySelectorAll("g > text")]
      .filter((one) => one.textContent.trim())
      .map((one) => [one.textContent, one.getBoundingClientRect(), one.parentNode]);
    for (const [text, box, shape] of texts) {
      const rect = shape.querySelector("rect")?.getBoundingClientRect();
      const out = box.left < all.left - 4 || box.right > all.right + 4;
      if (out) found.add(`${name}: ${text} is out`);
      if (rect && box.right > rect.right + 1) found.add(`${name}: ${text} leaves its box`);
    }
    // Two slanted texts are apart if they are, turned back.
    const turned = (shape) => {
      const { a, b, e, f } = shape.querySelector("text").getScreenCTM(), size = Math.hypot(a, b);
      const { x, y, width, height } = shape.querySelector("text").getBBox();
      const left = (a * e + b * f) / size + x * size, top = (a * f - b * e) / size + y * size;
      return { left, top, right: left + width * size, bottom: top + height * size };
    };
    texts.forEach(([text, straight, shape], place) => {
      for (const [word, box, its] of texts.slice(place + 1)) {
        const slanted = shape.matches(".s") && its.matches(".s");
        const [one, other] = slanted ? [turned(shape), turned(its)] : [straight, box];
        const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (wide > 2 && high > 4) found.add(`${name}: ${text} upon ${word}`);
      }
    });
    const within = ({ x, y }, box) =>
      x > box.left + 2 && x < box.right - 2 && y > box.top + 4 && y < box.bottom - 4;
    for (const path of diagram.svg.querySelectorAll(".edge path")) {
      const matrix = path.getScreenCTM();
      const under = texts.filter(
        ([, , shape]) => shape.compareDocumentPosition(path) & Node.DOCUMENT_POSITION_FOLLOWING,
      );
      const spots = Array.from({ length: path.getTotalLength() / 3 }, (_, n) =>
        path.getPointAtLength(3 * n).matrixTransform(matrix),
      );
      for (const [text, box] of under) {
        if (spots.some((spot) => within(spot, box))) found.add(`${name}: a line over ${text}`);
      }
    }
    for (const rect of diagram.svg.querySelectorAll(".bar rect, .box rect")) {
      const its = rect.getBoundingClientRect();
      for (const [text, box, shape] of texts) {
        if (shape === rect.parentNode || !its.width || !its.height) continue;
        const over = shape.compareDocumentPosition(rect) & Node.DOCUMENT_POSITION_FOLLOWING;
        const wide = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const high = Math.min(box.bottom - 3, its.bottom) - Math.max(box.top + 3, its.top);
        if (over && wide > 2 && high > 1) found.add(`${name}: a bar over ${text}`);
      }
    }
  }
  diagram.svg.remove();
  style.remove();
  return [...found];
}"""
MEDIA = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "high contrast": {"color_scheme": "dark", "forced_colors": "active"},
    "high contrast, light": {"color_scheme": "light", "forced_colors": "active"},
}


#: Of pictures on the page.
COUNT = len(VIEWS) + len(NAMES)


def day_of(kind: type[View[Any]]) -> list[Any]:
    """A day on which everything happens that a view shows."""
    name = kind.__name__
    if name == "Messages":  # until a summary takes the place of everything that can be pointed at
        return ALONE[:52]
    return RACING if name == "Schedule" else TOGETHER if name in OF_TEAMS else ALONE


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with all of them, without a kernel."""
    tapes = {kind.__name__: frozen.tape(kind(log_of(day_of(kind)))) for kind in VIEWS}
    for name in NAMES:
        shown = explorable(name)
        tapes[name] = frozen.framed(shown.html(), shown.tape())
    assert len(tapes) == COUNT
    parts = [f'<section id="{key}"><h2>{key}</h2>{html}</section>' for key, html in tapes.items()]
    file = tmp_path_factory.mktemp("every") / "page.html"
    file.write_text(frozen.page("all", f"<main><h1>All</h1>{''.join(parts)}</main>"), "utf-8")
    return file.as_uri()


@pytest.fixture
def open_page(page: Page, every: str) -> Page:
    page.emulate_media(color_scheme="light", forced_colors="none", reduced_motion="reduce")
    page.set_viewport_size({"width": 1200, "height": 1000})
    page.goto(every)
    expect(page.locator(".learnkit-player, .learnkit-explorer")).to_have_count(COUNT)
    return page


# A phone with JupyterLab; one with scroll bars, and one without; a place for no picture of 720; a
# screen.
@pytest.mark.parametrize("width", [270, 330, 360, 700, 1600])
def test_everything_fits_and_axe_finds_nothing_serious(
    open_page: Page, shots: Path, width: int
) -> None:
    page = open_page
    page.set_viewport_size({"width": width, "height": 1000})
    wide = WIDE if width > 760 else NARROW
    expect(page.locator(f".diagram[width='{wide}']")).to_have_count(len(DIAGRAMS) + len(NAMES))
    assert page.evaluate(CUT) == []
    # The colours are looked at on a phone and on a screen: between them nothing else is drawn.
    for name in MEDIA if width in (360, 1600) else ["light"]:
        media = MEDIA[name]
        page.emulate_media(**media, reduced_motion="reduce")  # type: ignore[arg-type]
        hosts = page.locator("[data-dark]")
        expect(hosts).to_have_count(COUNT if media["color_scheme"] == "dark" else 0)
        assert lab.faults(page, colours=name != "light") == [], name
        if width in (360, 1600):
            file = shots / f"all-{width}-{name.replace(' ', '-')}.png"
            page.screenshot(path=file, full_page=True)


@pytest.fixture
def blank(page: Page) -> Page:
    page.goto("about:blank")
    page.set_viewport_size({"width": 1200, "height": 1000})
    page.set_content("<!doctype html><meta charset=utf-8>")
    page.add_script_tag(content=DRAW.read_text("utf-8").replace("export ", ""))
    return page


def clashes(page: Page, frames: list[tuple[str, dict[str, str]]]) -> list[str]:
    lists = [[name, [[key[2:], one] for key, one in frame.items()]] for name, frame in frames]
    sheet = f":root{{{theme.variables('light', theme.MARKS)}}}{RULES}"
    found: list[str] = page.evaluate(CLASHES, [lists, sheet])
    return found


@pytest.mark.parametrize("width", [NARROW, 600, WIDE, WIDEST])
@pytest.mark.parametrize("name", NAMES)
def test_texts_of_explorables_are_whole_and_apart(blank: Page, name: str, width: int) -> None:
    shown = explorable(name)
    frames = [
        (str(places), shown.answer(places, width).canvas.frame()) for places in all_places(shown)
    ]
    assert clashes(blank, frames) == []


@pytest.mark.parametrize("width", [NARROW, WIDE, WIDEST])
@pytest.mark.parametrize("kind", DIAGRAMS, ids=lambda kind: str(kind.__name__))
def test_texts_of_diagrams_are_whole_and_apart(
    blank: Page, kind: type[View[Any]], width: int
) -> None:
    frames = []
    for day in (day_of(kind), wordy(day_of(kind))):
        view = kind(log_of(day))
        for k in range(len(view.events) + 1):
            frames.append((f"event {k}", view.frame(view.at(k), width)))
    assert clashes(blank, frames) == []


def test_texts_of_the_loop_are_whole_and_apart(blank: Page) -> None:
    course = lesson_progress(ROOT / "notebooks")
    for width in WIDTHS:
        strips = [(f"{lit} at {width}", strip(width, lit).frame()) for lit in LESSONS]
        drawn = ("map", course_map(course, width)[0].frame())
        assert clashes(blank, [drawn, *strips]) == []


#: The element of a widget that has the focus: its name and how its outline looks.
FOCUSED = """(host) => {
  const one = host.shadowRoot.activeElement;
  if (!one) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  return [one.getAttribute("aria-label") || one.textContent, outlineStyle, outlineWidth];
}"""
PLAYER = [
    "first step (Home)",
    "one step back (←)",
    "play (Space)",
    "one step forward (→)",
    "last step (End)",
    "step",
    "speed",
]


def tabbed(host: Locator) -> list[str]:
    """What the Tab key reaches in the widget that has the focus, from there to its end."""
    found: list[str] = []
    while focused := host.evaluate(FOCUSED):
        name, outline, width = focused
        assert (outline, width) == ("solid", "2px"), name
        found.append(name)
        host.page.keyboard.press("Tab")
    return found


@pytest.mark.parametrize("key", ["Tasks", "Messages"])
def test_a_player_is_worked_by_keyboard_alone(open_page: Page, key: str) -> None:
    page, host = open_page, open_page.locator(f"#{key} .learnkit-player")
    host.locator(".picture").focus()
    reached = tabbed(host)
    start = reached.index(PLAYER[0])
    assert start > 1, "what can be pointed at in the picture comes before the controls"
    assert reached[start:] == [*PLAYER, "raw log", "follow"]
    range, count = host.get_by_role("slider", name="step"), host.locator(".count")
    last = int(range.get_attribute("max") or 0)
    host.locator(".picture").focus()
    page.keyboard.press("Home")
    for name, step in (("one step forward (→)", 1), ("last step (End)", last)):
        host.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        assert count.inner_text().startswith(f"step {step} of {last} ")
    host.get_by_role("button", name="one step back (←)").focus()
    page.keyboard.press(" ")
    assert count.inner_text().startswith(f"step {last - 1} of {last} ")
    raw = host.get_by_role("button", name="raw log")
    raw.focus()
    page.keyboard.press(" ")
    expect(raw).to_have_attribute("aria-pressed", "true")
    expect(count).to_contain_text("event ")
    follow = host.get_by_role("button", name="follow")
    follow.focus()
    page.keyboard.press("Enter")
    expect(follow).to_have_attribute("aria-pressed", "true")
    host.get_by_label("speed").focus()
    page.keyboard.press("ArrowDown")
    expect(host.get_by_label("speed")).to_have_value("2")


def test_an_explorable_is_worked_by_keyboard_alone(open_page: Page) -> None:
    page, host = open_page, open_page.locator("#s08 .learnkit-explorer")
    shown = explorable("s08")
    cause, choice = shown.controls.values()
    host.get_by_role("slider").focus()
    names = [
        cause.label,
        f"{cause.label}: less",
        f"{cause.label}: more",
        *choice.labels,
        "Assumptions",
    ]
    assert tabbed(host) == names
    head, button = host.locator(".head"), host.get_by_role("button", name=choice.labels[0])
    button.focus()
    page.keyboard.press(" ")
    expect(button).to_have_attribute("aria-pressed", "true")
    host.get_by_role("button", name=f"{cause.label}: more").focus()
    page.keyboard.press("Enter")
    (name, other), places = shown.controls, shown.start
    answer = shown.answer({name: places[name] + 1, other: 0}, WIDE)
    expect(head).to_have_text(answer.finding)


@pytest.mark.parametrize("widget", ["#Tasks .learnkit-player", "#s06 .learnkit-explorer"])
def test_escape_and_the_pages_shortcuts_are_the_pages(open_page: Page, widget: str) -> None:
    page = open_page
    page.evaluate(
        """() => {
          window.keys = [];
          document.addEventListener("keydown", (event) => window.keys.push(event.key));
        }"""
    )
    page.locator(widget).get_by_role("slider").last.focus()
    for key in ("ArrowRight", "Escape", "Home", "Control+z", "ArrowLeft"):
        page.keyboard.press(key)
    keys = [key for key in page.evaluate("() => window.keys") if key != "Control"]
    assert keys == ["Escape", "z"]


def test_nothing_moves_for_readers_who_ask_for_that(open_page: Page) -> None:
    page = open_page
    seconds = """(host) => [...new Set([...host.shadowRoot.querySelectorAll("*")].flatMap((one) => {
      const { transitionDuration, animationDuration } = getComputedStyle(one);
      return [...transitionDuration.split(", "), ...animationDuration.split(", ")];
    }))]"""
    for widget in ("#Tasks .learnkit-player", "#s06 .learnkit-explorer"):
        host = page.locator(widget)
        page.emulate_media(reduced_motion="no-preference")
        assert "0.2s" in host.evaluate(seconds)
        page.emulate_media(reduced_motion="reduce")
        assert host.evaluate(seconds) == ["0s"]
