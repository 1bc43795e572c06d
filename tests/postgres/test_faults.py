"""Servers restart, lines are cut, clocks are wrong: nothing is lost, and nothing happens twice."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fault_run import CLI, crew
from messages_server import serving
from postgres import LIMIT, PASSWORD, Cluster, plain
from screen import CTRL_C, CTRL_D, ENTER, Screen
from sqlalchemy import func, select
from sqlalchemy.engine import make_url
from tcp_proxy import Proxy

import learnkit as lk
from learnkit.backends.interface import Backend
from learnkit.backends.mail import Mail
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.shared_value import SqlValue
from learnkit.backends.sql.tables import CALLS
from learnkit.mechanisms.teams.others import Others
from learnkit.runtime.clock import stopped_by

HOUR = timedelta(hours=1)
#: The end of a transaction as it is sent; a beginning may say READ COMMITTED.
COMMIT = b"COMMIT\0"


@pytest.fixture
def backend(address: str) -> Iterator[Backend]:
    with closing(lk.open_backend(address, create=True, patience=LIMIT)) as backend:
        yield backend


@pytest.fixture
def proxy(address: str) -> Iterator[Proxy]:
    with closing(Proxy(make_url(address).port or 5432)) as proxy:
        yield proxy


def through(proxy: Proxy, address: str) -> Backend:
    url = make_url(address).set(host="127.0.0.1", port=proxy.port)
    return lk.open_backend(url.render_as_string(hide_password=False), patience=LIMIT)


def everything(error: BaseException | None) -> str:
    """What an error says, and those that it came from."""
    return f"{error!r} {error} {everything(error.__context__)}" if error else ""


# A line that is cut


@pytest.mark.parametrize("cut", [Proxy.cut_after, Proxy.cut_within])
@pytest.mark.parametrize("word", [COMMIT, b"INSERT INTO learnkit_mail", b"BEGIN"])
def test_a_message_whose_line_is_cut_is_sent_once(
    cut: Callable[[Proxy, bytes], None], word: bytes, backend: Backend, proxy: Proxy, address: str
) -> None:
    """After COMMIT it was stored already; before, it was not: the sender cannot see which."""
    backend.mail().open("alice")
    with closing(through(proxy, address)) as remote:
        mail = remote.mail()
        assert mail.names == ["alice"]
        cut(proxy, word)
        sent = mail.send("lead", "alice", "hello")
    assert proxy.cuts == 1
    assert backend.mail().unread("alice") == [sent]


def test_a_claim_whose_line_is_cut_is_the_caller_s(
    backend: Backend, proxy: Proxy, address: str
) -> None:
    backend.board().create("a task")
    with closing(through(proxy, address)) as remote:
        board = remote.board()
        assert len(board.tasks()) == 1
        proxy.cut_after(COMMIT)
        task = board.claim(1, "alice", incarnation="a1", lease=60)
        proxy.cut_after(COMMIT)
        made = board.create("another")
        proxy.cut_after(COMMIT)
        done = board.update(1, "completed", token=task.token)
        proxy.cut_after(COMMIT)
        assert board.update(2, "deleted") is None
    assert proxy.cuts == 4
    assert (task.owner, task.token, made.id) == ("alice", 1, 2)
    assert backend.board().tasks() == [done]


def test_a_value_whose_line_is_cut_is_changed_once(
    backend: Backend, proxy: Proxy, address: str
) -> None:
    def count(numbers: list[int]) -> int:
        numbers.append(len(numbers))
        return len(numbers)

    with closing(through(proxy, address)) as remote:
        value = SqlValue(remote._database, "team", "numbers")  # type: ignore[attr-defined]
        assert value.update(count, []) == 1
        proxy.cut_after(COMMIT)
        assert value.update(count, []) == 2
        assert value.read([]) == [0, 1]
    assert proxy.cuts == 1


def test_beats_leave_nothing_behind_and_one_whose_line_is_cut_keeps_its_name(
    backend: Backend, proxy: Proxy, address: str
) -> None:
    roster, count = backend.roster(), select(func.count()).select_from(CALLS)
    database = backend._database  # type: ignore[attr-defined]
    roster.note({"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"})
    before = database.read(lambda connection: connection.scalar(count))
    for _ in range(1_000):
        assert roster.beat("alice", "a1", "here") is True
    with closing(through(proxy, address)) as remote:
        assert remote.roster().members()[0]["where"] == "here"
        proxy.cut_after(COMMIT)
        assert remote.roster().beat("alice", "a1", "there") is True
    assert proxy.cuts == 1
    assert roster.members()[0]["where"] == "there"
    assert database.read(lambda connection: connection.scalar(count)) == before


# A server that goes and comes


def test_what_happens_while_the_server_restarts_happens_once(
    cluster: Cluster, own_address: str
) -> None:
    """Writers and workers go on through three restarts, one of them a crash."""
    with closing(lk.open_backend(own_address, create=True, patience=LIMIT)) as backend:
        go_on_through_restarts(backend, cluster, own_address)


def go_on_through_restarts(backend: Backend, cluster: Cluster, address: str) -> None:
    tasks, writers, each = 30, 3, 30
    backend.mail().open("lead")
    for number in range(tasks):
        backend.board().create(f"task {number}")
    done, at_work = list[int](), threading.Barrier(writers + 3)

    def write(number: int) -> None:
        with closing(lk.open_backend(address, patience=LIMIT)) as mine:
            at_work.wait(LIMIT)
            for count in range(each):
                mine.mail().send(f"w{number}", "lead", f"{number}-{count}")

    def work(name: str) -> None:
        with closing(lk.open_backend(address, patience=LIMIT)) as mine:
            board = mine.board()
            at_work.wait(LIMIT)
            while any(task.status != "completed" for task in board.tasks()):
                for task in board.ready():
                    try:
                        held = board.claim(task.id, name, incarnation="1", lease=600)
                    except lk.ToolError:
                        continue
                    board.update(held.id, "completed", by=name, token=held.token)
                    done.append(held.id)

    with ThreadPoolExecutor(writers + 2) as pool:
        running = [pool.submit(write, number) for number in range(writers)]
        running += [pool.submit(work, name) for name in ("alice", "bob")]
        at_work.wait(LIMIT)
        for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGINT):
            cluster.stop(how)
            cluster.start()
        for one in running:
            one.result()
    assert sorted(done) == list(range(1, tasks + 1))
    assert all(task.status == "completed" for task in backend.board().tasks())
    reader = backend.mail().reader("lead")
    read = [mail.content for mail in reader.take()]
    assert sorted(read) == sorted(f"{w}-{n}" for w in range(writers) for n in range(each))
    reader.commit()
    assert backend.mail().unread("lead") == []


def test_a_server_that_stays_away_is_one_error(cluster: Cluster, own_address: str) -> None:
    told, stop = list[tuple[str, bool]](), lk.SystemClock().signal()
    waiting = partial(_note, told)
    with (
        ThreadPoolExecutor(1) as pool,
        closing(lk.open_backend(own_address, create=True, patience=2, waiting=waiting)) as backend,
    ):
        board = backend.board()
        assert [text for text, _ in told] == [f"opening the database {backend.address}", ""]
        cluster.stop()
        try:
            with pytest.raises(OSError, match="has not answered for 2 s") as caught:
                board.create("a task")
            backend._database.patience = math.inf  # type: ignore[attr-defined]
            asked = pool.submit(_stoppable, stop, board.tasks)
            end, told[:] = time.monotonic() + LIMIT, []
            while not told:
                assert time.monotonic() < end
            stop.set()
            with pytest.raises(InterruptedError, match="not waited for any more"):
                asked.result(LIMIT)
            what = f"the database at 127.0.0.1:{cluster.port}"
            assert told.pop() == ("", True)
            for text, over in told:
                assert re.fullmatch(rf"{what} is away; waiting, \d+ s", text)
                assert not over
            told.clear()
            asked = pool.submit(board.tasks)
            while not told:
                assert time.monotonic() < end
        except BaseException:
            cluster.start()
            raise
        cluster.start()
        assert asked.result(LIMIT) == []
        assert told[-1][1]
        assert re.fullmatch(rf"{what} is back, after \d+ s", told[-1][0])
        assert PASSWORD not in everything(caught.value)
        assert board.tasks() == []


def _note(told: list[tuple[str, bool]], text: str, over: bool) -> None:
    told.append((text, over))


def _stoppable(stop: Any, act: Any) -> Any:
    with stopped_by(stop):
        return act()


def test_a_chat_and_a_worker_wait_out_an_outage_and_go_on(
    cluster: Cluster, own_address: str, tmp_path: Path
) -> None:
    """A running turn and a command do; Ctrl-C ends the wait of one, and the talk goes on."""
    backend = lk.open_backend(own_address, create=True)
    board, log = backend.board(), tmp_path / "alice.log"
    away = f"the database at 127.0.0.1:{cluster.port} is away; waiting,"
    (tmp_path / "lead").mkdir()
    with ExitStack() as stack:
        stack.callback(backend.close)
        api = stack.enter_context(serving(crew))
        env = {**api.env, "LEARNKIT_BACKEND": own_address, "XDG_STATE_HOME": str(tmp_path)}
        worker = subprocess.Popen(
            [*CLI, "join", "--name", "alice", "--workspace", str(tmp_path / "alice"), "--yes"],
            env={**os.environ, **env},
            stdout=stack.enter_context(log.open("wb")),
            stderr=subprocess.STDOUT,
        )
        stack.callback(worker.wait)
        stack.callback(worker.kill)
        chat = Screen(str(tmp_path / "lead"), "--yes", columns=120, **env)
        stack.callback(chat.close)
        chat.expect("0 turns")
        chat.until(lambda: "alice is idle" in log.read_text(), "a worker")
        chat.type(f"batch 1: sleep 9; sleep 0{ENTER}")
        chat.until(lambda: "alice is working" in log.read_text(), "work")
        chat.expect("send_message")
        cluster.stop()
        try:
            chat.expect(away)
            chat.type(f"/tasks{ENTER}")
            chat.until(lambda: away in log.read_text(), "a line of the worker")
        finally:
            cluster.start()
        chat.expect("is back, after")
        chat.expect("/2 completed)")
        chat.until(lambda: all(one.status == "completed" for one in board.tasks()), "the work")
        chat.expect("/help ·")
        cluster.stop()
        try:
            chat.type(f"/team{ENTER}")
            chat.expect(away)
            chat.type(CTRL_C)
            chat.expect("(cancelled)")
            chat.expect("/help ·")
        finally:
            cluster.start()
        chat.type(f"batch 2: sleep 0{ENTER}")
        chat.until(lambda: len(board.tasks()) == 3, "the next turn")
        chat.until(lambda: board.get(3).status == "completed", "more work")
        chat.expect("/help ·")
        chat.type(CTRL_D)
        assert chat.ended() == 0
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 128 + signal.SIGTERM
        assert "Traceback" not in chat.text + log.read_text()


def test_who_could_not_be_heard_is_not_gone(cluster: Cluster, own_address: str) -> None:
    with closing(lk.open_backend(own_address, create=True, patience=LIMIT)) as backend:
        roster = backend.roster()
        roster.note({"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"})
        roster.beat("alice", "a1", "here")
        team = lk.Team(None, lambda name, role: [], backend=backend)
        cluster.stop()
        cluster.start()
        (entry,) = roster.members()
        assert "up" in entry
        entry |= {"silent": "300"}
        assert [Others(team).known(each).lost for each in (entry, {**entry, "up": "60"})] == [  # type: ignore[union-attr]
            False,
            True,
        ]
        roster.beat("alice", "a1", "here")
        assert "up" not in roster.members()[0]


# What waiting does not mend


def test_a_wrong_password_is_said_at_once(cluster: Cluster) -> None:
    wrong = cluster.url().replace(PASSWORD, "wr0ng")
    with pytest.raises(
        OSError, match=r"cannot do this: .*password authentication failed"
    ) as caught:
        lk.open_backend(wrong, patience=LIMIT)
    assert "wr0ng" not in everything(caught.value)
    nowhere = cluster.url().replace("/postgres", "/nowhere")
    with pytest.raises(OSError, match=r'cannot do this: .*"nowhere" does not exist'):
        lk.open_backend(nowhere, patience=LIMIT)


# Time and order


def test_a_clock_that_is_wrong_changes_nothing(address: str, backend: Backend) -> None:
    """A worker an hour ahead takes no lease from others, and one an hour behind keeps none."""
    for away in (HOUR, -HOUR):
        wrong = lk.SystemClock()
        wrong.now = lambda away=away: datetime.now(UTC) + away  # type: ignore[misc, method-assign]
        with closing(lk.open_backend(address, clock=wrong)) as theirs:
            held = backend.board().create("held")
            backend.board().claim(held.id, "alice", lease=600)
            assert held.id not in [task.id for task in theirs.board().ready()]
            with pytest.raises(lk.ToolError, match="in_progress by alice"):
                theirs.board().claim(held.id, "bob", lease=60)
            short = theirs.board().create("short")
            theirs.board().claim(short.id, "bob", lease=0.05)
            end = time.monotonic() + LIMIT
            while short.id not in [task.id for task in backend.board().ready()]:
                assert time.monotonic() < end
            asked = theirs.requests().open("shutdown", "lead", f"m{held.id}", "x", within=600)
            assert backend.requests().get(asked.id).state == "pending"


def test_a_message_that_becomes_visible_late_is_read(address: str, backend: Backend) -> None:
    """It has a lower number than one that was read and committed before it."""
    mail = backend.mail()
    mail.open("alice")
    reader = mail.reader("alice")
    with plain(address) as slow:
        slow.autocommit = False
        slow.execute(
            "INSERT INTO learnkit_mail (team, inbox, value, done) VALUES ('team', 'alice', %s, 0)",
            [json.dumps(Mail("", "message", "bob", "alice", "slow").to_json())],
        )
        quick = mail.send("lead", "alice", "quick")
        assert reader.take() == [quick]
        reader.commit()
        slow.commit()
    (late,) = reader.take()
    assert late.content == "slow"
    assert int(late.id[1:]) < int(quick.id[1:])
    reader.commit()
    assert mail.unread("alice") == []


def test_a_killed_writer_holds_up_nobody(address: str, backend: Backend) -> None:
    """Its transaction ends with its connection, and the lock of the board is free."""
    backend.board().create("a task")
    doomed = Database(make_url(address), lambda: datetime.now(UTC), LIMIT)
    with closing(doomed), doomed._engine.connect() as connection:
        doomed.lock(connection, "board", "team")
        pid = connection.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        with ThreadPoolExecutor(1) as pool:
            claim = pool.submit(backend.board().claim, 1, "alice")
            with plain(address) as other:
                waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                end = time.monotonic() + LIMIT
                while other.execute(waits).fetchone() == (0,):
                    assert time.monotonic() < end
                other.execute("SELECT pg_terminate_backend(%s)", [pid])
            assert claim.result(LIMIT).owner == "alice"
        connection.invalidate()


def test_nothing_lasts_longer_than_the_patience(address: str) -> None:
    """But a second at least. And what is read is read as it was at one moment."""

    def settings(connection: Any) -> list[Any]:
        names = ("statement_timeout", "idle_in_transaction_session_timeout")
        shown = (*names, "transaction_isolation", "application_name")
        return [connection.exec_driver_sql(f"SHOW {one}").scalar() for one in shown]

    for patience, limit in ((2.5, "2500ms"), (0.9, "1s")):
        with closing(lk.open_backend(address, create=True, patience=patience)) as backend:
            database = backend._database  # type: ignore[attr-defined]
            assert database.read(settings) == [limit, limit, "repeatable read", "learnkit"]
            assert database.change(settings) == [limit, limit, "read committed", "learnkit"]
