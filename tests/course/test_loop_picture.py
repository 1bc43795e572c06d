"""The picture of the loop: what it says of the hooks is what the mechanisms do."""

from __future__ import annotations

import re

import pytest
from mechanism_classes import HOMES, hooks_of, within

from learnkit.core.mechanism import Mechanism
from learnkit.course.display import loop as picture
from learnkit.course.display.loop import HOOKS, LESSONS, alt, loop, loop_card, used_by


@pytest.mark.parametrize("lesson", HOMES)
def test_a_lesson_lights_the_hooks_that_its_mechanisms_define(lesson: str) -> None:
    kinds = [kind for home in HOMES[lesson] for kind in within(home)]
    defined = set().union(*map(hooks_of, kinds)) & set(HOOKS)
    assert defined
    # A teammate's on_stop is defined in lesson 9, and asks the extension of lesson 11 for work.
    assert set(LESSONS[int(lesson[1:])]) == defined | ({"on_stop"} if lesson == "s11" else set())


def test_every_hook_of_the_picture_is_one_of_the_loop() -> None:
    assert set(HOOKS) <= set(Mechanism.HOOKS)
    assert set(LESSONS) == set(range(1, 13))
    assert {hook for hooks in LESSONS.values() for hook in hooks} == set(HOOKS)


@pytest.mark.parametrize("lit", LESSONS)
def test_everything_fits_and_nothing_is_cut(lit: int) -> None:
    canvas = loop(lit)
    boxes = [shape for shape in canvas.shapes if shape.kind == "box"]
    for shape in boxes:
        assert shape.x >= 0
        assert shape.x + shape.width <= canvas.width
        assert shape.y + shape.height <= canvas.height
        assert not any("…" in line for line in shape.lines), shape
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            apart = (
                one.x + one.width <= other.x
                or other.x + other.width <= one.x
                or one.y + one.height <= other.y
                or other.y + other.height <= one.y
            )
            assert apart, (one.key, other.key)


def test_a_lesson_lights_its_own_hooks_only() -> None:
    lit = {shape.key for shape in loop(8).shapes if shape.mark == "cause"}
    assert {key for key in lit if key.startswith("hook ")} == {
        "hook system",
        "hook tools",
        "hook after_tools",
        "hook on_stop",
    }
    assert not any(key.startswith("box ") for key in lit)
    first = {shape.key for shape in loop(1).shapes if shape.mark == "cause"}
    assert {f"box {name}" for name in picture.WORDS} <= first
    assert not any(key.startswith("hook ") for key in first)


def test_runs_of_lessons_are_spans() -> None:
    assert used_by("refuse") == "2, 10, 12"
    assert used_by("tools") == "2–12"
    assert used_by("system") == "3–5, 7–12"


def test_in_words_too() -> None:
    assert "Lesson 6 adds, by hook: tools: compact, before_model: make it shorter." in alt(6)
    assert all(hook in alt(None) for hook in HOOKS)
    assert loop_card(3).text == alt(3)


def test_in_an_open_notebook_it_has_the_colours_of_the_page() -> None:
    bundle = loop_card(5).live
    assert bundle is not None
    html = bundle()["text/html"]
    assert "[data-jp-theme-light=false]" in html
    style = re.findall("(?s)<style>(.*?)</style>", html)[0]
    assert style.startswith(".lk-inline{")
    assert style.count("{") == style.count("}")
