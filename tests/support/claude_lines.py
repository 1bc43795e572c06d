"""Lines of a Claude Code session, as a test needs them: linked and a second apart."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
Block = dict[str, Any]


def use(id: str, name: str = "Read", **given: Any) -> Block:
    """A call."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def text(said: str) -> Block:
    """A block of text."""
    return {"type": "text", "text": said}


class Lines:
    """A file of lines; each follows the one before, unless ``parentUuid`` says otherwise."""

    def __init__(self, prefix: str = "u", **every: Any) -> None:
        self.entries: list[dict[str, Any]] = []
        self._every, self._prefix = every, prefix
        self._number: Iterator[int] = itertools.count(1)

    def add(self, kind: str, **fields: Any) -> str:
        """Add a line; returns its uuid."""
        id = f"{self._prefix}{next(self._number)}"
        last = self.entries[-1]["uuid"] if self.entries else None
        time = BEGAN + timedelta(seconds=len(self.entries))
        line = {
            **{"type": kind, "uuid": id, "parentUuid": last, "isSidechain": False},
            **{"sessionId": "s", "version": "2.1.45", "cwd": "/work", "gitBranch": "main"},
            "timestamp": time.isoformat().replace("+00:00", "Z"),
        }
        self.entries.append(line | self._every | fields)
        return id

    def user(self, content: Any, **fields: Any) -> str:
        """A prompt, or another user message."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call: str, content: Any = "ok", failed: bool = False, **fields: Any) -> str:
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([block | ({"is_error": True} if failed else {})], **fields)

    def reply(
        self, id: str, *blocks: Block, stop: str | None = None, sent: int = 100, **fields: Any
    ) -> str:
        """A block of a reply; lines with one id are one reply."""
        usage = {"input_tokens": sent, "output_tokens": 7, "cache_read_input_tokens": 20}
        message: dict[str, Any] = {"id": id, "role": "assistant", "usage": usage}
        message |= {"model": "some-model", "content": list(blocks), "stop_reason": stop}
        return self.add("assistant", message=message, requestId=f"r-{id}", **fields)

    def write(self, path: Path, *more: str) -> Path:
        """Write the file, and other lines after it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [*map(json.dumps, self.entries), *more]
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return path
