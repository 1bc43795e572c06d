"""What to do about a context that fills: ``plan`` says it, and changes nothing itself.

Old results are cleared in batches, and beyond the threshold everything that the model has seen
becomes a summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from learnkit.core.token_count import TokenCount, length
from learnkit.core.tools import Tool
from learnkit.mechanisms.compaction.edits import (
    Message,
    Result,
    clearable,
    pending,
    shortened,
    without_stale_thinking,
)

#: Share of the threshold from which on results are cleared.
CLEAR_AT = 0.5

_NONE: Mapping[str, Tool] = {}


@dataclass(frozen=True, slots=True)
class Change:
    """A clearing or a summary.

    Attributes:
        messages: the array as it would be, when no model has to be asked.
        cleared: the results that say less in it.
        summarise: how many of the first messages a summary is to replace; 0 for none.
    """

    messages: Sequence[Message] = ()
    cleared: Sequence[Result] = ()
    summarise: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a request may be.

    Attributes:
        threshold: tokens at which the context counts as full.
        keep: how many of the last results are never cleared.
        wait_until: tokens up to which no summary is tried, after one that failed.
    """

    threshold: int
    keep: int = 3
    wait_until: int = 0


def plan(
    messages: Sequence[Message],
    limits: Limits,
    count: TokenCount,
    head: int = 0,
    tools: Mapping[str, Tool] = _NONE,
) -> list[Change]:
    """What to do before a request: a clearing, a summary, one after the other, or nothing."""
    planned = []
    tokens = count.measure(messages, head)
    if found := _worth_clearing(messages, tokens, limits, tools):
        messages = without_stale_thinking(shortened(messages, found), found[0].index)
        planned.append(Change(messages, found))
        tokens = count.tokens(sum(map(length, messages)) + head)
    end = pending(messages)
    if tokens > limits.threshold and tokens >= limits.wait_until:
        gain = count.tokens(length(list(messages[:end])))
        if gain > limits.threshold // 10:
            planned.append(Change(summarise=end))
    return planned


def _worth_clearing(
    messages: Sequence[Message], tokens: int, limits: Limits, tools: Mapping[str, Tool]
) -> list[Result]:
    """The results to clear: none, unless that gains enough, and makes a summary needless."""
    if tokens < limits.threshold * CLEAR_AT:
        return []
    found = clearable(messages, limits.keep, tools)
    gain = sum(one.chars for one in found) // 4
    enough = tokens <= limits.threshold or tokens - gain <= limits.threshold
    return found if enough and gain >= limits.threshold // 5 else []
