"""The map of the course: each mechanism stands where it hooks in, and leads to its lesson."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from project import ROOT

from learnkit.course.content import load
from learnkit.course.display import course_map
from learnkit.course.display.course_map import as_html
from learnkit.course.display.loop import HOOKS, LESSONS
from learnkit.course.progress import Progress, lesson_progress
from learnkit.views.drawing.display import NARROW, WIDE

COURSE = ROOT / "notebooks"
FOUND = lesson_progress(COURSE)
#: What JupyterLab leaves of a style on a page that it does not trust, of what the map uses.
KEPT = {"position", "left", "top", "width", "height", "max-width", "line-height"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_each_mechanism_stands_once_at_each_hook_that_it_uses(width: float) -> None:
    _, areas = course_map.course_map(FOUND, width)
    said = sorted(one.says for one in areas)
    assert said == sorted(
        f"lesson {number}, {load(f's{number:02}').title}: {does}"
        for number, hooks in LESSONS.items()
        for does in hooks.values() or ["the loop itself"]
    )
    assert all(f"lesson {int(one.file[1:3])}," in one.says for one in areas)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_is_cut_or_stands_on_another_thing(width: float) -> None:
    canvas, areas = course_map.course_map(FOUND, width)
    assert canvas.width == width
    boxes = [shape for shape in canvas.shapes if shape.kind == "box"]
    assert len(boxes) == 7 + len(HOOKS) + len(areas)
    for one in boxes:
        assert not any("…" in line for line in one.lines), one
        assert 0 <= one.x < one.x + one.width <= width
        assert 0 <= one.y < one.y + one.height <= canvas.height
    for one, other in combinations(boxes, 2):
        apart = (
            one.x + one.width <= other.x
            or other.x + other.width <= one.x
            or one.y + one.height <= other.y
            or other.y + other.height <= one.y
        )
        assert apart, (one.key, other.key)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_link_is_large_enough_to_press_and_lies_on_its_box(width: float) -> None:
    canvas, areas = course_map.course_map(FOUND, width)
    boxes = {(s.x, s.y, s.width, s.height) for s in canvas.shapes if s.key.startswith("link ")}
    assert {tuple(round(v, 1) for v in (a.x, a.y, a.width, a.height)) for a in areas} == boxes
    assert min(min(one.width, one.height) for one in areas) >= 24


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_loop_is_read_from_top_to_bottom(width: float) -> None:
    canvas, _ = course_map.course_map(FOUND, width)
    order = ["prompt", "messages", "model", "reply", "run", "results"]
    tops = [canvas[f"box {name}"].y for name in order]
    assert tops == sorted(tops)
    asked = ["system", "before_model", "tools", "refuse", "after_tools"]
    middles = [canvas[f"hook {name}"].y + 20 for name in asked]
    between = [("prompt", "messages"), ("messages", "model"), ("messages", "model")]
    between += [("reply", "run"), ("run", "results")]
    for middle, (above, below) in zip(middles, between, strict=True):
        assert canvas[f"box {above}"].y < middle < canvas[f"box {below}"].y


def test_what_is_done_shows_on_the_map(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "progress.json")
    progress.note("s02", "opened", "lesson")
    canvas, _ = course_map.course_map(lesson_progress(COURSE, progress))
    assert canvas["link refuse 2"].mark == "active"
    assert canvas["link refuse 2"].lines[0].endswith("2 Tools")
    assert canvas["link refuse 10"].mark == "cause"


@pytest.mark.parametrize("live", [True, False])
def test_the_links_need_no_style_that_jupyterlab_takes_away(live: bool) -> None:
    html = re.sub(r"<svg.*?</svg>|<style>.*?</style>", "", as_html(FOUND, live=live), flags=re.S)
    found = re.findall(r'<a href="(s\d\d_\w+\.ipynb)" title="([^"]+)" style="([^"]+)"></a>', html)
    assert len(found) == len(course_map.course_map(FOUND)[1])
    styles = [style for _, _, style in found] + re.findall(r'<div[^>]* style="([^"]+)"', html)
    used = {rule.partition(":")[0] for style in styles for rule in style.split(";")}
    assert used <= KEPT
    assert ("<img " in html) is not live


def test_a_course_with_fewer_lessons_has_a_smaller_map() -> None:
    canvas, areas = course_map.course_map(FOUND[1:3])
    assert {one.file[:3] for one in areas} == {"s02", "s03"}
    assert "hook on_stop" in canvas


def test_the_pictures_of_the_readme_are_of_today(tmp_path: Path) -> None:
    course_map.write(tmp_path, FOUND)
    for path in tmp_path.iterdir():
        assert (ROOT / "docs" / path.name).read_text("utf-8") == path.read_text("utf-8"), path.name
