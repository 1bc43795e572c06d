"""The lessons' bills are those of the price table."""

from __future__ import annotations

import pytest

from learnkit.core.catalog import DEFAULT_MODEL, PRICES
from learnkit.core.usage import Meter
from learnkit.course.lessons.bills import billed


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
