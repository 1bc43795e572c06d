"""What Codex and mini-swe-agent have in common: the items and counts of OpenAI's API."""

from __future__ import annotations

import json
from typing import Any

from learnkit.events.loop import UsageData
from learnkit.events.text import content_text
from learnkit.sessions.source import number, table, tables, text


def call(id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A call as a content block; its arguments are JSON in a text, or free text."""
    given = arguments
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            given = None
    given = given if isinstance(given, dict) else {"input": arguments}
    return {"type": "tool_use", "id": text(id), "name": text(name) or "?", "input": given}


def blocks(item: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of an item of a response: a message, reasoning, or a call."""
    kind = text(item.get("type"))
    if kind == "message":
        said = content_text(item.get("content"))
        return [{"type": "text", "text": said}] if said else []
    if kind == "reasoning":  # what is encrypted can't be read, and is left out
        parts = [*tables(item.get("summary")), *tables(item.get("content"))]
        thought = "\n".join(text(one.get("text")) for one in parts)
        return [{"type": "thinking", "thinking": thought}] if thought else []
    given = item.get("arguments") or item.get("input") or item.get("action")
    return [call(item.get("call_id") or item.get("id"), item.get("name") or kind, given)]


def usage(data: Any) -> UsageData | None:
    """The counts of a request, if it has some; cached tokens are part of those that were sent."""
    counts = table(data)
    sent = number(counts.get("input_tokens") or counts.get("prompt_tokens"))
    details = table(counts.get("input_tokens_details") or counts.get("prompt_tokens_details"))
    cached = number(counts.get("cached_input_tokens") or details.get("cached_tokens"))
    written = number(counts.get("cache_write_input_tokens"))
    out = number(counts.get("output_tokens") or counts.get("completion_tokens"))
    return counted(sent, cached, written, out) if sent or out else None


def counted(sent: int, cached: int, written: int, out: int) -> UsageData:
    """Counts as our API has them: what was sent anew, without what the cache has to do with."""
    return UsageData(
        input_tokens=max(0, sent - cached - written),
        cache_read_input_tokens=cached,
        cache_creation_input_tokens=written,
        output_tokens=out,
    )
