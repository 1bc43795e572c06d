"""Content blocks as plain dicts: what may be sent back to the API."""

from __future__ import annotations

from typing import Any, TypeAlias

Block: TypeAlias = dict[str, Any]


def sendable(blocks: list[Block]) -> list[Block]:
    """The blocks of a reply that the API takes back: no empty text, no thinking at the end."""
    kept = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    while kept and kept[-1]["type"] in ("thinking", "redacted_thinking"):
        kept.pop()
    return kept
