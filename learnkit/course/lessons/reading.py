"""What a lesson's games and its functions that answer read in the messages of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from learnkit.events.text import blocks_of, content_text


def blocks(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The blocks of all messages, in order."""
    return [block for message in messages for block in blocks_of(message["content"])]


def results(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """The texts of all tool results, in order."""
    found = [one for one in blocks(messages) if one["type"] == "tool_result"]
    return [content_text(one.get("content")) for one in found]
