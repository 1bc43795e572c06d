"""Lesson b4: its picture strikes out what the grammar didn't allow, and nothing else."""

from __future__ import annotations

import pytest

from learnkit.course.lessons.b4.explorable import WAYS, draw
from learnkit.views.drawing.display import WIDE


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("step", range(1, 13))
def test_only_what_was_likelier_than_the_token_that_a_grammar_forced_is_struck(
    way: str, step: int
) -> None:
    answer = draw(WIDE, step, way)
    said = [one.lines[0] for one in answer.canvas.shapes if one.key.startswith("p ")]
    (taken,) = [place for place, one in enumerate(said) if one.endswith("taken")]
    struck = [place for place, one in enumerate(said) if one.endswith("not allowed")]
    forced = answer.finding.startswith("The grammar forces")
    assert struck == (list(range(taken)) if forced else [])
    assert way == WAYS[1] or not forced
    lines = [one.key for one in answer.canvas.shapes if one.key.startswith("struck")]
    assert lines == [f"struck {place}" for place in struck]
