"""What a run of lesson 6 costs, in tokens of plain input."""

from __future__ import annotations

from collections.abc import Iterable

from learnkit.core.catalog import DEFAULT_MODEL, PRICES
from learnkit.core.events import Event
from learnkit.core.usage import Usage


def bill(events: Iterable[Event]) -> dict[str, float]:
    """Return the parts of a run's bill, at the default model's prices.

    Args:
        events: of the run.

    Returns:
        What is read from the cache, what is written to it, and what is neither, with the output;
        each in tokens of plain input.
    """
    used, price = Usage.of(events), PRICES[DEFAULT_MODEL]
    return {
        "read": used.cache_read_input_tokens * price.cache_read / price.input,
        "written": used.cache_creation_input_tokens * price.cache_write / price.input,
        "other": used.input_tokens + used.output_tokens * price.output / price.input,
    }
