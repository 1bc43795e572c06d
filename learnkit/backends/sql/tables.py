"""The tables, and how values get into them and out again."""

from __future__ import annotations

import json
from typing import Any

from learnkit.errors import UsageError, extra

with extra("sql"):
    from sqlalchemy import (
        BigInteger,
        Double,
        Identity,
        Index,
        Integer,
        MetaData,
        SmallInteger,
        Table,
        Text,
        literal_column,
    )
    from sqlalchemy import Column as Col

#: Version of the tables.
VERSION = 1


METADATA = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")


def _table(name: str, *columns: Any) -> Table:
    return Table(f"learnkit_{name}", METADATA, *columns, sqlite_autoincrement=True)


META = _table("meta", Col("name", Text, primary_key=True), Col("value", Integer))
CALLS = _table(
    "calls",
    Col("key", Text, primary_key=True),
    Col("result", Text, nullable=False),
    Col("at", Double, nullable=False, index=True),
)
COUNTERS = _table(
    "counters", Col("team", Text, primary_key=True), Col("last", Integer, nullable=False)
)
INBOXES = _table(
    "inboxes", Col("team", Text, primary_key=True), Col("name", Text, primary_key=True)
)
MAIL = _table(
    "mail",
    Col("number", _NUMBER, Identity(), primary_key=True),
    Col("team", Text, nullable=False),
    Col("inbox", Text, nullable=False),
    Col("value", Text, nullable=False),
    Col("done", SmallInteger, nullable=False),
)
NEW = MAIL.c.done == literal_column("0")
Index(
    "learnkit_mail_new",
    *(MAIL.c.team, MAIL.c.inbox, MAIL.c.number),
    postgresql_where=NEW,
    sqlite_where=NEW,
)
TASKS = _table(
    "tasks",
    Col("team", Text, primary_key=True),
    Col("id", Integer, primary_key=True, autoincrement=False),
    Col("status", Text, nullable=False),
    Col("value", Text, nullable=False),
)
#: What may be claimed or is held: few, however many are done. The text is that of the index.
OPEN = TASKS.c.status.in_([literal_column("'pending'"), literal_column("'in_progress'")])
Index(
    "learnkit_tasks_open",
    # With the status in it, too: of two indexes that begin with the team only, SQLite might take
    # the other one, and read what is done as well.
    *(TASKS.c.team, TASKS.c.status),
    postgresql_where=OPEN,
    sqlite_where=OPEN,
)
VALUES = _table(  # as learnkit.backends.shared has them
    "values",
    Col("team", Text, primary_key=True),
    Col("name", Text, primary_key=True),
    Col("value", Text, nullable=False),
)


def encoded(value: Any) -> str:
    """Return a value as JSON in ASCII, which holds texts that no database stores."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"this cannot be stored as JSON: {error}") from None
