"""A full disk: a change that failed has not happened, and does not happen later."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from full_disk import room
from profiles import mostly_slow

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.mailbox import Mailbox

CHANGES: dict[str, Callable[[TaskBoard], object]] = {
    "connect": lambda board: board.update(4, add_blocked_by=[1], add_blocks=[5, 6]),
    "create": lambda board: board.create("new", "with a description", tags=["a"]),
    "complete": lambda board: board.update(1, "completed", result_summary="done " * 50),
    "claim": lambda board: board.claim(1, "alice"),
    "delete": lambda board: board.update(2, "deleted"),
}


def state(board: TaskBoard) -> list[dict[str, Any]]:
    return [task.to_json() for task in board.tasks()]


def leftovers(folder: Path) -> list[Path]:
    return [*folder.glob(".*.part"), *folder.glob(".together*")]


@pytest.mark.parametrize("name", mostly_slow(CHANGES, 1))
def test_a_change_of_a_board_that_failed_is_not_carried_out_later(
    tmp_path: Path, name: str
) -> None:
    pristine, folder = tmp_path / "pristine", tmp_path / ".tasks"
    board = TaskBoard(pristine)
    for number in range(6):
        board.create(f"step {number}")
    board.update(2, add_blocked_by=[1], add_blocks=[3])
    old = state(board)
    shutil.copytree(pristine, folder)
    CHANGES[name](TaskBoard(folder))
    new = state(TaskBoard(folder))
    outcomes = set()
    for size in range(0, 700, 20):  # the disk is full in the first file, the second, the plan …
        shutil.rmtree(folder)
        shutil.copytree(pristine, folder)
        board = TaskBoard(folder)
        with room(size):
            try:
                CHANGES[name](board)
                expected = new
            except OSError:
                expected = old
            assert state(board) == state(TaskBoard(folder)) == expected
            assert board.get(5).subject == "step 4"
        assert leftovers(folder) == []
        board = TaskBoard(folder)
        assert state(board) == expected
        outcomes.add(expected is new)
        CHANGES[name](board) if expected is old else None
        assert state(board) == new
    assert outcomes == {True, False}


@pytest.mark.parametrize("size", [0, 40, 100, 300, 600, 1_550, 1_700])
def test_mail_that_was_not_sent_is_in_no_inbox(tmp_path: Path, size: int) -> None:
    box = Mailbox(tmp_path)
    for name in ("alice", "bob", "lead"):
        box.open(name)
    box.send("lead", "bob", "before " * 200)  # bob's inbox is the first that is full
    before = {name: box.all(name) for name in box.names}
    with room(size):
        for act in (
            lambda: box.send("lead", "bob", "now"),
            lambda: box.broadcast("lead", "to all " * 10),
        ):
            sent: Any = None
            try:
                sent = act()
            except OSError:
                assert {name: box.all(name) for name in box.names} == before
                assert len(box.unread("bob")) == len(before["bob"])
            else:
                before = {name: box.all(name) for name in box.names}
                assert sent
    box.broadcast("lead", "after")
    ids = [mail.id for name in box.names for mail in box.all(name)]
    assert len(set(ids)) == len(ids)
    for name in ("alice", "bob"):
        *first, last = box.all(name)
        assert first == before[name], "what was not sent is not sent later"
        assert last.content == "after"
