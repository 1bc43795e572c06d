"""The lessons' bills are those of the price table."""

from __future__ import annotations

import pytest

from learnkit.core.catalog import DEFAULT_MODEL, PRICES
from learnkit.core.usage import Meter
from learnkit.course.content import load
from learnkit.course.lessons.bills import READ, WRITE, billed


@pytest.mark.parametrize("before", [0, 400])
def test_a_bill_is_what_the_price_table_says(before: int) -> None:
    price = PRICES[DEFAULT_MODEL]
    used = {
        "input_tokens": 0,
        "cache_read_input_tokens": 9_000 + before,
        "cache_creation_input_tokens": 1_000 - before,
    }
    dollars = price.of(used)
    assert dollars is not None
    meter = Meter(input_tokens=10_000, cached_tokens=9_000)
    assert billed(meter, read_before=before) * price.input == pytest.approx(dollars * 1_000_000)


def test_lesson_6_asks_with_the_default_models_rates() -> None:
    question = load("s06").predictions["p2"]
    assert "a twentieth" in question.question
    assert pytest.approx(1 / 20) == READ
    assert "a quarter more" in question.question
    assert pytest.approx(1 + 1 / 4) == WRITE
    assert "25 times" in question.options[question.right].why
    assert pytest.approx(25) == WRITE / READ
