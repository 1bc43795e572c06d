"""What a run of lesson 6 costs, in tokens of plain input."""

from __future__ import annotations

from collections.abc import Iterable

from learnkit.core.catalog import DEFAULT_MODEL, PRICES
from learnkit.core.usage import Usage
from learnkit.events.log import Event


def rates(model: str = DEFAULT_MODEL) -> dict[str, float]:
    """Return what a model's tokens cost, where a token of plain input costs 1."""
    price = PRICES[model]
    prices = {"read": price.cache_read, "written": price.cache_write, "output": price.output}
    return {kind: round(each / price.input, 6) for kind, each in prices.items()}


#: Every rate for reading from the cache that is in the price table, and a model that has it.
READ_RATES = {rate: model for rate, model in sorted((rates(name)["read"], name) for name in PRICES)}


def bill(events: Iterable[Event], model: str = DEFAULT_MODEL) -> dict[str, float]:
    """Return the parts of a run's bill."""
    used, rate = Usage.of(events), rates(model)
    return {
        "read": used.cache_read_input_tokens * rate["read"],
        "written": used.cache_creation_input_tokens * rate["written"],
        "other": used.input_tokens + used.output_tokens * rate["output"],
    }
