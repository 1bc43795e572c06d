"""Sentences about events: how a template is filled, and how details are put into words."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

from learnkit.events.text import count, one_line, quoted


def ended(sentence: str) -> str:
    """A sentence on one line, without a second full stop after a quotation that has its own."""
    return re.sub("([.!?…]”)\\.$", r"\1", one_line(sentence, 240))


def filled(template: str, about: Any) -> str:
    """Fill a template with the attributes of an object.

    ``{mail.to}`` is an attribute of an attribute, ``{prompt:quoted}`` has a format. Formats are
    ``quoted``; ``line``, at most 60 columns; ``seconds``; those of Python such as ``,``; and a
    noun: ``{turns:turn}`` becomes "3 turns", and the number may be the length of a list.
    """
    return _Filler().vformat(template, (), {"about": about})


class _Filler(string.Formatter):
    def get_field(self, name: str, _: Any, about: Any) -> tuple[Any, str]:
        found: tuple[Any, str] = super().get_field(f"about.{name}", (), about)
        return found

    def format_field(self, value: Any, format: str) -> str:
        if format in _FORMATS:
            return _FORMATS[format](value)
        if format.isalpha() or " " in format:
            return count(value if isinstance(value, int) else len(value), format)
        written: str = super().format_field(value, format)
        return written


_FORMATS: dict[str, Callable[[Any], str]] = {
    "": str,
    "line": lambda text: one_line(text, 60),
    "quoted": quoted,
    "seconds": lambda value: f"{value:.1f} s",
}


def stopped(reason: str | None) -> str:
    """Why a reply or a run ended, in words."""
    return _REASONS.get(reason or "", reason or "no reason given")


_REASONS = {
    "end_turn": "the model is done",
    "tool_use": "the model wants a tool",
    "max_tokens": "cut off at the token limit",
    "stop_sequence": "stopped by a stop sequence",
    "pause_turn": "paused by the server",
    "refusal": "the model refuses",
    "model_context_window_exceeded": "the context window is full",
    "cancelled": "cancelled",
    "turn_limit": "the turn limit is reached",
    "cost_limit": "the limit of cost is reached",
}
