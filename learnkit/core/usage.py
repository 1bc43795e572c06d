"""What a run has used: tokens and money, and the meter with turns and calls; from its event log."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from learnkit.core.catalog import PRICES, Price, price_of
from learnkit.core.token_count import sent
from learnkit.events.log import Event


@dataclass(frozen=True, slots=True)
class Usage:
    """What requests have used.

    Attributes:
        input_tokens: sent, and neither written to the prompt cache nor read from it.
        cache_creation_input_tokens: sent, and written to the cache.
        cache_read_input_tokens: read from the cache.
        output_tokens: written by the model.
        cost: US dollars; None if a model's price is not known, the server did not say what a
            request used, or the counts are simulated.
        requests: how many replies are counted.
        unknown: to how many of them the server gave no usage.
        simulated: the counts are estimates of an offline client.
    """

    input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    requests: int = 0
    unknown: int = 0
    simulated: bool = False

    @property
    def sent(self) -> int:
        """All tokens that were sent, whether or not the cache had them."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens

    @classmethod
    def of(
        cls,
        events: Iterable[Event],
        lane: str | None = None,
        prices: Mapping[str, Price] = PRICES,
    ) -> Usage:
        """Add up what the replies in a log have used.

        Args:
            events: the log, or a part of it.
            lane: count this agent and its subagents; None counts everyone.
            prices: model id -> price.
        """
        replies = [
            event
            for event in events
            if event.type == "model.replied"
            and (lane is None or event.lane == lane or event.lane.startswith(f"{lane}."))
        ]
        usages = [event.data["usage"] for event in replies]
        simulated = any(usage.get("simulated") for usage in usages)
        cost = math.inf if simulated else spent(replies, prices)

        def total(kind: str) -> int:
            return sum(usage.get(kind) or 0 for usage in usages)

        return cls(
            input_tokens=total("input_tokens"),
            cache_creation_input_tokens=total("cache_creation_input_tokens"),
            cache_read_input_tokens=total("cache_read_input_tokens"),
            output_tokens=total("output_tokens"),
            cost=None if math.isinf(cost) else cost,
            requests=len(replies),
            unknown=sum(not known(usage) for usage in usages),
            simulated=simulated,
        )


def spent(events: Iterable[Event], prices: Mapping[str, Price] = PRICES) -> float:
    """What the replies in a log cost, or would cost, in US dollars; infinite if that isn't known.

    Args:
        events: the log, or a part of it; all agents count.
        prices: model id -> price.
    """
    total = 0.0
    for event in events:
        if event.type == "model.replied":
            usage, price = event.data["usage"], price_of(str(event.data.get("model")), prices)
            cost = price.of(usage) if price is not None and known(usage) else None
            total += math.inf if cost is None else cost
    return total


def known(usage: Mapping[str, object]) -> bool:
    """Whether a server has said what a request used."""
    return "input_tokens" in usage and "output_tokens" in usage


@dataclass(frozen=True, slots=True)
class Meter:
    """What a run has used.

    Attributes:
        turns: requests that were answered, those for a summary included.
        calls: tool calls that were answered, and how many of them with an error.
        errors: see ``calls``.
        input_tokens: all tokens that were sent, whether or not the cache had them.
        cached_tokens: those of them that were read from the prompt cache.
        output_tokens: tokens that the model wrote.
        seconds: time on the clock from the first event to the last.
        simulated: the token counts are estimates of the offline client, not the API's.
    """

    turns: int = 0
    calls: int = 0
    errors: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    simulated: bool = False

    @classmethod
    def of(cls, events: Iterable[Event], lane: str | None = None) -> Meter:
        """Read the meter of a log."""
        chosen = [event for event in events if lane is None or event.lane == lane]
        usages = [event.data["usage"] for event in chosen if event.type == "model.replied"]
        ended = [event for event in chosen if event.type == "tool.ended"]
        cached = sum(usage.get("cache_read_input_tokens", 0) for usage in usages)
        return cls(
            turns=len(usages),
            calls=len(ended),
            errors=sum(event.data["is_error"] for event in ended),
            input_tokens=sum(map(sent, usages)),
            cached_tokens=cached,
            output_tokens=sum(usage.get("output_tokens", 0) for usage in usages),
            seconds=chosen[-1].time - chosen[0].time if chosen else 0.0,
            simulated=any(usage.get("simulated") for usage in usages),
        )

    def __str__(self) -> str:
        about = "≈" if self.simulated else ""
        errors = f" ({self.errors} with an error)" if self.errors else ""
        turns, calls = _count(self.turns, "turn"), _count(self.calls, "tool call")
        return (
            f"{turns} · {calls}{errors} · {about}{self.input_tokens:,} tokens in, of which "
            f"{about}{self.cached_tokens:,} from the cache · {about}{self.output_tokens:,} out · "
            f"{self.seconds:g} s on the clock"
        )

    __repr__ = __str__


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
