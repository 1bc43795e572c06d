"""Mailboxes: a file for each recipient, into which everybody may write and from which one reads.

Mail is appended under a lock and never taken out; a reader has a place in the file, which moves
when the mail has been dealt with. So none is lost, whoever writes at the same time and whoever is
killed in between, and ids make sure that none counts twice. What a message says is untrusted text;
who it is from is not: the harness stamps it.
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
        sender: who wrote it, as the harness knows.
        to: whose inbox it is in.
        content: the text.
        timestamp: when it was written, ISO 8601; empty if nobody said.
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
        """Read what :meth:`to_json` gives; None if it is no message."""
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
        """Give somebody an inbox; one that there is already stays as it is.

        Raises:
            ToolError: if the name cannot be one.
        """
        path = self._path(name)
        with locked(self.folder):
            path.touch()

    @property
    def names(self) -> list[str]:
        """Who has an inbox, sorted."""
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
            sender: who writes.
            to: who is to read it.
            content: the text.
            type: what kind of message it is.
            at: when; the clock knows.
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
        """Put a message into every inbox but the sender's: into all of them, in one step.

        Raises:
            ToolError: if the text is empty or too long.
        """
        self._check(None, content)
        with locked(self.folder):
            others = [name for name in self.names if name != sender]
            return [self._deliver(sender, to, content, "broadcast", at, {}) for to in others]

    def all(self, name: str) -> list[Mail]:
        """Everything that ever came into an inbox, in order."""
        entries, _ = Journal(self._known(name)).read()
        return list(filter(None, map(Mail.from_json, entries)))

    def unread(self, name: str) -> list[Mail]:
        """What its reader has not dealt with yet. Looking changes nothing."""
        return Inbox(self, name).look()

    def reader(self, name: str, seen: Iterable[str] = ()) -> Inbox:
        """Somebody's place in its inbox.

        Args:
            name: whose.
            seen: ids of messages that it has dealt with before, as its transcript says.
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
        """Number a message and append it; who calls holds the lock."""
        with Document(self.folder / "mail.json").change({"next_id": 1}) as counter:
            number = counter["next_id"]
            counter["next_id"] += 1
        mail = Mail(f"m{number}", type, sender, to, content, at.isoformat() if at else "", more)
        Journal(self._path(to)).append(mail.to_json())
        return mail

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
    """One reader's place in an inbox.

    ``take`` gives each message once. ``commit`` says that what was taken is safe: in a transcript,
    or dealt with. A reader that dies before it commits is given the same messages again when it
    comes back, unless it says that it has seen them.

    Args:
        mailbox: where the inbox is.
        name: whose it is.
        seen: ids of messages that were dealt with before, as the reader's own transcript has them.

    Raises:
        ToolError: if nobody of that name has an inbox.
    """

    def __init__(self, mailbox: Mailbox, name: str, seen: Iterable[str] = ()) -> None:
        self._path = mailbox._known(name)
        self._reader = self._open()
        self._seen = set(seen)
        self._passed: set[str] = set()  # ids up to which commit would move the place

    def look(self) -> list[Mail]:
        """What has come and was not taken. Changes nothing, not even what commit will say."""
        return [mail for mail in _mail(self._open()) if mail.id not in self._seen]

    def take(self) -> list[Mail]:
        """What has come since the last time, in order; each message once."""
        pending = _mail(self._reader)
        self._passed = {mail.id for mail in pending}
        new = [mail for mail in pending if mail.id not in self._seen]
        self._seen |= self._passed
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        """Some of what was taken has not arrived: the next ``take`` gives it again.

        Args:
            ids: of messages taken since the last ``commit``.
        """
        self._seen -= set(ids)

    def commit(self) -> None:
        """What was taken has been dealt with: nobody is given it again."""
        self._reader.commit()
        self._seen -= self._passed  # what lies behind the place does not come again
        self._passed = set()

    def _open(self) -> Reader:
        return Reader(Journal(self._path), self._path.with_suffix(".place.json"))


def _mail(reader: Reader) -> list[Mail]:
    return list(filter(None, map(Mail.from_json, reader.pending())))
