"""What the programs that play lesson 4's models read of a request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from learnkit.events.text import blocks_of, content_text


def results_of(messages: Iterable[Any]) -> list[str]:
    """Return the texts of all tool results, in order."""
    blocks = [block for message in messages for block in blocks_of(message["content"])]
    return [content_text(block["content"]) for block in blocks if block["type"] == "tool_result"]
