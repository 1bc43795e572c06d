"""One address for all of a team's state, and what a wrong one says."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from teams import say, send, spawn, when
from typer.testing import CliRunner

import learnkit as lk
from learnkit.backends.interface import Backend
from learnkit.terminal.cli import app

SECRET = "s3cret"


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def sqlite(path: Path) -> str:
    return f"sqlite:///{path / 'team.db'}"


def everything(error: BaseException | None) -> str:
    """What an error says, and those that it came from."""
    return f"{error!r} {error} {everything(error.__context__)}" if error else ""


# Addresses


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("sqlite://", "SQLite needs a file"),
        ("sqlite:///:memory:", "SQLite needs a file"),
        (f"oracle://u:{SECRET}@host/d", "cannot begin with 'oracle'; give files:FOLDER, sqlite:"),
        ("team.db", "cannot begin with 'team.db'"),
        (f"postgresql://u:{SECRET}@host:port/d", "this address cannot be read"),
        (f"postgresql://u:{SECRET}@[::1/d", "this address cannot be read"),
        (f"postgresql://u:{SECRET}@host", "names no database"),
    ],
)
def test_an_address_that_cannot_work_says_what_would(address: str, problem: str) -> None:
    with pytest.raises(lk.UsageError) as caught:
        lk.open_backend(address)
    assert problem in str(caught.value)
    assert SECRET not in everything(caught.value)


def test_an_open_database_is_waited_for_as_long_as_one_says(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'team.db'}"
    with closing(lk.open_backend(address, create=True, patience=100)) as backend:
        assert backend._database.patience == 100  # type: ignore[attr-defined]


def test_a_server_that_is_not_there_is_one_sentence_without_the_password() -> None:
    address = f"postgresql+psycopg://u:{SECRET}@127.0.0.1:1/d?password={SECRET}"
    with pytest.raises(OSError, match=r"//127\.0\.0\.1:1/d has not answered for 0\.2 s") as caught:
        lk.open_backend(address, patience=0.2)
    assert SECRET not in everything(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "address", "extra"),
    [
        ("sqlalchemy", "sqlite:///team.db", "sql"),
        ("sqlalchemy", "postgresql://h/d", "postgres"),
        ("psycopg", "postgresql://h/d", "postgres"),
    ],
)
def test_without_the_extra_it_says_which_one_to_install(
    missing: str, address: str, extra: str, tmp_path: Path
) -> None:
    code = f"import sys\nsys.modules[{missing!r}] = None\nimport learnkit as lk\n"
    code += f"try: lk.open_backend({address!r})\nexcept lk.UsageError as error: print(error)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert f"get it with: pip install 'learnkit[{extra}]'" in ran.stdout, ran.stderr


def test_the_tables_are_made_once_by_a_command(tmp_path: Path) -> None:
    address = sqlite(tmp_path)
    with pytest.raises(lk.UsageError, match="has no tables for learnkit yet; make them once: lear"):
        lk.open_backend(address)
    for _ in range(2):
        made = run("backend", "init", address)
        assert made.exit_code == 0, made.output
        assert made.output == f"{address} is ready for teams\n"
        with closing(lk.open_backend(address)) as backend:
            backend.board().create("a task")
    with closing(lk.open_backend(address)) as backend:
        assert len(backend.board().tasks()) == 2


# Tables


def test_tables_of_another_version_are_left_alone(tmp_path: Path) -> None:
    run("backend", "init", sqlite(tmp_path))
    with closing(sqlite3.connect(tmp_path / "team.db")) as connection:
        connection.execute("UPDATE learnkit_meta SET value = 2 WHERE name = 'version'")
        connection.commit()
    for create in (False, True):
        with pytest.raises(lk.UsageError, match="by another learnkit: they have version 2"):
            lk.open_backend(sqlite(tmp_path), create=create)


# Teams


@pytest.fixture(params=["files", "sqlite"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    address = {"files": f"files:{tmp_path / 'state'}", "sqlite": sqlite(tmp_path)}[request.param]
    clock = lk.VirtualClock()
    with closing(lk.open_backend(address, clock=clock, create=True)) as backend:
        yield backend


def test_a_team_works_on_a_backend(backend: Backend, tmp_path: Path) -> None:
    board = backend.board("night")
    board.create("the first")
    done = lk.use("task_update", task_id=1, status="completed")
    agree = lk.use("shutdown_response", request_id="r0000001", approve=True)
    lanes = {
        "lead": when(
            ("Go.", spawn("alice")),
            ("all done", lk.use("shutdown_request", teammate="alice")),
        ),
        "alice": [done, send("lead", "all done"), *say("ready"), agree],
    }
    team = lk.Team(
        None,
        lambda name, role: [lk.Tasks(board)],
        name="night",
        backend=backend,
        transcripts=tmp_path / "said",
    )
    protocols = lk.Protocols(team)
    client = lk.scripted(lanes, clock=lk.VirtualClock())
    lead = lk.Agent(client, [team, protocols, lk.Autonomy(team, board, poll=1, idle=5)])
    with team:
        lead.run("Go.")
    assert "all done" in str(lead.messages)
    assert [task.status for task in board.tasks()] == ["completed"]
    assert [one.state for one in backend.requests("night").all()] == ["approved"]
    assert [one["status"] for one in backend.roster("night").members()] == ["shutdown"]
    assert backend.mail("night").names == ["alice", "lead"]
    assert not any(backend.mail("night").unread(name) for name in ("alice", "lead"))
    assert sorted(one.name for one in (tmp_path / "said").glob("*.jsonl")) == [
        *("alice.jsonl", "lead.jsonl")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("given", ["address", "backend", "environment"])
def test_the_whole_harness_works_on_a_backend(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = sqlite(tmp_path)
    opened = lk.open_backend(address, create=True)
    options: dict[str, Any] = {"team": "night"}
    if given == "environment":
        monkeypatch.setenv("LEARNKIT_BACKEND", address)
    else:
        options["backend"] = address if given == "address" else opened
    script = [lk.use("task_create", subject="look"), lk.use("bash", command="ls -A"), lk.say("ok")]
    with lk.SystemClock() as clock, closing(opened):
        agent = lk.full_agent(lk.scripted(script, clock=clock), tmp_path / "ws", **options)
        agent.run("Go.")
        agent.close()
        assert [task.subject for task in opened.board("night").tasks()] == ["look"]
        assert opened.board().tasks() == []
    assert not (tmp_path / "ws" / ".learnkit" / "tasks").exists()
