"""Lesson 10's explorable: in how many runs a rule is broken, and what its picture shows of it."""

from __future__ import annotations

import random

import pytest

from learnkit.course.lessons.s10.explorable import RATES, TURNS, broken


@pytest.mark.parametrize("kept", RATES)
@pytest.mark.parametrize("turns", [TURNS[0], 50, TURNS[-1]])
def test_the_share_is_that_of_models_which_keep_to_the_rule_so_often(kept: str, turns: int) -> None:
    chance, runs = random.Random(10), 2000
    early = sum(any(chance.random() > RATES[kept] for _ in range(turns)) for _ in range(runs))
    assert broken(RATES[kept], turns) == pytest.approx(early / runs, abs=0.03)
