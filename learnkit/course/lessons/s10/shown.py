"""What the cells of lesson 10 print of a conversation: calls with their results, and a request."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import learnkit as lk
from learnkit.events.text import blocks_of, content_text, one_line

#: Characters of a line: what fits into a notebook's cell without wrapping.
_LINE = 96


def calls(messages: Iterable[Any]) -> str:
    """Write each call of a conversation on a line, and its result on the next one."""
    lines, pending = [], dict[str, str]()
    for block in (block for one in messages for block in blocks_of(one["content"])):
        if block["type"] == "tool_use":
            pending[block["id"]] = f"{block['name']} {_arguments(block['input'])}"
        elif block["type"] == "tool_result":
            mark = "✗" if block.get("is_error") else "✓"
            result = content_text(block.get("content"))
            lines.append(one_line(pending.pop(block["tool_use_id"], "?"), _LINE))
            lines.append("    " + one_line(f"{mark} {result or '(no output)'}", _LINE - 4))
    return "\n".join(lines)


def exchange(team: lk.Team, type: str) -> str:
    """Write the first message of a type that a teammate got, and its reply."""
    for teammate in team.members:
        messages = teammate.agent.messages
        for got, reply in itertools.pairwise(messages):
            texts = [one["text"] for one in blocks_of(got["content"]) if one["type"] == "text"]
            if got["role"] == "user" and any(f'type="{type}"' in one for one in texts):
                return "\n".join([texts[-1], *_reply(reply)])
    return f"In this run, no teammate got a {type}."


def _reply(message: Any) -> Iterator[str]:
    for block in blocks_of(message["content"]):
        yield f"{block['type']} | {block.get('text') or block['name']}"
        for name, value in block.get("input", {}).items():
            yield f"    {name}: {value}"


def _arguments(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}={json.dumps(one, ensure_ascii=False)}" for name, one in values.items()
    )
