"""A database stays quick when it is long, and a connection that breaks is mended or says why."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateIndex, CreateTable

import learnkit as lk
from learnkit.backends.interface import Backend
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import (
    CALLS,
    METADATA,
    VERSION,
)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with closing(lk.open_backend(f"sqlite:///{tmp_path / 'team.db'}", create=True)) as backend:
        yield backend


def plan(path: Path, query: Any) -> str:
    options = {"dialect": sqlite.dialect(), "compile_kwargs": {"literal_binds": True}}
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {query.compile(**options)}").fetchall()
    return "; ".join(row[3] for row in rows)


def test_what_is_done_costs_nothing(backend: Backend, tmp_path: Path) -> None:
    """A look at an inbox or for work reads an index of what is not done."""
    statements = list[Any]()
    engine = backend._database._engine  # type: ignore[attr-defined]
    mail, board = backend.mail(), backend.board()
    mail.open("alice")

    @event.listens_for(engine, "before_execute")
    def note(connection: Any, statement: Any, *rest: Any) -> None:
        statements.append(statement)

    mail.unread("alice")
    board.ready()
    board.renew("alice", "1", 60)
    board.create("a task")
    board.get(1)
    found = [plan(tmp_path / "team.db", one) for one in statements]
    for index in (
        "learnkit_mail USING INDEX learnkit_mail_new (team=? AND inbox=?)",
        "learnkit_tasks USING INDEX learnkit_tasks_open (team=? AND status=?)",
    ):
        assert any(f"SEARCH {index}" in one for one in found), found
    assert not any("SCAN learnkit" in one for one in found), found


# The tables


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_the_tables_are_those_of_their_version(dialect: str) -> None:
    """There are databases with them. Other tables need another version, and a way from these."""
    of = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}[dialect]
    made = [CreateTable(table) for table in METADATA.sorted_tables]
    indexes = (one for table in METADATA.sorted_tables for one in table.indexes)
    made += map(CreateIndex, sorted(indexes, key=lambda one: str(one.name)))  # type: ignore[arg-type]
    text = "\n".join(f"{str(one.compile(dialect=of)).strip()};" for one in made)
    text = re.sub(r"[ \t]+\n", "\n", text) + "\n"
    file = Path(__file__).with_name(f"tables_{VERSION}_{dialect}.sql")
    if os.environ.get("TABLES") == "new":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


# The connection


class NoServerError(Exception):
    """What a test raises in place of a connection."""


def never(url: str, error: Exception, patience: float = 1) -> tuple[Database, list[dict[str, Any]]]:
    """A database that raises an error for each connection, and what they were asked for."""
    database = Database(make_url(url), lambda: datetime.now(UTC), patience)
    asked = list[dict[str, Any]]()

    @event.listens_for(database._engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, parameters: dict[str, Any]) -> None:
        asked.append(parameters)
        raise error

    return database, asked


def test_a_connection_that_is_cut_without_a_word_is_noticed() -> None:
    """And an address may say otherwise."""
    url = "postgresql+psycopg://u:p@host:7/d"
    ours = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,
        "application_name": "learnkit",
    }
    place = {"host": "host", "port": 7, "user": "u", "password": "p", "dbname": "d"}
    for more, changed in (("", {}), ("?connect_timeout=9", {"connect_timeout": "9"})):
        database, asked = never(url + more, NoServerError())
        with closing(database), pytest.raises(NoServerError):
            database.change(lambda connection: None)
        (given,) = asked
        assert {key: given[key] for key in (*ours, *place)} == {**place, **ours, **changed}


@pytest.mark.parametrize(
    ("state", "text", "again"),
    [
        (None, "connection refused", True),
        (None, 'database "d" does not exist', False),
        (None, "could not translate host name", False),
        (None, "password authentication failed", False),
        ("08006", "cut", True),
        ("40P01", "a deadlock", True),
        ("53300", "too many connections", True),
        ("55P03", "a lock", True),
        ("57P01", "shut down", True),
        ("23505", "another was faster", True),
        ("42P01", "no such table", False),
        ("42501", "permission denied", False),
        ("22P02", "no number", False),
    ],
)
def test_what_passes_is_tried_again_and_what_does_not_is_said_at_once(
    state: str | None, text: str, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = [0.0]  # a clock that only these waits move: a busy machine would take all the time
    clock = SimpleNamespace(monotonic=lambda: sum(waits), sleep=waits.append)
    monkeypatch.setattr("learnkit.backends.sql.database.time", clock)
    kind = psycopg.OperationalError if state is None else psycopg.errors.lookup(state)
    database, asked = never("postgresql://host/d", kind(f"{text}\nat line 1"), 0.06)
    how = "has not answered for 0.06 s" if again else "cannot do this:"
    with (
        closing(database),
        pytest.raises(OSError, match=f"the database .*//host/d {how}") as caught,
    ):
        database.read(lambda connection: None)
    assert (len(asked) > 1) == again
    end = f" ({text}); try again later" if again else f": {text}"
    assert str(caught.value).endswith(end)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg://u:p@host/d", "postgresql+psycopg://host/d"),
        ("postgresql+psycopg://u:p@host:7/d?sslmode=require", "postgresql+psycopg://host:7/d"),
        ("postgresql+psycopg:///d?host=/run/sockets", "postgresql+psycopg:///d"),
        ("sqlite:///folder/team.db", "sqlite:///folder/team.db"),
        ("sqlite:////folder/team.db", "sqlite:////folder/team.db"),
    ],
)
def test_an_address_is_shown_without_what_only_its_user_may_know(url: str, shown: str) -> None:
    database, _ = never(url, NoServerError())
    with closing(database):
        assert database.address == shown


def test_only_what_changes_something_waits_for_others(tmp_path: Path) -> None:
    """A reader sees what was, and a second writer is refused when its patience is over."""
    url = f"sqlite:///{tmp_path / 'team.db'}"
    with (
        closing(lk.open_backend(url, create=True)) as one,
        closing(lk.open_backend(url, patience=0.01)) as other,
    ):
        one.board().create("a task")

        def meanwhile(connection: Any) -> None:
            assert len(other.board().tasks()) == 1
            with pytest.raises(OSError, match="database is locked"):
                other.board().create("another")

        one._database.change(meanwhile)  # type: ignore[attr-defined]
        assert other.board().create("another").id == 2


def test_old_calls_are_forgotten(tmp_path: Path) -> None:
    """They are kept for a day, so that one whose answer was lost is known."""
    url, clock = f"sqlite:///{tmp_path / 'team.db'}", lk.VirtualClock()
    with closing(lk.open_backend(url, clock=clock, create=True)) as backend:
        database = backend._database  # type: ignore[attr-defined]
        now = clock.now().timestamp()
        rows = [
            {"key": str(age), "result": "[]", "at": now - age} for age in (0, 86_399, 86_401, 9e9)
        ]
        database.change(lambda connection: connection.execute(insert(CALLS), rows))
        database.check()
        left = database.read(lambda connection: connection.scalars(select(CALLS.c.key)).all())
    assert sorted(left) == ["0", "86399"]
