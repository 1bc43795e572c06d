"""Inboxes in a database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from learnkit.backends.interface import InboxReader, MailBackend
from learnkit.backends.mail import Mail, Type, check_content, checked_name, unknown_inbox
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import INBOXES, MAIL, NEW, encoded
from learnkit.errors import extra

with extra("sql"):
    from sqlalchemy import Connection, insert, select, update


class SqlMail(MailBackend):
    """The inboxes of a team."""

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team

    @property
    def names(self) -> list[str]:
        return self._database.read(self._names)

    def open(self, name: str) -> None:
        new = self._database.insert(INBOXES).values(team=self._team, name=checked_name(name))
        self._database.change(lambda c: c.execute(new.on_conflict_do_nothing()))

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
        checked_name(to)
        check_content(content)

        def act(connection: Connection) -> list[Mail]:
            self._check_known(connection, to)
            return self._deliver(connection, [to], sender, content, type, more)

        (mail,) = self._written(act)
        return mail

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        check_content(content)

        def act(connection: Connection) -> list[Mail]:
            others = [name for name in self._names(connection) if name != sender]
            return self._deliver(connection, others, sender, content, "broadcast", {})

        return self._written(act)

    def unread(self, name: str) -> list[Mail]:
        checked_name(name)
        wanted = select(MAIL).where(MAIL.c.team == self._team, MAIL.c.inbox == name, NEW)

        def act(connection: Connection) -> list[Mail]:
            rows = connection.execute(wanted.order_by(MAIL.c.number)).all()
            if not rows:
                self._check_known(connection, name)
            stored = ({**json.loads(row.value), "id": f"m{row.number}"} for row in rows)
            return list(filter(None, map(Mail.from_json, stored)))

        return self._database.read(act)

    def reader(self, name: str, seen: Iterable[str] = ()) -> InboxReader:
        return _SqlReader(self, self._database, name, seen)

    def _written(self, act: Callable[[Connection], list[Mail]]) -> list[Mail]:
        stored = self._database.write(lambda connection: [one.to_json() for one in act(connection)])
        return list(filter(None, map(Mail.from_json, stored)))

    def _deliver(
        self,
        connection: Connection,
        names: Iterable[str],
        sender: str,
        content: str,
        type: Type,
        more: dict[str, Any],
    ) -> list[Mail]:
        """Put a message into each of these inboxes."""
        sent = self._database.time_in(connection).isoformat()
        delivered = []
        for to in names:
            mail = Mail("", type, sender, to, content, sent, more)
            row = insert(MAIL).values(
                team=self._team, inbox=to, value=encoded(mail.to_json()), done=0
            )
            number = connection.scalar(row.returning(MAIL.c.number))
            delivered.append(replace(mail, id=f"m{number}"))
        return delivered

    def _names(self, connection: Connection) -> list[str]:
        return sorted(
            connection.scalars(select(INBOXES.c.name).where(INBOXES.c.team == self._team))
        )

    def _check_known(self, connection: Connection, name: str) -> None:
        if name not in (names := self._names(connection)):
            raise unknown_inbox(name, names)


class _SqlReader(InboxReader):
    """What one reader has taken of an inbox, and not committed."""

    def __init__(self, mail: SqlMail, database: Database, name: str, seen: Iterable[str]) -> None:
        self._mail, self._database, self._name = mail, database, name
        # What comes later cannot have been seen, whatever its id.
        self._seen = {one.id for one in mail.unread(name)} & set(seen)
        self._passed: set[str] = set()  # ids of what commit would mark as done

    def look(self) -> list[Mail]:
        return [mail for mail in self._mail.unread(self._name) if mail.id not in self._seen]

    def take(self) -> list[Mail]:
        pending = self._mail.unread(self._name)
        self._passed = {mail.id for mail in pending}
        new = [mail for mail in pending if mail.id not in self._seen]
        self._seen |= self._passed
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        back = set(ids)
        self._seen -= back
        self._passed -= back

    def commit(self) -> None:
        numbers = sorted(int(id.removeprefix("m")) for id in self._passed)
        done = update(MAIL).where(MAIL.c.number.in_(numbers)).values(done=1)
        if numbers:
            self._database.change(lambda connection: connection.execute(done))
        self._seen -= self._passed  # what is done does not come again
        self._passed = set()
