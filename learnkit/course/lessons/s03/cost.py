"""What lesson 3's two runs cost, beside each other."""

from __future__ import annotations

from learnkit.core.usage import Meter
from learnkit.course.lessons.bills import READ, WRITE, billed


def compared(without: Meter, listed: Meter) -> str:
    """Return the meters of two runs, and how much more the second one has sent.

    Args:
        without: of the run without a list.
        listed: of the run with one.
    """
    sent = listed.input_tokens / without.input_tokens
    cost = billed(listed) / billed(without)
    return (
        f"without a list: {without}\nwith a list:    {listed}\n"
        f"The list: {sent:.2f} × the input tokens, and {cost:.2f} × their price, if a token costs "
        f"{READ:g} from the cache and {WRITE:g} when it's written there"
    )
