"""The lessons' bills are those of the price table."""

from __future__ import annotations

import pytest

from learnkit.course.content import load
from learnkit.course.lessons.bills import READ, WRITE


def test_lesson_6_asks_with_the_default_models_rates() -> None:
    question = load("s06").predictions["p2"]
    assert "a twentieth" in question.setup
    assert pytest.approx(1 / 20) == READ
    assert "a quarter more" in question.setup
    assert pytest.approx(1 + 1 / 4) == WRITE
    assert "25 times" in question.options[question.right].why
    assert pytest.approx(25) == WRITE / READ
