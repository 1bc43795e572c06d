"""The models learnkit knows: the only place in the project where a model id is written.

The offline client needs a few facts about a model to answer as the API would: how much it may
write, how long a prompt may be, how it thinks. The ids are among those that SDK 2.11 lists; the SDK
states no limits, so the numbers come from the vendor's public model pages (October 2026). None of
them was measured here, and what the pages leave open is marked as an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from learnkit.core.token_count import sent

#: Every value that ``thinking.type`` may have in a request.
THINKING_TYPES = ("adaptive", "enabled", "disabled", "between_tools")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What the contract has to know about one model.

    Attributes:
        id: the name used in requests.
        max_output: largest ``max_tokens``, in tokens.
        window: longest prompt, in tokens.
        accepts: the values of ``thinking.type`` that do not get a 400. A model that does not accept
            ``disabled`` always thinks before it replies.
        preserved_thinking: a returned thinking block is bound to everything before it.
    """

    id: str
    max_output: int
    window: int
    accepts: frozenset[str]
    preserved_thinking: bool

    @property
    def always_thinks(self) -> bool:
        """Whether it thinks, whatever is asked."""
        return "disabled" not in self.accepts


def _current(id: str, *accepts: str, preserved: bool = True) -> ModelSpec:
    return ModelSpec(id, 128_000, 1_000_000, frozenset(accepts), preserved)


def _older(id: str) -> ModelSpec:
    """A model from before 4.6; the contract checks it by the rules of the current ones.

    So it refuses a begun answer (prefill), which the API takes there.
    """
    return ModelSpec(id, 64_000, 200_000, frozenset({"adaptive", "disabled", "enabled"}), False)


#: Model id -> what is known about it.
MODELS: dict[str, ModelSpec] = {
    spec.id: spec
    for spec in (
        _current("claude-opus-5-5", "adaptive"),
        _current("claude-fable-5-1", "adaptive"),
        # It refuses "disabled"; "between_tools" is its nearest thing to off.
        _current("claude-sonnet-5-5", "adaptive", "between_tools"),
        _current("claude-haiku-5-5", "adaptive", "disabled"),
        _current("claude-opus-5", "adaptive", "disabled", preserved=False),
        _current("claude-sonnet-5", "adaptive", "disabled", preserved=False),
        _current("claude-opus-4-8", "adaptive", "disabled", preserved=False),
        # A budget is deprecated here (the SDK warns) but still accepted.
        _current("claude-opus-4-6", "adaptive", "disabled", "enabled", preserved=False),
        _older("claude-haiku-4-5"),
        _older("claude-opus-4-5"),
    )
}

#: What an agent uses by default.
DEFAULT_MODEL = "claude-opus-5-5"


@dataclass(frozen=True, slots=True)
class Price:
    """What a model's tokens cost, in US dollars for a million of them.

    Attributes:
        input: tokens that were neither written to the prompt cache nor read from it.
        output: tokens that the model wrote, thinking included.
        cache_write: tokens written to the cache for five minutes.
        cache_write_1h: tokens written to the cache for an hour.
        cache_read: tokens read from the cache.
        above: another price for requests with a longer prompt: how many tokens it must have, cached
            ones included, and that price; None for one price.
    """

    input: float
    output: float
    cache_write: float
    cache_write_1h: float
    cache_read: float
    above: tuple[int, Price] | None = None

    def of(self, usage: Mapping[str, Any]) -> float | None:
        """Return what one request cost, in US dollars; None for a tariff that is not in the table.

        Args:
            usage: of the reply.
        """
        tariffs = ("speed", "standard"), ("service_tier", "standard")
        if any((usage.get(key) or usual) != usual for key, usual in tariffs):
            return None
        if usage.get("inference_geo") == "us":  # costs more
            return None
        if self.above is not None and sent(usage) > self.above[0]:
            return self.above[1].of(usage)
        written = usage.get("cache_creation_input_tokens") or 0
        kinds = usage.get("cache_creation")
        hour = (kinds.get("ephemeral_1h_input_tokens") or 0) if isinstance(kinds, dict) else 0
        cost = (
            (usage.get("input_tokens") or 0) * self.input
            + (usage.get("output_tokens") or 0) * self.output
            + (usage.get("cache_read_input_tokens") or 0) * self.cache_read
            + (written - hour) * self.cache_write
            + hour * self.cache_write_1h
        )
        return cost / 1_000_000


#: Where the prices come from, and of which day they are. They change: give an agent a table of your
#: own with ``Agent(prices={id: Price(…)})``. The cache reads of Sonnet 5.5 and the two prices of
#: Haiku 5.5, which came on 2026-10-07, are as others read them on that page; the rest was read
#: there and on the models' own pages.
PRICES_FROM = "https://platform.claude.com/docs/en/about-claude/pricing"
PRICES_OF = "2026-10-24"

_OPUS = Price(5, 25, 6.25, 10, 0.5)

#: Model id -> price, for standard speed and tier, without tools of the API that cost extra.
PRICES: dict[str, Price] = {
    "claude-fable-5-1": Price(10, 50, 12.5, 20, 0.25),
    "claude-opus-5-5": Price(4, 20, 5, 8, 0.2),
    "claude-sonnet-5-5": Price(2, 10, 2.5, 4, 0.1),
    "claude-haiku-5-5": Price(
        0.1, 0.5, 0.125, 0.2, 0.01, above=(100_000, Price(0.5, 2.5, 0.625, 1, 0.05))
    ),
    "claude-opus-5": _OPUS,
    "claude-sonnet-5": Price(2, 10, 2.5, 4, 0.2),
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-haiku-4-5": Price(1, 5, 1.25, 2, 0.1),
    "claude-opus-4-5": _OPUS,
}


def price_of(model: str, prices: Mapping[str, Price] = PRICES) -> Price | None:
    """Look up what a model costs; None if the table does not have it."""
    return prices.get(model) or prices.get(re.sub(r"-\d{8}$", "", model))
