"""The texts of explorables: whole, inside of the picture, and none upon another, at any width."""

from __future__ import annotations

import importlib
from itertools import combinations, product

import pytest

from learnkit.views.drawing.display import Shape

LESSONS = ["s02", "s03", "s04", "s05", "s06", "s11", "s12"]
#: Pixels of a character, on average, as a browser draws it; and of a line, without its descenders.
PLAIN, BOLD, HIGH = 6.0, 6.8, 9


def place(shape: Shape) -> tuple[float, float]:
    """Where a text begins and ends."""
    width = len(shape.lines[0]) * (BOLD if "b" in shape.style else PLAIN)
    left = shape.x - width * ("e" in shape.style) - width / 2 * ("c" in shape.style)
    return left, left + width


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("width", [320, 420, 560, 720])
def test_texts_are_whole_and_apart(lesson: str, width: int) -> None:
    shown = importlib.import_module(f"learnkit.course.lessons.{lesson}.explorable").explorable()
    names = list(shown.controls)
    for places in product(*(range(len(one.values)) for one in shown.controls.values())):
        state = dict(zip(names, places, strict=True))
        texts = [one for one in shown.answer(state, width).canvas.shapes if one.kind == "text"]
        for one in texts:
            left, right = place(one)
            assert left >= -1, (state, one.lines)
            assert right <= width + 1, (state, one.lines)
            assert not one.lines[0].endswith("…"), (state, one.lines)
        for one, other in combinations(texts, 2):
            if abs(one.y - other.y) < HIGH:
                first, second = sorted([place(one), place(other)])
                assert first[1] <= second[0] + 1, (state, one.lines, other.lines)
