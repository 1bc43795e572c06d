"""Tasks: what waits does not begin, and of all who claim one succeeds."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

from learnkit.backends.interface import Backend
from learnkit.backends.task import MAX_DESCRIPTION, MAX_SUBJECT
from learnkit.errors import ToolError, extra
from learnkit.testing.case import (
    LONG,
    TEXTS,
    WORKERS,
    BackendCase,
    at_once,
    board_of,
    check,
    ids,
)

with extra("test"):
    import pytest


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

    def test_a_task_that_cannot_be_made_says_why(self, backend: Backend) -> None:
        """Texts have limits, and a refused task takes no number."""
        board = backend.board()
        for arguments, problem in (
            ((" \n",), "the subject is empty"),
            (("x" * (MAX_SUBJECT + 1),), "the subject has"),
            (("a", "x" * (MAX_DESCRIPTION + 1)), "the description has"),
        ):
            with pytest.raises(ToolError, match=problem):
                board.create(*arguments)
        assert board.tasks() == []
        assert board.create("x" * MAX_SUBJECT, "x" * MAX_DESCRIPTION).id == 1
        with pytest.raises(ToolError, match="result_summary is too long"):
            board.update(1, result_summary="x" * (MAX_DESCRIPTION + 1))

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

    def test_dependencies(self, backend: Backend) -> None:
        """What waits for another cannot begin; both directions agree; a deleted task frees."""
        board = board_of(backend, "1>2 2>3", count=4)
        assert [(task.blocked_by, task.blocks) for task in board.tasks()] == [
            *[((), (2,)), ((1,), (3,)), ((2,), ()), ((), ())],
        ]
        assert ids(board.ready()) == [1, 4]
        for act in (
            lambda: board.claim(2, "alice"),
            lambda: board.update(2, "in_progress"),
            lambda: board.update(2, "completed"),
        ):
            with pytest.raises(ToolError, match="task 2 is blocked by 1; complete them first"):
                act()
        refused: list[tuple[dict[str, Any], str]] = [
            ({"add_blocked_by": [1]}, "task 1 cannot wait for itself"),
            ({"add_blocked_by": [3]}, "a cycle, #1 → #2 → #3 → #1"),
            ({"add_blocked_by": [9]}, "there is no task 9; the board has: 1, 2, 3, 4$"),
            ({"add_blocks": [9]}, "there is no task 9"),
            ({"remove_blocked_by": [3]}, "task 1 does not wait for 3; it waits for nothing"),
            ({"add_blocks": [4], "add_blocked_by": [4]}, "a cycle"),
        ]
        for change, problem in refused:
            before = board.tasks()
            with pytest.raises(ToolError, match=problem):
                board.update(1, **change)
            assert board.tasks() == before
        board.update(1, "completed")
        assert ids(board.ready()) == [2, 4]
        board.update(2, "in_progress", owner="alice")
        with pytest.raises(ToolError, match="task 1 cannot be reopened: 2 already built on it"):
            board.update(1, "pending")
        with pytest.raises(ToolError, match="task 2 is in_progress; it can no longer wait for 4"):
            board.update(4, add_blocks=[2])
        board.update(3, remove_blocked_by=[2], add_blocked_by=[4])
        assert board.get(3).blocked_by == (4,)
        assert (board.get(2).blocks, board.get(4).blocks) == ((), (3,))
        assert board.update(4, "deleted") is None
        assert ids(board.ready()) == [3]
        assert board.get(3).blocked_by == ()
        check(board)

    def test_a_long_way_round_is_a_circle_too(self, backend: Backend) -> None:
        """However many tasks are between the two, and when one change closes it at both ends."""
        board = board_of(backend, "1>2 2>3 3>4 4>5 6>7")
        for id, change in (
            (1, {"add_blocked_by": [5]}),
            (5, {"add_blocks": [1]}),
            (7, {"add_blocks": [1], "add_blocked_by": [5]}),
        ):
            with pytest.raises(ToolError, match="that would be a cycle"):
                board.update(id, **change)  # type: ignore[arg-type]
        board.update(1, add_blocked_by=[7])
        assert board.get(1).blocked_by == (7,)
        check(board)

    def test_a_deleted_task_leaves_the_others_as_they_were(self, backend: Backend) -> None:
        """What waited for it and for another still waits for the other one."""
        board = board_of(backend, "1>3 2>3 2>4 3>5 4>5")
        assert board.update(3, "deleted") is None
        assert [(task.id, task.blocked_by, task.blocks) for task in board.tasks()] == [
            *((1, (), ()), (2, (), (4,)), (4, (2,), (5,)), (5, (4,), ())),
        ]
        assert board.update(2, "deleted") is None
        assert ids(board.ready()) == [1, 4]
        board.update(5, remove_blocked_by=[4])
        assert ids(board.ready()) == [1, 4, 5]

    def test_an_unknown_task_is_an_error_that_names_the_known_ones(self, backend: Backend) -> None:
        """Of many the first twenty."""
        board = board_of(backend, count=21)
        twenty = ", ".join(map(str, range(1, 21)))
        for act in (board.get, board.update, lambda id: board.claim(id, "alice")):
            with pytest.raises(ToolError, match=f"there is no task 99; the board has: {twenty}, …"):
                act(99)
            with pytest.raises(ToolError, match=r"there is no task 0;"):
                act(0)
        with pytest.raises(ToolError, match=r"the board has: none$"):
            backend.board("none").get(1)

    def test_who_may_change_a_task_in_progress(self, backend: Backend) -> None:
        """Its owner, a subagent of the owner, and whoever gives no name."""
        board = board_of(backend, count=1)
        board.claim(1, "alice")
        for by in ("bob", "alicia", "alice2"):
            with pytest.raises(ToolError, match="owned by alice; only alice or"):
                board.update(1, "completed", by=by)
        with pytest.raises(ToolError, match="task 1 is in_progress by alice; claim one that is"):
            board.claim(1, "bob")
        with pytest.raises(ToolError, match="task 1 is in progress and owned by alice"):
            board.update(1, "in_progress", owner="bob")
        with pytest.raises(ToolError, match="the owner is empty"):
            board.claim(1, "")
        for by in ("alice", "alice.t1", ""):
            assert board.update(1, "pending", by=by) == board.get(1)
            assert board.get(1).owner == ""
            assert board.claim(1, "alice").owner == "alice"
        board.update(1, "completed", by="alice")
        assert (board.get(1).status, board.get(1).owner) == ("completed", "alice")
        with pytest.raises(ToolError, match="task 1 is completed; it can only become: pending"):
            board.update(1, "failed")

    def test_of_all_who_claim_one_succeeds(self, backend: Backend) -> None:
        """Of each task, with leases and without."""
        board = board_of(backend, count=6)
        got = list[tuple[int, str]]()

        def grab(number: int) -> None:
            with self.second(backend) as second:
                for id in range(1, 7):
                    with suppress(ToolError):
                        lease = LONG if id % 2 else None
                        task = second.board().claim(id, f"w{number}", lease=lease)
                        got.append((task.id, task.owner))

        at_once(grab)
        assert sorted(id for id, _ in got) == [1, 2, 3, 4, 5, 6]
        assert {(task.id, task.owner) for task in board.tasks()} == {*got}

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
                    one, other = chance.randint(1, 12), chance.randint(1, 12)
                    with suppress(ToolError):
                        match chance.randrange(6):
                            case 0:
                                mine.update(one, add_blocked_by=[other])
                            case 1:
                                mine.update(one, "pending")
                            case 2:
                                mine.update(one, "completed")
                            case 3:
                                mine.update(one, remove_blocked_by=[other])
                            case 4 if one > 10:
                                mine.update(one, "deleted")
                            case _:
                                mine.claim(one, f"w{number}", lease=LONG)
                    check(mine)

        at_once(play)
        check(board)

    def test_a_board_says_what_is_new(self, backend: Backend) -> None:
        """No matter who has changed it; a renewed lease is not news."""
        board = board_of(backend, "1>2")
        mine = backend.board()
        mine.open()
        assert mine.news() == []
        before = board.tasks()
        with self.second(backend) as second:
            theirs = second.board()
            theirs.create("three")
            theirs.claim(1, "alice", incarnation="i", lease=LONG)
            theirs.update(2, "deleted")
        news = mine.news()
        assert [old for old, _ in news] == [*before, None]
        assert [new for _, new in news] == [board.get(1), None, board.get(3)]
        assert mine.news() == []
        assert board.renew("alice", "i", 2 * LONG) == [1]
        assert mine.news() == []
        mine.open()
        board.update(1, "completed")
        assert [(old and old.status, new and new.status) for old, new in mine.news()] == [
            ("in_progress", "completed")
        ]
        fresh = backend.board()
        assert [new for _, new in fresh.news()] == board.tasks()
