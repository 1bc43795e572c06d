"""Mailboxes: a file for each recipient, which any member may append to and only one reads.

Messages are appended under a lock and never removed; a reader has a cursor in the file, which moves
when the messages before it have been dealt with. So none is lost, however many write at the same
time and whatever is killed in between, and ids make sure that none counts twice. The content of a
message is untrusted text; its sender is not: the harness stamps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from learnkit.backends.files.store import Document, Journal, Reader, locked
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
        """Read what :meth:`to_json` returns.

        Args:
            line: an object from the file.

        Returns:
            The message; None if the object is no message.
        """
        if not all(isinstance(line.get(key), str) for key in _KEYS):
            return None
        if line["type"] not in get_args(Type):
            return None
        id, type, sender, to, content, timestamp = (line[key] for key in _KEYS)
        more = {key: value for key, value in line.items() if key not in _KEYS}
        return cls(id, type, sender, to, content, timestamp, more)


class Mailbox:
    """The inboxes of a team, shared by threads and processes.

    Args:
        folder: such as ``.team/inbox``; is created with the first inbox. Alice's inbox is
            ``alice.jsonl`` in it, one message a line.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def open(self, name: str) -> None:
        """Create an inbox; one that exists stays as it is.

        Args:
            name: its address: 1 to 40 of a-z, 0-9, '_' and '-', a letter first.

        Raises:
            ToolError: if the name is not a valid one.
        """
        path = self._path(name)
        with locked(self.folder):
            path.touch()

    @property
    def names(self) -> list[str]:
        """The names that have an inbox, sorted."""
        found = (path.stem for path in self.folder.glob("*.jsonl"))
        return sorted(name for name in found if _NAME.fullmatch(name))

    def send(
        self,
        sender: str,
        to: str,
        content: str,
        type: Type = "message",
        *,
        at: datetime | None = None,
        **more: Any,
    ) -> Mail:
        """Put a message into an inbox.

        Args:
            sender: the agent that sends it.
            to: the name of the recipient.
            content: the text.
            type: what kind of message it is.
            at: when it was sent.
            more: further fields of the line, JSON-ready.

        Returns:
            The message, with its id.

        Raises:
            ToolError: for a recipient without an inbox, or a text that is empty or too long.
        """
        self._check(to, content)
        with locked(self.folder):
            return self._deliver(sender, to, content, type, at, more)

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        """Put a message into every inbox except the sender's, in one step.

        Args:
            sender: the agent that sends it.
            content: the text.
            at: when it was sent.

        Returns:
            One message for each recipient; each has its own id.

        Raises:
            ToolError: if the text is empty or too long.
        """
        self._check(None, content)
        with locked(self.folder):
            others = [name for name in self.names if name != sender]
            return [self._deliver(sender, to, content, "broadcast", at, {}) for to in others]

    def all(self, name: str) -> list[Mail]:
        """Return every message that an inbox has ever got, in order.

        Args:
            name: of the inbox.

        Raises:
            ToolError: if there is no such inbox.
        """
        entries, _ = Journal(self._known(name)).read()
        return list(filter(None, map(Mail.from_json, entries)))

    def unread(self, name: str) -> list[Mail]:
        """Return the messages that the reader of an inbox has not committed. Changes nothing.

        Args:
            name: of the inbox.

        Raises:
            ToolError: if there is no such inbox.
        """
        return Inbox(self, name).look()

    def reader(self, name: str, seen: Iterable[str] = ()) -> Inbox:
        """Return a reader whose cursor is where the last one committed.

        Args:
            name: of the inbox.
            seen: ids of messages that were dealt with before, as the reader's transcript has them.

        Raises:
            ToolError: if there is no such inbox.
        """
        return Inbox(self, name, seen)

    def _deliver(
        self,
        sender: str,
        to: str,
        content: str,
        type: Type,
        at: datetime | None,
        more: dict[str, Any],
    ) -> Mail:
        """Number a message and append it; the caller holds the lock."""
        with Document(self.folder / "mail.json").change({"next_id": 1}) as counter:
            number = counter["next_id"]
            counter["next_id"] += 1
        message = Mail(f"m{number}", type, sender, to, content, at.isoformat() if at else "", more)
        Journal(self._path(to)).append(message.to_json())
        return message

    def _check(self, to: str | None, content: str) -> None:
        if to is not None:
            self._known(to)
        if not content.strip():
            raise ToolError("the message is empty; say something, or send nothing")
        if len(content) > MAX_CONTENT:
            size = f"{len(content):,} characters, at most {MAX_CONTENT:,}"
            raise ToolError(f"the message has {size}; write it to a file and send its name")

    def _known(self, name: str) -> Path:
        path = self._path(name)
        if not path.exists():
            there = ", ".join(self.names) or "none"
            raise ToolError(f"nobody is called {name!r}; there are: {there}")
        return path

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ToolError(
                f"{name!r} cannot be a name: 1 to 40 of a-z, 0-9, '_' and '-', a letter first"
            )
        return self.folder / f"{name}.jsonl"


class Inbox:
    """One reader's cursor in an inbox.

    ``take`` returns each message once. ``commit`` says that what was taken is safe: in a
    transcript, or dealt with. If the reader is killed before it commits, the messages are delivered
    again when it comes back, unless it says that it has seen them.

    Args:
        mailbox: where the inbox is.
        name: of the inbox.
        seen: ids of messages that were dealt with before, as the reader's own transcript has them.

    Raises:
        ToolError: if there is no such inbox.
    """

    def __init__(self, mailbox: Mailbox, name: str, seen: Iterable[str] = ()) -> None:
        self._path = mailbox._known(name)
        self._reader = self._open()
        self._seen = set(seen)
        self._passed: set[str] = set()  # ids after which commit would move the cursor

    def look(self) -> list[Mail]:
        """Return what has come and was not taken. Changes nothing, nor what ``commit`` will do."""
        return [mail for mail in _messages(self._open()) if mail.id not in self._seen]

    def take(self) -> list[Mail]:
        """Return what has come since the last call, in order; each message once."""
        pending = _messages(self._reader)
        self._passed = {mail.id for mail in pending}
        new = [mail for mail in pending if mail.id not in self._seen]
        self._seen |= self._passed
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        """Let the next ``take`` return messages again, because they have not arrived.

        Args:
            ids: of messages taken since the last ``commit``.
        """
        self._seen -= set(ids)

    def commit(self) -> None:
        """Move the cursor: what was taken has been dealt with, and is not returned again."""
        self._reader.commit()
        self._seen -= self._passed  # what is before the cursor does not come again
        self._passed = set()

    def _open(self) -> Reader:
        return Reader(Journal(self._path), self._path.with_suffix(".place.json"))


def _messages(reader: Reader) -> list[Mail]:
    return list(filter(None, map(Mail.from_json, reader.pending())))
