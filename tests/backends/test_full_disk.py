"""A full disk, or a kill: a change that failed has not happened, and does not happen later."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dying
import pytest
from conformance.boards import check, filled
from full_disk import room
from profiles import mostly_slow

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.mailbox import Mailbox

pytestmark = pytest.mark.slow

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


@pytest.fixture
def pristine(tmp_path: Path) -> Path:
    return filled(TaskBoard(tmp_path / "pristine"), "1>2 2>3", count=6).folder


def copied(pristine: Path) -> TaskBoard:
    """A new copy of a board, without what was done to the one before."""
    folder = pristine.with_name(".tasks")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pristine, folder)
    return TaskBoard(folder)


def outcome(change: Callable[[TaskBoard], object], pristine: Path) -> list[dict[str, Any]]:
    """What a board holds after a change that nothing has cut."""
    board = copied(pristine)
    change(board)
    return state(board)


@pytest.mark.parametrize("change", mostly_slow(CHANGES, 1))
def test_killed_anywhere_a_board_is_as_before_or_as_after(pristine: Path, change: str) -> None:
    act, met = CHANGES[change], list[bool]()
    old, new = state(copied(pristine)), outcome(act, pristine)
    folder = copied(pristine).folder
    for step in dying.at_every_step(lambda: act(TaskBoard(folder))):
        board = TaskBoard(folder)
        check(board)
        assert state(board) in (old, new), f"killed at step {step}"
        met.append(state(board) == new)
        assert leftovers(folder) == []
        copied(pristine)
    assert {*met} == {True, False}


@pytest.mark.parametrize("name", mostly_slow(CHANGES, 1))
def test_a_change_of_a_board_that_failed_is_not_carried_out_later(
    pristine: Path, name: str
) -> None:
    old, new = state(copied(pristine)), outcome(CHANGES[name], pristine)
    outcomes = set()
    for size in range(0, 700, 20):  # the disk is full in the first file, the second, the plan …
        board = copied(pristine)
        with room(size):
            try:
                CHANGES[name](board)
                expected = new
            except OSError:
                expected = old
            assert state(board) == state(TaskBoard(board.folder)) == expected
            assert board.get(5).subject == "step 5"
        assert leftovers(board.folder) == []
        board = TaskBoard(board.folder)
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
