"""A message between agents: what every backend stores, and what it may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from learnkit.errors import ToolError

Type = Literal[
    "message", "broadcast", "shutdown_request", "shutdown_response", "plan_approval_response"
]

#: Characters that one message may have.
MAX_CONTENT = 20_000

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_KEYS = ("id", "type", "from", "to", "content", "timestamp")


@dataclass(frozen=True, slots=True)
class Mail:
    """One message.

    Attributes:
        id: no other message of this mailbox has it.
        type: ``message``, ``broadcast``, or a type of lesson 10's protocols.
        sender: the agent that sent it, as the harness knows.
        to: the name of the inbox that it is in.
        content: the text.
        timestamp: when it was sent, ISO 8601; empty if that is not known.
        more: what else the line holds, such as ``request_id``.
    """

    id: str
    type: Type
    sender: str
    to: str
    content: str
    timestamp: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The message as a line of the file has it."""
        values = (self.id, self.type, self.sender, self.to, self.content, self.timestamp)
        return {**dict(zip(_KEYS, values, strict=True)), **self.more}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> Mail | None:
        """Read what :meth:`to_json` returns."""
        if not all(isinstance(line.get(key), str) for key in _KEYS):
            return None
        if line["type"] not in get_args(Type):
            return None
        id, type, sender, to, content, timestamp = (line[key] for key in _KEYS)
        more = {key: value for key, value in line.items() if key not in _KEYS}
        return cls(id, type, sender, to, content, timestamp, more)


def checked_name(name: str) -> str:
    """Return the name of an inbox."""
    if not _NAME.fullmatch(name):
        raise ToolError(
            f"{name!r} is not a valid name; use 1 to 40 of a-z, 0-9, '_' and '-', and begin with "
            "one of a-z"
        )
    return name


def is_name(name: str) -> bool:
    """Whether an inbox may have this name."""
    return bool(_NAME.fullmatch(name))


def unknown_inbox(name: str, known: Iterable[str]) -> ToolError:
    """Return the error for a name that no inbox has."""
    there = ", ".join(known) or "none"
    return ToolError(f"there is no inbox for {name!r}; there are inboxes for: {there}")


def check_content(content: str) -> None:
    """Refuse a text that no message may have."""
    if not content.strip():
        raise ToolError("the message is empty; write a text, or send nothing")
    if len(content) > MAX_CONTENT:
        size = f"{len(content):,} characters; at most {MAX_CONTENT:,} fit"
        raise ToolError(f"the message has {size}. Write the text to a file and send its path")
