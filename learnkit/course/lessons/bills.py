"""What input costs, in tokens of plain input, at the default model's prices."""

from __future__ import annotations

from learnkit.core.catalog import DEFAULT_MODEL, PRICES

PRICE = PRICES[DEFAULT_MODEL]
#: What is paid for a token read from the cache, written to it, and written by the model, where a
#: token of plain input costs 1.
READ, WRITE, OUT = (
    kind / PRICE.input for kind in (PRICE.cache_read, PRICE.cache_write, PRICE.output)
)
