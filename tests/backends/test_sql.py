"""The board in a database does what the board of files does, and stays quick when it is long."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError

import learnkit as lk
from learnkit.backends.interface import Backend, BoardBackend
from learnkit.backends.sql.database import _first_line
from learnkit.backends.task import Task


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with closing(lk.open_backend(f"sqlite:///{tmp_path / 'team.db'}", create=True)) as backend:
        yield backend


def step(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A random call of a board, such as models and harnesses make, and with few tasks at that."""
    id, other = chance.randint(1, 9), chance.randint(1, 9)
    owner = chance.choice(["alice", "bob"])
    incarnation = chance.choice(["", "1", "2"])
    status = chance.choice([None, "pending", "in_progress", "completed", "failed", "deleted"])
    who = {"owner": owner, "incarnation": incarnation}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create", {"subject": f"step {other}", "tags": [owner]}),
        ("claim", {"id": id, **who, "lease": chance.choice([None, 3600.0])}),
        ("claim", {"id": id, **who, "lease": 3600.0}),
        ("release", who),
        ("update", {"id": id, "status": status, "by": chance.choice(["", owner])}),
        ("update", {"id": id, "status": status, "token": chance.randint(0, 3), "owner": owner}),
        ("update", {"id": id, "add_blocked_by": [other]}),
        ("update", {"id": id, "add_blocks": [other, chance.randint(1, 9)]}),
        ("update", {"id": id, "add_blocks": [other], "add_blocked_by": [chance.randint(1, 9)]}),
        ("update", {"id": id, "remove_blocked_by": [other], "result_summary": owner}),
        ("update", {"id": id, "status": status, "worktree": owner, "add_blocked_by": [other]}),
    ]
    return chance.choice(calls)


def comparable(result: Any) -> Any:
    """A result without the ends of leases: they are measured on two clocks."""
    if isinstance(result, Task):
        return replace(result, lease_until="a time" if result.lease_until else "")
    if isinstance(result, (list, tuple)):
        return [comparable(one) for one in result]
    return result


def outcome(board: BoardBackend, name: str, arguments: dict[str, Any]) -> Any:
    try:
        return comparable(getattr(board, name)(**arguments))
    except lk.ToolError as error:
        return str(error)


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3, 4))])
def test_a_database_and_files_keep_the_same_board(
    seed: int, backend: Backend, tmp_path: Path
) -> None:
    """Result by result, refusal by refusal, and news by news."""
    chance, files, base = random.Random(seed), lk.TaskBoard(tmp_path / ".tasks"), backend.board()
    files.open()
    base.open()
    refused = set[str]()
    for _ in range(150):
        name, arguments = step(chance)
        wanted, found = outcome(files, name, arguments), outcome(base, name, arguments)
        assert found == wanted, (name, arguments)
        if isinstance(wanted, str):
            refused.add(wanted.partition(" ")[2][:12])
        assert comparable(base.news()) == comparable(files.news())
        assert comparable(base.ready()) == comparable(files.ready())
    assert comparable(base.tasks()) == comparable(files.tasks())
    assert len(refused) > 10  # else the steps are too tame


def plan(path: Path, query: Any) -> str:
    options = {"dialect": sqlite.dialect(), "compile_kwargs": {"literal_binds": True}}
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {query.compile(**options)}").fetchall()
    return "; ".join(row[3] for row in rows)


def test_what_is_done_costs_nothing(backend: Backend, tmp_path: Path) -> None:
    """A look at an inbox, for work or for news reads an index of what is not done, or is new."""
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
    board.news()
    board.create("a task")
    board.get(1)
    found = [plan(tmp_path / "team.db", one) for one in statements]
    for index in (
        "learnkit_mail USING INDEX learnkit_mail_new (team=? AND inbox=?)",
        "learnkit_tasks USING INDEX learnkit_tasks_open (team=? AND status=?)",
        "learnkit_tasks USING INDEX learnkit_tasks_changed (team=? AND changed>?)",
        "learnkit_edges USING COVERING INDEX learnkit_edges_blocker (team=? AND blocker=?)",
    ):
        assert any(f"SEARCH {index}" in one for one in found), found
    assert not any("SCAN learnkit" in one for one in found), found


def test_of_an_error_the_first_line_of_the_database_is_told() -> None:
    """Not the statement, which SQLAlchemy would add."""
    inner = sqlite3.OperationalError("disk I/O error\nat page 7")
    assert _first_line(OperationalError("INSERT", {}, inner)) == "disk I/O error"
    assert _first_line(SQLAlchemyError("no pool")) == "no pool"
    assert _first_line(SQLAlchemyError("")) == "SQLAlchemyError"
