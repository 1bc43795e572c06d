"""The picture of the loop: a dot for each hook that a lesson's mechanisms define."""

from __future__ import annotations

from pathlib import Path

import pytest
from mechanism_classes import HOMES, hooks_of, within
from project import ROOT

from learnkit.core.mechanism import Mechanism
from learnkit.course.display import course_map
from learnkit.course.display.loop import HOOKS, LESSONS, ORDER, compact
from learnkit.course.progress import Progress, lesson_progress
from learnkit.views.drawing.display import Canvas

COURSE = ROOT / "notebooks"
FOUND = lesson_progress(COURSE)
MAP, _ = course_map.course_map(FOUND)


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
    for canvas in (MAP, *map(compact, range(2, 13))):
        assert dots(canvas) == defined
    assert set(HOOKS) <= set(Mechanism.HOOKS)


@pytest.mark.parametrize("canvas", [MAP, *map(compact, range(2, 13))])
def test_nothing_is_cut_and_the_loop_is_read_from_top_to_bottom(canvas: Canvas) -> None:
    assert not any("…" in line for one in canvas.shapes for line in one.lines)
    named = {one.key.partition(" ")[2]: one.y for one in canvas.shapes if "m" in one.style}
    assert list(named) == list(HOOKS) == [one for one in ORDER if one in HOOKS]
    assert list(named.values()) == sorted(named.values())


def test_a_lesson_lights_its_own_column_and_says_what_it_does_there() -> None:
    canvas = compact(8)
    lit = {one.key for one in canvas.shapes if one.key[:4] == "dot " and one.mark == "cause"}
    assert lit == {f"dot {hook} 8" for hook in LESSONS[8]}
    assert canvas["does on_stop"].lines == ("wait for results",)
    column, dot = canvas["column"], canvas["dot tools 8"]
    assert column.x < dot.x < column.x + column.width


def test_what_is_done_shows_on_the_map(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "progress.json")
    progress.note("s02", "opened", "lesson")
    canvas, areas = course_map.course_map(lesson_progress(COURSE, progress)[1:3])
    assert canvas["dot refuse 2"].mark == "active"
    assert canvas["lesson 2"].lines[0].endswith("2 Tools")
    assert canvas["dot tools 3"].mark == "cause"
    assert {area.file[:3] for area in areas} == {"s02", "s03"}


def test_the_picture_of_the_readme_is_of_today() -> None:
    assert (ROOT / "docs" / "loop.svg").read_text("utf-8") == MAP.svg() + "\n"
