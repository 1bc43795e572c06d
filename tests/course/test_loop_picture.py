"""The picture of the loop: a dot for each hook that a lesson's mechanisms define."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
from mechanism_classes import HOMES, hooks_of, within
from project import ROOT

from learnkit.core.mechanism import Mechanism
from learnkit.course.content import load
from learnkit.course.display.course_map import as_html, course_map
from learnkit.course.display.loop import HOOKS, LESSONS, ORDER, strip
from learnkit.course.progress import Progress, lesson_progress
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST, Canvas, text_width

COURSE = ROOT / "notebooks"
FOUND = lesson_progress(COURSE)
MAPS = {width: course_map(FOUND, width)[0] for width in (NARROW, WIDE, WIDEST)}
STRIPS = [strip(width, lit) for width in (WIDE, WIDEST) for lit in range(2, 13)]


class SLANT:
    """How far a slanted text goes up and to the right, for each pixel of its length."""

    sin, cos = math.sin(math.radians(38)), math.cos(math.radians(38))


def dots(canvas: Canvas) -> set[tuple[str, int]]:
    """Each hook and lesson that has a dot."""
    keys = [one.key.split() for one in canvas.shapes if one.key.startswith("dot ")]
    return {(hook, int(lesson)) for _, hook, lesson in keys}


def test_a_dot_is_where_a_lessons_mechanisms_define_a_hook() -> None:
    defined = {
        (hook, int(lesson[1:]))
        for lesson, homes in HOMES.items()
        for home in homes
        for kind in within(home)
        for hook in hooks_of(kind) & set(HOOKS)
    }
    # A teammate's on_stop is defined in lesson 9, and asks the extension of lesson 11 for work.
    defined.add(("on_stop", 11))
    # Permission's modes are beyond lesson 2: there it adds nothing to the system prompt.
    defined.discard(("system", 2))
    for canvas in (*MAPS.values(), *STRIPS):
        assert dots(canvas) == defined
    assert set(HOOKS) <= set(Mechanism.HOOKS)


@pytest.mark.parametrize("canvas", [*MAPS.values(), *STRIPS])
def test_nothing_is_cut_and_the_loop_is_read_from_top_to_bottom(canvas: Canvas) -> None:
    assert not any("…" in line for one in canvas.shapes for line in one.lines)
    named = {one.key.partition(" ")[2]: one.y for one in canvas.shapes if "m" in one.style}
    assert list(named) == list(HOOKS) == [one for one in ORDER if one in HOOKS]
    assert list(named.values()) == sorted(named.values())


@pytest.mark.parametrize("width", [WIDE, WIDEST])
def test_a_lesson_lights_its_own_column_and_says_what_it_does_there(width: int) -> None:
    canvas, words = strip(width, 8), load("s08").hooks
    band = canvas["lit"]
    assert band.y + band.height == canvas.height, "the column is lit from head to foot"
    for hook in HOOKS:
        assert canvas[f"does {hook}"].lines == (words.get(hook, ""),)
    for hook in words:
        dot, word = canvas[f"dot {hook} 8"], canvas[f"does {hook}"]
        assert word.x < band.x < dot.x < band.x + band.width
        assert band.y < canvas["lesson 8"].y - 9 < dot.y < band.y + band.height
    for one in (one for one in canvas.shapes if one.key[:4] == "dot "):
        lesson = int(one.key.split()[2])
        assert one.mark == ("cause" if lesson == 8 else "plain")
        assert ("gv" in one.style) == (lesson > 8), "what comes is hollow and pale"
    assert canvas["means to come"].lines == ("to come",)


@pytest.mark.parametrize("canvas", [*MAPS.values(), *STRIPS])
def test_the_left_edge_is_that_of_the_card_and_texts_are_clear_of_the_grid(canvas: Canvas) -> None:
    texts = [one for one in canvas.shapes if one.kind == "text" and "c" not in one.style]
    assert min(one.x for one in texts) == 0
    if "grid" in canvas:
        lines = re.findall(r"M([\d.]+) [\d.]+H", canvas["grid"].path)
        ends = [one.x + text_width(one.lines[0], one.style) for one in texts if one.y > 120]
        assert max(ends) + 16 <= min(map(float, lines))


@pytest.mark.parametrize("canvas", [*MAPS.values(), *STRIPS])
def test_a_number_stands_over_its_column(canvas: Canvas) -> None:
    for one in (one for one in canvas.shapes if one.key[:4] == "dot "):
        number = one.key.split()[2]
        if one.lines:
            assert one.lines == (number,)
            assert canvas[f"name {number}"].lines == (
                f"{number} {load(LESSONS[int(number)]).title}",
            )
        else:
            assert canvas[f"lesson {number}"].x == canvas[f"name {number}"].x == one.x


@pytest.mark.parametrize("canvas", [MAPS[WIDE], MAPS[WIDEST], *STRIPS])
def test_neither_names_nor_arrows_touch_what_is_beside_them(canvas: Canvas) -> None:
    names = [one for one in canvas.shapes if one.key[:5] == "name "]
    for one, other in pairwise(names):
        assert (other.x - one.x) * SLANT.sin > 14, "slanted, they are a line of text apart"
    last = names[-1]
    assert last.x + SLANT.cos * text_width(last.lines[0]) <= canvas.width
    assert min(one.y - SLANT.sin * text_width(one.lines[0]) for one in names) > 0
    spine = canvas["stop 0"].x
    dots = [one for one in canvas.shapes if one.key[:5] == "asks "]
    assert all(one.x - one.width > spine + 4 for one in dots), "the arrows on the line are free"


def test_on_a_phone_a_strip_is_the_loop_and_the_lessons_words() -> None:
    canvas = strip(NARROW, 8)
    assert not dots(canvas)
    assert {canvas[f"does {hook}"].lines for hook in HOOKS} == {
        (load("s08").hooks.get(hook, ""),) for hook in HOOKS
    }


@pytest.mark.parametrize("width", [NARROW, WIDE, WIDEST])
def test_lesson_1_is_the_loop_alone_with_its_way_out(width: int) -> None:
    shapes = strip(width, 1).shapes
    texts = {line for one in shapes for line in one.lines}
    assert not texts & set(HOOKS)
    assert any(text.startswith("no: ") for text in texts)
    across = {one.y for one in shapes if one.key[:5] == "stop "}
    assert (len(across) == 1) == (width > NARROW), "it lies over the width where there is room"


def test_what_is_done_shows_on_the_map(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "progress.json")
    progress.note("s02", "opened", "lesson")
    found = lesson_progress(COURSE, progress)[1:3]
    canvas, columns = course_map(found, WIDE)
    assert canvas["dot refuse 2"].mark == "active"
    assert canvas["lesson 2"].lines[0].endswith(" 2")
    assert canvas["dot tools 3"].mark == "cause"
    assert set(columns) == {1, 2, 3}
    assert as_html(found).count('href="s02') == 3, "a link for each width"


def test_the_wide_map_is_shown_where_no_style_is_kept() -> None:
    html = as_html(FOUND)
    assert [html.count(f'<div class="lk-{width}">') for width in MAPS] == [0, 1, 0]


def test_the_pictures_of_the_readme_are_of_today() -> None:
    for width, name in {NARROW: "loop-narrow.svg", WIDE: "loop.svg"}.items():
        assert (ROOT / "docs" / name).read_text("utf-8") == MAPS[width].svg() + "\n"
