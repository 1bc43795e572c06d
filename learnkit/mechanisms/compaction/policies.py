"""What to do about a context that fills: ``plan`` asks a policy, and changes nothing itself.

``Layers`` is the default: old results are cleared in batches, and beyond the threshold everything
becomes a summary. ``Pressure`` grades by how full the context is. Both keep in the same order:
reasons and decisions first, then errors and what came of them, then what was called, raw data last.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from learnkit.core.frames import EARLIER, defused
from learnkit.core.token_count import TokenCount, length
from learnkit.core.tools import Tool
from learnkit.errors import UsageError
from learnkit.mechanisms.compaction.edits import (
    Message,
    Result,
    clearable,
    cut_before,
    pending,
    protected,
    replaced,
    results,
    seen,
    shortened,
    without_stale_thinking,
)

_NONE: Mapping[str, Tool] = {}


@dataclass(frozen=True, slots=True)
class Change:
    """What a policy wants.

    Attributes:
        messages: the array as it would be, when no model has to be asked.
        cleared: the results that say less in it.
        first: index of the first message that changes.
        summarise: how many of the first messages a summary is to replace; 0 for none.
    """

    messages: Sequence[Message] = ()
    cleared: Sequence[Result] = ()
    first: int = 0
    summarise: int = 0


class Policy(Protocol):
    """Chooses what to do before a request."""

    def choose(
        self, messages: Sequence[Message], tokens: int, threshold: int, tools: Mapping[str, Tool]
    ) -> Change | None:
        """The change to make, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a request may be.

    Attributes:
        threshold: tokens at which the context counts as full.
        wait_until: tokens up to which no summary is tried, after one that failed.
    """

    threshold: int
    wait_until: int = 0


def plan(
    policy: Policy,
    messages: Sequence[Message],
    limits: Limits,
    count: TokenCount,
    head: int = 0,
    tools: Mapping[str, Tool] = _NONE,
) -> list[Change]:
    """What to do before a request: a clearing, a summary, one after the other, or nothing."""
    planned = []
    tokens = count.measure(messages, head)
    change = policy.choose(messages, tokens, limits.threshold, tools)
    if change is not None and not change.summarise:
        messages = without_stale_thinking(change.messages, change.first)
        planned.append(replace(change, messages=messages))
        tokens = count.tokens(sum(map(length, messages)) + head)
        change = policy.choose(messages, tokens, limits.threshold, tools)
    if change is not None and change.summarise and tokens >= limits.wait_until:
        gain = count.tokens(length(list(messages[: change.summarise])))
        if gain > limits.threshold // 10:
            planned.append(change)
    return planned


@dataclass(frozen=True, slots=True)
class Layers:
    """Layer 1 in batches, layer 2 at the threshold."""

    keep: int = 3
    clear_at: float = 0.5
    clear_at_least: int | None = None

    def __post_init__(self) -> None:
        if self.keep < 0 or not 0 <= self.clear_at <= 1 or (self.clear_at_least or 0) < 0:
            raise UsageError(
                f"keep is {self.keep} (0 or more), clear_at {self.clear_at} (0 to 1), "
                f"clear_at_least {self.clear_at_least} (0 or more)"
            )

    def choose(
        self,
        messages: Sequence[Message],
        tokens: int,
        threshold: int,
        tools: Mapping[str, Tool] = _NONE,
    ) -> Change | None:
        """Clear when that gains enough, else summarise when the threshold is passed."""
        if tokens >= threshold * self.clear_at:
            found = clearable(messages, self.keep, tools=tools)
            least = threshold // 5 if self.clear_at_least is None else self.clear_at_least
            gain = sum(one.chars for one in found) // 4
            enough = tokens - gain <= threshold if tokens > threshold else True
            if found and gain >= least and enough:
                return Change(shortened(messages, found), found, found[0].index)
        if tokens > threshold and (before := pending(messages)):
            return Change(summarise=before)
        return None


@dataclass(frozen=True, slots=True)
class Pressure:
    """Four grades of pressure: how full the context is, as a share of the threshold.

    Below 70 % nothing is done. From 70 % on long output that can be read again goes. From 90 % on
    chains of calls become notes of what was called, why, and what failed. Above 110 % the earlier
    half of the conversation becomes a summary.
    """

    long: int = 5_000
    again: Sequence[str] = ("read_file", "bash")
    keep: int = 3

    def choose(
        self,
        messages: Sequence[Message],
        tokens: int,
        threshold: int,
        tools: Mapping[str, Tool] = _NONE,
    ) -> Change | None:
        """What the present grade asks for, or what the one below it still leaves to do."""
        share = tokens / threshold
        if share < 0.7:
            return None
        if share > 1.1:
            end = pending(messages)
            half = cut_before(messages, max(end // 2, min(end, 1)))
            return Change(summarise=half or end) if half or end else None
        old = clearable(messages, self.keep, self.long, tools)
        long = [one for one in old if one.name in self.again]
        if long:
            new = replaced(messages, long, _reread)
            return Change(new, long, long[0].index)
        return _chains(messages, self.keep, tools) if share >= 0.9 else None


def _reread(one: Result) -> str:
    return f"[Large output: {one.chars} chars, can re-read]"


def _chains(messages: Sequence[Message], keep: int, tools: Mapping[str, Tool]) -> Change | None:
    """Chains of calls that the model has seen, each become one note."""
    found = results(messages)
    kept = {one.index for one in protected(found, keep, tools)}
    end = seen(messages)
    new: list[Message] = []
    cleared: list[Result] = []
    first = len(messages)
    for place, chain in _runs(messages, end, kept):
        if len(chain) < 4:  # one round is no chain
            new += chain
            continue
        first = min(first, place)
        cleared += [one for one in found if place <= one.index < place + len(chain)]
        new.append({"role": "user", "content": [{"type": "text", "text": _note(chain)}]})
    return Change([*new, *messages[end:]], cleared, first) if cleared else None


def _runs(
    messages: Sequence[Message], end: int, kept: set[int]
) -> Iterator[tuple[int, list[Message]]]:
    """The first ``end`` messages, cut into chains of rounds that may go and everything else."""
    rounds: list[tuple[int, bool, list[Message]]] = []
    place = 0
    while place < end:
        calls = _kinds(messages[place]) & {"tool_use"}
        answered = place + 1 < end and "tool_result" in _kinds(messages[place + 1])
        size = 2 if calls and answered else 1
        free = size == 2 and place + 1 not in kept
        rounds.append((place, free, list(messages[place : place + size])))
        place += size
    for _, group in itertools.groupby(rounds, key=lambda one: (one[1], not one[1] and one[0])):
        parts = list(group)
        yield parts[0][0], [message for _, _, some in parts for message in some]


def _kinds(message: Message) -> set[str]:
    content = message["content"]
    return set() if isinstance(content, str) else {block["type"] for block in content}


def _note(chain: Sequence[Message]) -> str:
    """What was said, called and went wrong in a chain; the data that came back is left out."""
    lines = [f"<{EARLIER}>"]
    calls: dict[str, str] = {}
    for block in (block for message in chain for block in message["content"]):
        if block["type"] == "text":
            lines.append(defused(block["text"], [EARLIER]))
        elif block["type"] == "tool_use":
            calls[block["id"]] = f"{block['name']}({defused(_arguments(block['input']))})"
        elif block["type"] == "tool_result":
            said = defused(_short(str(block.get("content"))))
            failed = f" failed: {said}" if block.get("is_error") else ""
            lines.append(f"- {calls.get(block['tool_use_id'], 'a call')}{failed}")
    return "\n".join([*lines, f"</{EARLIER}>"])


def _arguments(given: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_short(str(value), 60)}" for key, value in given.items())


def _short(text: str, limit: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
