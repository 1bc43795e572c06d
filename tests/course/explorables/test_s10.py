"""Lesson 10's explorable: in how many runs a rule is broken, and what its picture shows of it."""

from __future__ import annotations

import random

import pytest

from learnkit.course.lessons.s10.explorable import RATES, TURNS, broken, draw
from learnkit.views.drawing.display import NARROW, WIDE


@pytest.mark.parametrize("kept", RATES)
@pytest.mark.parametrize("turns", [TURNS[0], 50, TURNS[-1]])
def test_the_share_is_that_of_models_which_keep_to_the_rule_so_often(kept: str, turns: int) -> None:
    chance, runs = random.Random(10), 2000
    early = sum(any(chance.random() > RATES[kept] for _ in range(turns)) for _ in range(runs))
    assert broken(RATES[kept], turns) == pytest.approx(early / runs, abs=0.03)


@pytest.mark.parametrize(
    ("turns", "kept", "says"),
    [(50, "99 %", "39 %"), (200, "90 %", "over 99 %"), (5, "99.9 %", "0 %"), (45, "90 %", "99 %")],
)
def test_the_title_never_says_that_all_runs_break_it(turns: int, kept: str, says: str) -> None:
    assert draw(WIDE, turns, kept).finding == (
        f"A rule kept in {kept} of the turns is broken in {says} of the runs."
    )


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_dot_is_on_the_curve_that_is_picked_and_on_the_slider(width: float) -> None:
    for turns in (TURNS[0], TURNS[-1]):
        answer = draw(width, turns, "90 %")
        dot, name = answer.canvas["here"], answer.canvas["name 90 %"]
        assert answer.axis is not None
        assert dot.x == pytest.approx(answer.axis[2 * (turns == TURNS[-1])])
    assert dot.y == pytest.approx(name.y - 4, abs=0.1)
    assert name.x + 7 * len("99.9 % kept") <= width
