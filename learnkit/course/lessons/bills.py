"""What input costs, in tokens of plain input, at the default model's prices."""

from __future__ import annotations

from learnkit.core.catalog import DEFAULT_MODEL, PRICES
from learnkit.core.usage import Meter

_PRICE = PRICES[DEFAULT_MODEL]
#: What a token costs that is read from the cache, or written to it, where a plain one costs 1.
READ, WRITE = (kind / _PRICE.input for kind in (_PRICE.cache_read, _PRICE.cache_write))


def billed(meter: Meter, *, read_before: int = 0) -> float:
    """Return what the input of some requests costs; the model's output isn't counted."""
    read = meter.cached_tokens + read_before
    return read * READ + (meter.input_tokens - read) * WRITE
