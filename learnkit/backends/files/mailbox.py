"""Mailboxes: a file for each recipient, which any member may append to and only one reads.

Messages are appended under a lock and never removed; a reader has a cursor in the file, which moves
when the messages before it have been dealt with. So none is lost, however many write at the same
time and whatever is killed in between, and ids make sure that none counts twice. The content of a
message is untrusted text; its sender is not: the harness stamps it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from learnkit.backends.files.store import (
    Document,
    Journal,
    append_together,
    counted,
    locked,
    next_number,
    settled,
    write_in_place,
)
from learnkit.backends.interface import InboxReader, MailBackend
from learnkit.backends.mail import (
    MAX_CONTENT,
    Mail,
    Type,
    check_content,
    checked_name,
    is_name,
    unknown_inbox,
)

__all__ = ["MAX_CONTENT", "Inbox", "Mail", "Mailbox", "Type"]

_ID = re.compile(r"m([1-9][0-9]{0,8})")


class Mailbox(MailBackend):
    """The inboxes of a team, shared by threads and processes.

    Args:
        folder: such as ``.team/inbox``; is created with the first inbox. Alice's inbox is
            ``alice.jsonl`` in it, one message a line.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._counter = self.folder / "mail.json"
        self._numbered: dict[str, tuple[int, int]] = {}  # by inbox: bytes read, highest number

    def open(self, name: str) -> None:
        path = self._path(name)
        with locked(self.folder):
            next_number(self._counter)  # a newer version is refused before anything is written
            path.touch()

    @property
    def names(self) -> list[str]:
        found = (path.stem for path in self.folder.glob("*.jsonl"))
        return sorted(filter(is_name, found))

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
        self._known(to)
        check_content(content)
        with locked(self.folder):
            (mail,) = self._deliver(sender, [to], content, type, at, more)
            return mail

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        check_content(content)
        with locked(self.folder):
            others = [name for name in self.names if name != sender]
            return self._deliver(sender, others, content, "broadcast", at, {})

    def all(self, name: str) -> list[Mail]:
        """Return every message that an inbox has ever got, in order.

        Args:
            name: of the inbox.

        Raises:
            ToolError: if there is no such inbox.
        """
        journal = Journal(self._known(name))
        return _messages(settled(self.folder, lambda: journal.read()[0]))

    def unread(self, name: str) -> list[Mail]:
        return Inbox(self, name).look()

    def reader(self, name: str, seen: Iterable[str] = ()) -> Inbox:
        return Inbox(self, name, seen)

    def _deliver(
        self,
        sender: str,
        names: list[str],
        content: str,
        type: Type,
        at: datetime | None,
        more: dict[str, Any],
    ) -> list[Mail]:
        """Number a message for each recipient and append it; the caller holds the lock."""
        first = next_number(self._counter, self._highest())
        sent = at.isoformat() if at else ""
        messages = [
            Mail(f"m{number}", type, sender, to, content, sent, more)
            for number, to in enumerate(names, start=first)
        ]
        write_in_place(self._counter, counted(first + len(names) - 1))
        append_together(self.folder, {f"{one.to}.jsonl": one.to_json() for one in messages})
        return messages

    def _highest(self) -> int:
        """The highest number of a message; each is looked at once."""
        for name in self.names:
            read, highest = self._numbered.get(name, (0, 0))
            path = self._path(name)
            if path.stat().st_size != read:
                entries, read = Journal(path).read(read)
                self._numbered[name] = read, max([highest, *map(_number, entries)])
        return max((highest for _, highest in self._numbered.values()), default=0)

    def _known(self, name: str) -> Path:
        path = self._path(name)
        if not path.exists():
            raise unknown_inbox(name, self.names)
        return path

    def _path(self, name: str) -> Path:
        return self.folder / f"{checked_name(name)}.jsonl"


class Inbox(InboxReader):
    """One reader's cursor in an inbox.

    ``take`` returns each message once. ``commit`` says that what was taken is safe: in a
    transcript, or dealt with. If the reader is killed before it commits, the messages are delivered
    again when it comes back, unless it says that it has seen them.
    """

    def __init__(self, mailbox: Mailbox, name: str, seen: Iterable[str] = ()) -> None:
        path = mailbox._known(name)
        self._journal, self._cursor = Journal(path), Document(path.with_suffix(".place.json"), int)
        # What comes later cannot have been seen, whatever its id.
        self._seen = {mail.id for mail in self._pending()[0]} & set(seen)
        self._passed: set[str] = set()  # ids after which commit moves the cursor
        self._end: int | None = None  # where to; None for nowhere

    def look(self) -> list[Mail]:
        return [mail for mail in self._pending()[0] if mail.id not in self._seen]

    def take(self) -> list[Mail]:
        pending, self._end = self._pending()
        self._passed = {mail.id for mail in pending}
        new = [mail for mail in pending if mail.id not in self._seen]
        self._seen |= self._passed
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        self._seen -= set(ids)
        # The cursor cannot pass over what comes again: it stays until the next take.
        self._passed, self._end = set(), None

    def commit(self) -> None:
        if self._end is not None and self._end != self._cursor.read(0):
            with locked(self._cursor.path.parent):
                write_in_place(self._cursor.path, self._end)
        self._seen -= self._passed  # what is before the cursor does not come again

    def _pending(self) -> tuple[list[Mail], int]:
        """The messages after the cursor, and where they end."""
        entries, end = settled(
            self._cursor.path.parent, lambda: self._journal.read(self._cursor.read(0))
        )
        return _messages(entries), end


def _number(entry: dict[str, Any]) -> int:
    """The number of a message; 0 if it has none."""
    match = _ID.fullmatch(str(entry.get("id")))
    return int(match[1]) if match else 0


def _messages(entries: Iterable[dict[str, Any]]) -> list[Mail]:
    return list(filter(None, map(Mail.from_json, entries)))
