"""What the programs that play lesson 4's models read of a request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def text_of(content: Any) -> str:
    """Return the text of a message or of a result."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def results_of(messages: Iterable[Any]) -> list[str]:
    """Return the texts of all tool results, in order."""
    blocks = [b for m in messages if not isinstance(m["content"], str) for b in m["content"]]
    return [text_of(block["content"]) for block in blocks if block["type"] == "tool_result"]
