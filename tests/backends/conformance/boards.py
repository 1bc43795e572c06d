"""Boards for tests: how to fill one, and what holds for every board at any time."""

from __future__ import annotations

from typing import TypeVar

from learnkit.backends.interface import BoardBackend

B = TypeVar("B", bound=BoardBackend)


def filled(board: B, edges: str = "", count: int = 0) -> B:
    """An empty board with at least so many tasks; in ``1>2 2>3``, 1 blocks 2, and 2 blocks 3."""
    pairs = [tuple(map(int, pair.split(">"))) for pair in edges.split()]
    for number in range(max([count, *(max(pair) for pair in pairs)])):
        board.create(f"step {number + 1}")
    for blocker, blocked in pairs:
        board.update(blocked, add_blocked_by=[blocker])
    return board


def check(board: BoardBackend) -> None:
    """What has begun has no open blocker, both directions agree, and nothing goes in a circle."""
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
