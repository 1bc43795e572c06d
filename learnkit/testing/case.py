"""What all parts of the conformance suite share: how to reach the backend, and many at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from learnkit.backends.interface import Backend, BoardBackend, MailBackend
from learnkit.backends.task import Task

#: Texts that a model may write, and that not every store keeps.
TEXTS = ("Grüße 你好 🎈", "two\nlines\r\n\ttab", "'; DROP TABLE mail; --", '{"a": "\\u41"}', "%s ?")

#: Seconds of a lease that does not end during a test, and of one that is over soon.
LONG, SHORT = 3600.0, 0.05

#: Workers that try the same thing at the same time.
WORKERS = 8


class BackendCase:
    """Tests of a backend that the fixture ``backend`` returns; it is empty."""

    def again(self, backend: Backend) -> Backend:
        """Return another way to the same place, as a second process has it.

        Override it: by default it is the same object, which finds less. The tests close what is
        returned only if it is another object.

        Args:
            backend: from the fixture.
        """
        return backend

    def let_pass(self, seconds: float) -> None:
        """Let time pass on the backend's clock: override it where that clock is set by hand.

        Args:
            seconds: at least so many.
        """
        time.sleep(seconds)

    @contextmanager
    def second(self, backend: Backend) -> Iterator[Backend]:
        """Open another way to the same place; it is closed at the end.

        Args:
            backend: from the fixture.
        """
        second = self.again(backend)
        try:
            yield second
        finally:
            if second is not backend:
                second.close()


def inboxes(backend: Backend) -> MailBackend:
    """Return a backend's mail, with inboxes for lead, bob and alice.

    Args:
        backend: an empty one.
    """
    mail = backend.mail()
    for name in ("lead", "bob", "alice"):
        mail.open(name)
    return mail


def board_of(backend: Backend, edges: str = "", count: int = 0) -> BoardBackend:
    """Return a backend's board, with tasks.

    Args:
        backend: an empty one.
        edges: which task blocks which, as in ``1>2 2>3``.
        count: at least so many tasks.
    """
    board = backend.board()
    fill(board, edges, count)
    return board


def fill(board: BoardBackend, edges: str, count: int) -> None:
    """Put tasks on an empty board.

    Args:
        board: an empty one.
        edges: as for :func:`board_of`.
        count: at least so many tasks.
    """
    pairs = [tuple(map(int, pair.split(">"))) for pair in edges.split()]
    for number in range(max([count, *(max(pair) for pair in pairs)])):
        board.create(f"step {number + 1}")
    for blocker, blocked in pairs:
        board.update(blocked, add_blocked_by=[blocker])


def ids(tasks: list[Task]) -> list[int]:
    """Return the ids of tasks.

    Args:
        tasks: in any order.
    """
    return [task.id for task in tasks]


def at_once(act: Callable[[int], Any]) -> list[Any]:
    """Call a function in threads that begin together; return what they returned.

    Args:
        act: gets the number of its thread, from 0. The first error of one is raised.
    """
    gate = threading.Barrier(WORKERS)

    def begin(number: int) -> Any:
        gate.wait(60)
        return act(number)

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(begin, range(WORKERS)))


def check(board: BoardBackend) -> None:
    """Check what holds for every board, at any time.

    Args:
        board: with any tasks.
    """
    tasks = {task.id: task for task in board.tasks()}
    assert list(tasks) == sorted(tasks)
    for task in tasks.values():
        assert all(task.id in tasks[id].blocks for id in task.blocked_by)
        assert all(task.id in tasks[id].blocked_by for id in task.blocks)
        if task.status in ("in_progress", "completed"):
            assert all(tasks[id].status == "completed" for id in task.blocked_by), task
        if task.status == "pending":
            assert task.owner == ""
    done = set[int]()
    while ready := [t.id for t in tasks.values() if t.id not in done and {*t.blocked_by} <= done]:
        done |= {*ready}
    assert done == {*tasks}, "there is a circle"
