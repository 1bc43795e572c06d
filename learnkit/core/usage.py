"""The meter: what a run cost, in turns and tokens, read from its event log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from learnkit.core.events import Event
from learnkit.core.token_count import sent


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
        """Read the meter of a log.

        Args:
            events: the log.
            lane: count only this agent; None counts everyone.
        """
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
            output_tokens=sum(usage["output_tokens"] for usage in usages),
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
