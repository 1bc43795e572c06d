"""Content blocks as plain dicts: what may be sent to the API, which refuses empty ones."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from learnkit.errors import UsageError

Block: TypeAlias = dict[str, Any]


def sendable(blocks: list[Block]) -> list[Block]:
    """Return the blocks of a reply that the API takes back: no empty text, no thinking at the end.

    Args:
        blocks: as plain dicts.
    """
    kept = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    while kept and kept[-1]["type"] in ("thinking", "redacted_thinking"):
        kept.pop()
    return kept


def spoken(blocks: list[Block]) -> str:
    """Return what the model says in a reply: its texts, each on a line of its own.

    Args:
        blocks: of the reply, as plain dicts.
    """
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def note(text: str | None) -> list[Block]:
    """Return what a hook says as content: one text block, or none for nothing.

    Args:
        text: what the hook returned.

    Raises:
        UsageError: if it is no text.
    """
    if text is not None and not isinstance(text, str):
        raise UsageError(f"a hook returned {text!r}; it may return text, or None for nothing")
    return [{"type": "text", "text": clean(text)}] if text and text.strip() else []


def result_content(output: Any) -> str | list[Block]:
    """Return a tool's output as the content of its ``tool_result``: never empty.

    Args:
        output: a list of content blocks, or any other value, of which the text is taken.

    Raises:
        TypeError, ValueError: if it is a list of blocks that JSON cannot hold.
    """
    if isinstance(output, list) and output:
        json.dumps(output)
        return [{**b, "text": _filled(b["text"])} if "text" in b else b for b in output]
    return _filled("" if output is None else str(output))


def clean(text: str) -> str:
    """Return a text without lone surrogates, which come from undecodable file names.

    Args:
        text: may contain them.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def check_prompt(prompt: str | list[Block] | None, messages: list[Block]) -> None:
    """Check that a run can begin with a prompt, or without one.

    Args:
        prompt: as given to ``run``; None to continue without one.
        messages: the array so far.

    Raises:
        UsageError: for an empty prompt, or none when it is not the model's turn.
    """
    if prompt is None:
        if not messages:
            raise UsageError("there is nothing to go on with: give run() a prompt")
        if messages[-1]["role"] == "assistant" and not _paused(messages[-1]):
            raise UsageError("the model has had the last word: give run() a prompt")
        return
    texts = [prompt] if isinstance(prompt, str) else [b.get("text", "…") for b in prompt]
    if not texts or not all(text.strip() for text in texts):
        raise UsageError("the prompt is empty; the API refuses empty messages")


def _paused(message: Block) -> bool:
    """Whether the model stopped inside a server tool, and may go on by itself."""
    content = message["content"]
    return not isinstance(content, str) and any(b["type"] == "server_tool_use" for b in content)


def _filled(text: str) -> str:
    return clean(text) if text.strip() else "(no output)"
