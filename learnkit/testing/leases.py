"""Leases: who is late is refused, and who has died loses its tasks."""

from __future__ import annotations

from contextlib import suppress

from learnkit.backends.interface import Backend
from learnkit.backends.task import Task
from learnkit.errors import ToolError, UsageError, extra
from learnkit.testing.case import LONG, SHORT, BackendCase, at_once, board_of, ids

with extra("test"):
    import pytest


class LeaseTests(BackendCase):
    """What a :class:`~learnkit.backends.interface.BoardBackend` promises about leases."""

    def test_after_its_lease_a_task_can_be_claimed_by_another(self, backend: Backend) -> None:
        """And the late one is refused, and hears who has it now."""
        board = board_of(backend, count=1)
        late = board.claim(1, "alice", incarnation="a1", lease=SHORT)
        self.let_pass(2 * SHORT)
        assert board.ready() == [late]
        now = board.claim(1, "bob", incarnation="b1", lease=LONG)
        assert now.token > late.token > 0
        assert board.ready() == []
        for status in ("completed", None):
            with pytest.raises(ToolError, match="task 1 is not yours any more: bob has it now"):
                board.update(1, status, by="alice", token=late.token, result_summary="late")
        assert board.renew("alice", "a1", LONG) == []
        assert board.get(1) == now
        for _ in range(2):  # asked twice, done once
            done = board.update(1, "completed", by="bob", token=now.token)
            assert done == board.get(1)
            assert (board.get(1).owner, board.get(1).lease_until) == ("bob", "")

    def test_a_lease_that_is_renewed_does_not_end(self, backend: Backend) -> None:
        """Renewing tells what is still held, and touches no one else's tasks."""
        board, holders = board_of(backend, count=3), ("alice a1", "alice a2", "bob a1")
        for id, (owner, run) in enumerate(map(str.split, holders), 1):
            board.claim(id, owner, incarnation=run, lease=SHORT)
        assert board.renew("alice", "a1", LONG) == [1]
        self.let_pass(2 * SHORT)
        assert ids(board.ready()) == [2, 3]
        assert board.renew("alice", "a2", LONG) == [2]  # late, but nobody else has claimed it
        assert ids(board.ready()) == [3]
        for lease in (0, -1.0, float("nan"), float("inf")):
            with pytest.raises(UsageError, match="give a number above 0"):
                board.renew("alice", "a1", lease)
            with pytest.raises(UsageError, match="give a number above 0"):
                board.claim(3, "alice", lease=lease)

    def test_who_ends_gives_back_what_this_run_holds(self, backend: Backend) -> None:
        """Its former self, and others, keep what is theirs; what it says afterwards is refused."""
        board = board_of(backend, count=3)
        for id, owner, run in ((1, "alice", "a1"), (2, "alice", "a2"), (3, "bob", "a2")):
            board.claim(id, owner, incarnation=run, lease=LONG)
        former, mine, other = board.tasks()
        (free,) = board.release("alice", "a2")
        assert (free.id, free.status, free.owner, free.incarnation) == (2, "pending", "", "")
        assert board.tasks() == [former, free, other]
        with pytest.raises(ToolError, match="task 2 is not yours any more: it was given back"):
            board.update(2, "completed", by="alice", token=mine.token)
        assert board.claim(2, "carol").token > mine.token  # fences without a lease as well

    def test_after_a_lease_one_of_all_who_wait_gets_the_task(self, backend: Backend) -> None:
        """As for a task that was never claimed."""
        board = board_of(backend, count=1)
        board.claim(1, "dead", incarnation="d1", lease=SHORT)
        self.let_pass(2 * SHORT)
        got = list[Task]()

        def grab(number: int) -> None:
            with self.second(backend) as second, suppress(ToolError):
                got.append(second.board().claim(1, f"w{number}", incarnation="i", lease=LONG))

        at_once(grab)
        assert got == [board.get(1)]
