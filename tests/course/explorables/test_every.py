"""What holds for every lesson's explorable, in each of its states and at any width."""

from __future__ import annotations

import gzip
import json
from importlib import import_module

import pytest
from canvases import overloaded
from explorables import NAMES, all_places, explorable

from learnkit.views.drawing.display import NARROW, WIDE

#: Where a block or a file is quoted, as far as there is room.
QUOTES = {"s01", "s07"}


@pytest.mark.parametrize("lesson", NAMES)
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_titles_are_short_and_everything_is_whole_and_inside(lesson: str, width: int) -> None:
    shown, heights = explorable(lesson), set()
    for state in all_places(shown):
        answer = shown.answer(state, width)
        assert not overloaded(answer.finding), answer.finding
        canvas = answer.canvas
        heights.add(canvas.height)
        for shape in canvas.shapes:
            cut = any("…" in line for line in shape.lines)
            assert not cut or lesson in QUOTES, (state, shape.lines)
            if shape.kind in ("bar", "box"):
                assert 0 <= shape.x <= shape.x + shape.width <= width, (state, shape)
                assert shape.y + shape.height <= canvas.height, (state, shape)
    assert len(heights) == 1


@pytest.mark.parametrize("lesson", NAMES)
def test_a_page_without_a_kernel_carries_all_answers(lesson: str) -> None:
    tape = json.dumps(explorable(lesson).tape(), ensure_ascii=False).encode()
    assert len(tape) < 150_000 or len(gzip.compress(tape)) < 12_000, "as a page holds it"


@pytest.mark.parametrize(("lesson", "least"), [("s05", 12), ("s06", 15)])
def test_every_number_that_it_rests_on_is_printed(
    lesson: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(f"learnkit.course.lessons.{lesson}.explorable")
    printed = module._assumes()
    names = {
        name
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, int | float) and not name.startswith("_")
    }
    names -= {"BASE", "LEFT", "NAMES"}  # pixels
    assert len(names) >= least
    for name in names:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 77)
            assert module._assumes() != printed, name
