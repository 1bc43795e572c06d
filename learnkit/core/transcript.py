"""Transcripts: messages as text, for a reader who does not take part in the conversation.

A subagent that inherits background, and the model that writes a summary, read one. Thinking is
left out, since it belongs to the conversation that it was thought in. Before an array is summarised
it is saved, whole, in a file that nothing overwrites.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from learnkit.core.interface import AgentLike


def as_text(messages: Sequence[dict[str, Any]]) -> str:
    """Messages as lines ``role: text``: what was said, called and answered, in order."""
    return "\n".join(f"{one['role']}: {text}" for one in messages for text in texts(one["content"]))


def texts(content: str | Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the readable parts of a message's content, in order."""
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_use":
            yield f"{block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
        elif block["type"] == "tool_result":
            yield from texts(block.get("content", ""))
        elif block["type"] not in ("thinking", "redacted_thinking"):
            yield f"[{block['type']}]"


def request_of(agent: AgentLike) -> str:
    """Return what the agent was last asked to do, by ``run``; empty if it was asked nothing.

    It is read from the event log, which has it also after compaction has removed the message.
    """
    for place in range(len(agent.events) - 1, -1, -1):
        event = agent.events[place]
        if event.type == "run.started" and event.lane == agent.name and event.data["prompt"]:
            return "\n".join(texts(event.data["prompt"]))
    return ""


def save(messages: Sequence[dict[str, Any]], folder: str | Path, name: str) -> Path:
    """Write messages to a new file, one JSON object a line: the whole file or none."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^\w.-]", "_", name)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=folder, prefix=".", suffix=".part"
    ) as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in messages)
        file.flush()
        number = 1
        while True:
            path = folder / f"{stem}-{number}.jsonl"
            try:
                os.link(file.name, path)  # unlike a rename, this fails if the name is taken
            except FileExistsError:
                number += 1
            else:
                return path
