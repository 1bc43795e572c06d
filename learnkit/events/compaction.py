"""The events of compaction."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event, record
from learnkit.events.text import quoted


@event(
    "tokens.estimated",
    lesson="s06",
    sentence="The next request has ≈{tokens:,} tokens; the threshold is {threshold:,}.",
)
class TokensEstimated:
    """Compaction has measured the next request."""

    tokens: int
    chars_per_token: float = 4.0
    messages: int = 0
    threshold: int = 0


@record
class ClearedResult:
    """A tool result whose content was taken out of the array."""

    index: int
    id: str = ""
    name: str = ""
    chars: int = 0


@event(
    "compaction.cleared",
    lesson="s06",
    sentence="{results:old result} cleared: ≈{before:,} tokens become ≈{after:,}.",
)
class CompactionCleared:
    """Old tool results have been cleared."""

    before: int
    after: int
    results: tuple[ClearedResult, ...] = ()


_ASKERS = {
    "tool": "The model asks",
    "threshold": "The threshold is passed; compaction asks",
    "person": "A person asks",
}


@event(
    "compaction.asked",
    lesson="s06",
    sentence=lambda asked: (
        f"{_ASKERS[asked.by]} for a summary"
        f"{f' with focus on {quoted(asked.focus)}' if asked.focus else ''}."
    ),
)
class CompactionAsked:
    """A summary of the conversation is wanted."""

    focus: str = ""
    by: Literal["tool", "threshold", "person"]


@event(
    "compaction.summarised",
    lesson="s06",
    sentence="The conversation is a summary now: ≈{before:,} tokens become ≈{after:,}.",
)
class CompactionSummarised:
    """The conversation has been replaced by a summary; the whole of it is in ``transcript``."""

    before: int
    after: int
    transcript: str = ""
    focus: str = ""


@event(
    "compaction.failed",
    lesson="s06",
    sentence="The summary fails, and the messages stay as they are: {error}.",
)
class CompactionFailed:
    """The model wrote no summary."""

    error: str = ""
