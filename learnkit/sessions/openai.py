"""What Codex, ATIF and mini-swe-agent have in common: the items and counts of OpenAI's API."""

from __future__ import annotations

import contextlib
import re
from typing import Any

from learnkit.events.loop import UsageData
from learnkit.events.text import content_text
from learnkit.sessions.source import number, parsed, table, tables, text

#: What a request used, by the names that these APIs have for it.
_SENT, _OUT = ("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens")
_CACHED = ("cached_input_tokens", "cached_tokens")
_WRITTEN = ("cache_write_input_tokens", "cache_creation_input_tokens")
#: How the output of a command begins that has failed: none of these formats has a field for it.
_FAILED = re.compile(r'(Exit code: |exited with code |"exit_code":\s*|<returncode>)[1-9-]')


def said(content: Any, kind: str = "text") -> list[dict[str, Any]]:
    """A text, or the texts of some parts, as a content block; none if it is empty."""
    words = content_text(content)
    return [{"type": kind, kind: words}] if words else []


def call(id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """A call as a content block; its arguments are an object, JSON in a text, or free text."""
    given = arguments if isinstance(arguments, dict) else {"input": arguments}
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):
            given = parsed(arguments.encode())
    return {"type": "tool_use", "id": text(id), "name": text(name) or "?", "input": given}


def blocks(item: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of an item of a response: a message, reasoning, or a call."""
    match kind := text(item.get("type")):
        case "message":
            return said(item.get("content"))
        case "reasoning":  # what is encrypted can't be read, and is left out
            return said([*tables(item.get("summary")), *tables(item.get("content"))], "thinking")
    given = item.get("arguments") or item.get("input") or item.get("action")
    made = call(item.get("call_id") or item.get("id"), item.get("name") or kind, given)
    ours = item.get("call_id") or kind == "local_shell_call"  # else the server has done it
    return [made if ours else made | {"type": "server_tool_use"}]


def reply(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of a message with calls; a step of ATIF has other names for the same."""
    found = said(message.get("reasoning_content"), "thinking")
    found += said(message.get("content") or message.get("message"))
    for one in tables(message.get("tool_calls")):
        function = table(one.get("function")) or one
        id, name = one.get("id"), function.get("name")
        id, name = id or one.get("tool_call_id"), name or one.get("function_name")
        found.append(call(id, name, function.get("arguments")))
    return found


def failed(output: str) -> bool:
    """Whether the output of a command says that it has failed."""
    return bool(_FAILED.search(output[:400]))


def usage(data: Any) -> UsageData | None:
    """The counts of a request, if it has some, without cached tokens in those that were sent."""
    found = table(data)
    for part in ("input_tokens_details", "prompt_tokens_details", "extra"):
        found = {**table(found.get(part)), **found}
    sent, out, cached, written = (
        next(filter(None, (number(found.get(name)) for name in names)), 0)
        for names in (_SENT, _OUT, _CACHED, _WRITTEN)
    )
    counts = UsageData(
        input_tokens=max(0, sent - cached - written),
        cache_read_input_tokens=cached,
        cache_creation_input_tokens=written,
        output_tokens=out,
    )
    return counts if sent or out else None
