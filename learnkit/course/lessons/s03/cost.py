"""What lesson 3's two runs cost, beside each other."""

from __future__ import annotations

from learnkit.core.usage import Meter

#: What a token from the cache costs, as a share of another one.
CACHED = 0.1


def compared(without: Meter, listed: Meter) -> str:
    """Return the meters of two runs, and how much more the second one has sent.

    Args:
        without: of the run without a list.
        listed: of the run with one.
    """
    sent, billed = (
        listed_tokens / tokens
        for tokens, listed_tokens in (
            (without.input_tokens, listed.input_tokens),
            (_billed(without), _billed(listed)),
        )
    )
    return (
        f"without a list: {without}\nwith a list:    {listed}\n"
        f"The list: {sent:.2f} × the input tokens, "
        f"{billed:.2f} × if a token from the cache costs a tenth"
    )


def _billed(meter: Meter) -> float:
    return meter.input_tokens - (1 - CACHED) * meter.cached_tokens
