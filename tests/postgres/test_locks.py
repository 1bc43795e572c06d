"""Changes of a board at the same time, on two connections: the second sees what the first did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from threading import Event
from typing import Any

import pytest
from postgres import LIMIT, plain
from sqlalchemy import event

import learnkit as lk
from learnkit.backends.interface import BoardBackend

Act = Callable[[BoardBackend], Any]


def claim(id: int) -> Act:
    return lambda board: board.claim(id, "alice", lease=60)


def change(id: int, status: Any = None, **more: Any) -> Act:
    return lambda board: board.update(id, status, **more)


@pytest.mark.parametrize(
    ("before", "first", "second", "refused"),
    [
        pytest.param(
            *([], change(2, add_blocked_by=[1]), claim(2), "task 2 is blocked by 1"),
            id="claimed while it gets a blocker",
        ),
        pytest.param(
            [change(2, add_blocked_by=[1]), change(1, "completed")],
            *(claim(2), change(1, "pending"), "task 1 cannot be reopened"),
            id="claimed while its blocker is reopened",
        ),
        pytest.param(
            *([], change(1, add_blocked_by=[2]), change(2, add_blocked_by=[1]), "a cycle"),
            id="each waits for the other",
        ),
        pytest.param(
            *([], change(1, "deleted"), change(2, add_blocked_by=[1]), "there is no task 1"),
            id="waits for what is deleted",
        ),
    ],
)
def test_two_changes_at_once_are_as_one_after_the_other(
    before: list[Act], first: Act, second: Act, refused: str, address: str
) -> None:
    """The first one's transaction is held open until the second one waits for it, or is through."""
    with (
        closing(lk.open_backend(address, create=True)) as one,
        closing(lk.open_backend(address)) as other,
        closing(plain(address)) as watching,
        ThreadPoolExecutor(2) as pool,
    ):
        for subject in ("a task", "another"):
            one.board().create(subject)
        for act in before:
            act(one.board())
        with held_open(one) as (about_to_commit, go_on):
            earlier = pool.submit(first, one.board())
            assert about_to_commit.wait(LIMIT)
            later = pool.submit(second, other.board())
            waiting, end = (
                "SELECT count(*) FROM pg_locks WHERE NOT granted",
                time.monotonic() + LIMIT,
            )
            while not later.done() and watching.execute(waiting).fetchone() == (0,):
                assert time.monotonic() < end
            go_on.set()
        earlier.result(LIMIT)
        with pytest.raises(lk.ToolError, match=refused):
            later.result(LIMIT)


@contextmanager
def held_open(backend: Any) -> Iterator[tuple[Event, Event]]:
    """While the block runs, a backend's transactions stay open: when they would end, and may."""
    about_to_commit, go_on = Event(), Event()

    @event.listens_for(backend._database._engine, "commit")
    def hold(connection: Any) -> None:
        about_to_commit.set()
        go_on.wait(LIMIT)

    try:
        yield about_to_commit, go_on
    finally:
        go_on.set()
