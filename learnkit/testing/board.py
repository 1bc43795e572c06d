"""Tasks: what waits does not begin, and of all who claim one succeeds."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.interface import Backend, BoardBackend
from learnkit.backends.task import MAX_SUBJECT, Task
from learnkit.errors import ToolError
from learnkit.testing.case import (
    LONG,
    SHORT,
    TEXTS,
    WORKERS,
    BackendCase,
    at_once,
    board_of,
    check,
    ids,
)


class BoardTests(BackendCase):
    """What a :class:`~learnkit.backends.interface.BoardBackend` promises, leases apart."""

    def test_a_task_keeps_all_that_it_had(self, backend: Backend) -> None:
        """Texts come back as they were, tidied to one line where they must be."""
        board = backend.board()
        for number, text in enumerate(TEXTS, 1):
            made = board.create(" ".join(text.split()), text, tags=["a  b", "c", "a b"])
            assert made == board.get(number)
            assert (made.id, made.description, made.tags) == (number, text, ("a b", "c"))
            done = board.update(number, "completed", result_summary=text, worktree="wt/x")
            assert done == board.get(number)
            assert done is not None
            assert (done.result_summary, done.worktree) == (text, "wt/x")
        assert [task.id for task in board.tasks()] == [1, 2, 3, 4, 5]

    def test_numbers_are_never_given_twice(self, backend: Backend) -> None:
        """Neither to many who create at once, nor after a task was deleted."""
        board = backend.board()
        made = at_once(lambda number: [board.create(f"{number}-{n}").id for n in range(5)])
        ids = [id for some in made for id in some]
        assert sorted(ids) == list(range(1, 5 * WORKERS + 1))
        assert all(some == sorted(some) for some in made)
        assert board.update(max(ids), "deleted") is None
        with self.second(backend) as second:
            assert second.board().create("new").id == 5 * WORKERS + 1

    def test_it_does_what_a_board_in_files_does(self, backend: Backend, tmp_path: Path) -> None:
        """Result by result, refusal by refusal, and news by news; when a lease ends is its own."""
        chance, now = random.Random(5), datetime(2026, 1, 1, tzinfo=UTC)
        files, board = TaskBoard(tmp_path / "reference", lambda: now), backend.board()
        for each in (files, board):
            each.open()
        for _ in range(200):
            call = _call(chance, [*ids(files.tasks()), 99])
            assert _outcome(board, *call) == _outcome(files, *call), call
            if call[1].get("lease") == SHORT:
                self.let_pass(2 * SHORT)
                now += timedelta(seconds=2 * SHORT)
            for look in ("news", "ready", "tasks"):
                assert _outcome(board, look, {}) == _outcome(files, look, {}), call

    def test_workers_share_a_board_with_dependencies(self, backend: Backend) -> None:
        """Nothing is done twice, nothing before what it waits for, and all of it is done."""
        edges = " ".join(f"{n // 2}>{n}" for n in range(2, 25))
        board, done = board_of(backend, edges), list[int]()

        def work(number: int) -> None:
            with self.second(backend) as second:
                mine = second.board()
                while any(task.status != "completed" for task in mine.tasks()):
                    for task in mine.ready():
                        with suppress(ToolError):
                            held = mine.claim(task.id, f"w{number}", incarnation="i", lease=LONG)
                            done.append(held.id)
                            mine.update(held.id, "completed", by=f"w{number}", token=held.token)

        at_once(work)
        assert sorted(done) == list(range(1, 25))
        assert all(done.index(id // 2) < done.index(id) for id in range(2, 25))
        check(board)

    def test_changes_at_the_same_time_keep_the_promise(self, backend: Backend) -> None:
        """Claims beside new dependencies, reopened and deleted tasks: none begins too early."""
        board = board_of(backend, count=12)

        def play(number: int) -> None:
            chance = random.Random(number)
            with self.second(backend) as second:
                mine = second.board()
                for _ in range(25):
                    _outcome(mine, *_call(chance, [*range(1, 13)]))
                    check(mine)

        at_once(play)
        check(board)

    def test_a_board_says_what_is_new(self, backend: Backend) -> None:
        """No matter who has changed it; a renewed lease is not news."""
        board, mine = board_of(backend, "1>2"), backend.board()
        mine.open()
        before = board.tasks()
        with self.second(backend) as second:
            theirs = second.board()
            theirs.create("three")
            theirs.claim(1, "alice", incarnation="i", lease=LONG)
            theirs.update(2, "deleted")
        claimed, new = board.get(1), board.get(3)
        assert mine.news() == [(before[0], claimed), (before[1], None), (None, new)]
        assert board.renew("alice", "i", 2 * LONG) == [1]
        mine.open()
        assert mine.news() == []
        assert [new for _, new in backend.board().news()] == board.tasks()


def _call(chance: random.Random, known: list[int]) -> tuple[str, dict[str, Any]]:
    """A random call, such as models and harnesses make; many are refused."""
    id, other, third = chance.choices(known, k=3)
    owner, lease = chance.choice(["alice", "bob"]), chance.choice([None, SHORT, LONG])
    who = {"owner": owner, "incarnation": chance.choice(["", "1", "2"])}
    status = chance.choice([None, "pending", "in_progress", "completed", "failed"])
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create", {"subject": f"step {other}", "tags": [owner]}),
        ("create", {"subject": "x" * chance.choice([0, MAX_SUBJECT, MAX_SUBJECT + 1])}),
        ("get", {"id": id}),
        ("update", {"id": id, "status": "deleted", "by": owner}),
        ("claim", {"id": id, **who, "lease": lease}),
        ("claim", {"id": id, **who, "lease": LONG}),
        ("renew", {**who, "lease": LONG}),
        ("release", who),
        ("update", {"id": id, "status": status, "by": chance.choice(["", owner, f"{owner}.t1"])}),
        ("update", {"id": id, "status": status, "token": chance.randint(0, 3), "owner": owner}),
        ("update", {"id": id, "add_blocked_by": [other]}),
        ("update", {"id": id, "add_blocks": [other, third]}),
        ("update", {"id": id, "add_blocks": [other], "add_blocked_by": [third]}),
        ("update", {"id": id, "remove_blocked_by": [other], "result_summary": owner}),
        ("update", {"id": id, "status": status, "worktree": owner, "add_blocked_by": [other]}),
    ]
    return chance.choice(calls)


def _outcome(board: BoardBackend, name: str, arguments: dict[str, Any]) -> Any:
    """What a call returns, or how it is refused."""
    try:
        return _comparable(getattr(board, name)(**arguments))
    except ToolError as error:
        return str(error)


def _comparable(result: Any) -> Any:
    """A result without the ends of leases: they are measured on two clocks."""
    if isinstance(result, Task):
        return replace(result, lease_until="a time" if result.lease_until else "")
    if isinstance(result, (list, tuple)):
        return [_comparable(one) for one in result]
    return result
