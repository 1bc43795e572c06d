"""The lessons' bills are those of the price table."""

from __future__ import annotations

import pytest

import learnkit as lk
from learnkit.core.catalog import DEFAULT_MODEL, PRICES
from learnkit.core.usage import Meter
from learnkit.course.content import load
from learnkit.course.lessons.bills import billed
from learnkit.course.lessons.s06.bills import READ_RATES, bill, rates


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
    rate = rates()
    assert "a twentieth" in question.question
    assert rate["read"] == pytest.approx(1 / 20)
    assert "a quarter more" in question.question
    assert rate["written"] == pytest.approx(1 + 1 / 4)
    assert "25 times" in question.options[question.right].why
    assert rate["written"] / rate["read"] == pytest.approx(25)
    assert set(READ_RATES) == {rates(model)["read"] for model in PRICES}
    assert all(rates(model)["read"] == one for one, model in READ_RATES.items())


def test_lesson_6_adds_up_the_dollars_of_the_price_table() -> None:
    usage = {
        "input_tokens": 7,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 80,
        "output_tokens": 6,
    }
    events = lk.EventLog()
    events.append("model.replied", usage=usage)
    for model in READ_RATES.values():
        dollars = PRICES[model].of(usage)
        assert dollars is not None
        plain = sum(bill(events, model).values())
        assert plain * PRICES[model].input == pytest.approx(dollars * 1_000_000)
