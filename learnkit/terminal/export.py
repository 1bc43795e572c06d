"""A conversation as a Markdown file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from learnkit.core.transcript import texts
from learnkit.events.text import arguments, blocks_of


def as_markdown(messages: Sequence[dict[str, Any]]) -> str:
    """What the user and the model have said, with the calls and their results."""
    return "\n\n".join(part for message in messages for part in _parts(message)) + "\n"


def _parts(message: dict[str, Any]) -> Iterator[str]:
    who = "You" if message["role"] == "user" else "Model"
    for block in blocks_of(message["content"]):
        match block:
            case {"type": "text", "text": text}:
                yield f"## {who}\n\n{text.strip()}"
            case {"type": "tool_use", "name": name, "input": given}:
                yield f"Call of `{name}`:\n\n{_fenced(arguments(given))}"
            case {"type": "tool_result"}:
                said = "\n".join(texts(block.get("content") or ""))
                yield f"{'Error' if block.get('is_error') else 'Result'}:\n\n{_fenced(said)}"
            case {"type": "image" | "document" as kind}:
                yield f"## {who}\n\n[{kind}]"


def _fenced(text: str) -> str:
    """A text as code, in a fence that nothing in it ends."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
