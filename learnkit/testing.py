"""What a backend promises, as tests that any backend can be put through.

Subclass :class:`BackendTests` in a test module, give it a fixture ``backend``, and pytest runs one
test for each promise of ``learnkit.backends.interface``::

    class TestMine(BackendTests):
        @pytest.fixture
        def backend(self, tmp_path):
            with closing(MyBackend(tmp_path)) as backend:
                yield backend
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from learnkit.backends.interface import (
    Backend,
    BoardBackend,
    InboxReader,
    MailBackend,
    RequestBackend,
    RosterBackend,
)
from learnkit.backends.mail import MAX_CONTENT
from learnkit.backends.task import MAX_DESCRIPTION, MAX_SUBJECT, Task
from learnkit.errors import ToolError, UsageError, extra

with extra("test"):
    import pytest

#: Texts that a model may write, and that not every store keeps.
TEXTS = ("Grüße 你好 🎈", "two\nlines\r\n\ttab", "'; DROP TABLE mail; --", '{"a": "\\u41"}', "%s ?")

#: Seconds of a lease that does not end during a test, and of one that is over soon.
LONG, SHORT = 3600.0, 0.05

#: Workers that try the same thing at the same time.
WORKERS = 8


class BackendTests:
    """A test for each promise; subclass it, and give it a fixture ``backend``.

    The backend that the fixture returns is empty.
    """

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

    # All of it

    def test_it_has_the_methods_of_its_interfaces(self, backend: Backend) -> None:
        """Each part has all methods."""
        mail = backend.mail()
        mail.open("alice")
        assert isinstance(backend, Backend)
        assert isinstance(mail, MailBackend)
        assert isinstance(mail.reader("alice"), InboxReader)
        assert isinstance(backend.board(), BoardBackend)
        assert isinstance(backend.requests(), RequestBackend)
        assert isinstance(backend.roster(), RosterBackend)
        assert backend.address

    def test_teams_know_nothing_of_each_other(self, backend: Backend) -> None:
        """What is stored for one team is not seen by another."""
        backend.mail("one").open("alice")
        backend.board("one").create("a task")
        backend.requests("one").open("plan", "alice", "lead", "a plan")
        backend.roster("one").note({"name": "alice", "role": "coder", "status": "idle"})
        assert backend.mail("two").names == []
        assert backend.board("two").tasks() == []
        assert backend.requests("two").all() == []
        assert backend.roster("two").members() == []
        backend.mail("two").open("alice")
        backend.mail("two").broadcast("lead", "hello")
        assert backend.mail("one").unread("alice") == []
        assert backend.board("two").create("another").id == 1
        assert [task.subject for task in backend.board("one").tasks()] == ["a task"]

    def test_what_is_stored_is_there_for_another_process(self, backend: Backend) -> None:
        """A second way to the same place sees all of it."""
        backend.mail().open("alice")
        sent = backend.mail().send("lead", "alice", "hello")
        task = backend.board().create("a task", "to be done", tags=["coder"])
        request = backend.requests().open("plan", "alice", "lead", "a plan")
        backend.roster().note({"name": "alice", "role": "coder", "status": "idle"})
        with self._second(backend) as second:
            assert second.mail().unread("alice") == [sent]
            assert second.board().tasks() == [task]
            assert second.requests().all() == [request]
            assert [one["name"] for one in second.roster().members()] == ["alice"]

    # Mail

    def test_messages_are_read_in_the_order_of_sending(self, backend: Backend) -> None:
        """``take`` returns each message once, and ``look`` changes nothing."""
        mail = _inboxes(backend)
        reader = mail.reader("alice")
        sent = [mail.send("lead", "alice", str(number)) for number in range(20)]
        assert reader.look() == reader.look() == sent
        assert reader.take() == sent
        assert reader.take() == reader.look() == []
        more = mail.send("bob", "alice", "more")
        assert reader.take() == [more]
        assert len({one.id for one in [*sent, more]}) == 21

    def test_what_was_not_committed_comes_again(self, backend: Backend) -> None:
        """A reader that died between ``take`` and ``commit`` loses nothing."""
        mail = _inboxes(backend)
        one, two = (mail.send("lead", "alice", text) for text in ("one", "two"))
        first = mail.reader("alice")
        assert first.take() == [one, two]
        assert mail.unread("alice") == [one, two]
        assert mail.reader("alice", seen=[one.id]).take() == [two]
        with self._second(backend) as second:
            assert second.mail().reader("alice").take() == [one, two]
        first.commit()
        assert mail.unread("alice") == mail.reader("alice").take() == []
        first.commit()

    def test_only_what_was_taken_is_committed(self, backend: Backend) -> None:
        """What comes between ``take`` and ``commit`` is not lost."""
        mail = _inboxes(backend)
        reader = mail.reader("alice")
        mail.send("lead", "alice", "one")
        reader.take()
        two = mail.send("lead", "alice", "two")
        reader.commit()
        assert mail.unread("alice") == mail.reader("alice").take() == reader.take() == [two]

    def test_what_was_put_back_comes_again(self, backend: Backend) -> None:
        """A message that did not reach the agent is taken a second time."""
        mail = _inboxes(backend)
        one, two, three = (mail.send("lead", "alice", text) for text in ("one", "two", "three"))
        reader = mail.reader("alice")
        assert reader.take() == [one, two, three]
        reader.put_back([two.id])
        assert reader.look() == reader.take() == [two]
        reader.commit()
        assert mail.reader("alice").take() == []

    def test_what_the_transcript_has_is_committed_with_the_rest(self, backend: Backend) -> None:
        """A message that was seen before is not returned, and is dealt with at the next commit."""
        mail = _inboxes(backend)
        one, two = (mail.send("lead", "alice", text) for text in ("one", "two"))
        reader = mail.reader("alice", seen=[one.id])
        reader.commit()
        assert reader.take() == [two]
        reader.commit()
        assert mail.unread("alice") == []

    def test_a_message_keeps_all_that_it_had(self, backend: Backend) -> None:
        """Texts, type, sender and further fields come back as they were."""
        mail = _inboxes(backend)
        now = datetime.now(UTC)
        for text in (*TEXTS, "x" * MAX_CONTENT):
            more = {"request_id": "r1", "deep": {"list": [1, None, True], "text": text[:100]}}
            sent = mail.send("lead", "alice", text, "shutdown_request", at=now, **more)
            (found,) = mail.unread("alice")
            assert found == sent
            assert (found.content, found.more, found.sender, found.to, found.type) == (
                *(text, more, "lead", "alice", "shutdown_request"),
            )
            assert datetime.fromisoformat(found.timestamp).tzinfo is not None
            reader = mail.reader("alice")
            reader.take()
            reader.commit()

    def test_a_message_that_cannot_be_sent_says_why(self, backend: Backend) -> None:
        """Unknown and impossible names, empty and long texts are refused, and nothing is sent."""
        mail = _inboxes(backend)
        with pytest.raises(
            ToolError, match="no inbox for 'carol'; there are inboxes for: alice, bob"
        ):
            mail.send("lead", "carol", "hello")
        for name in ("", "../alice", "Alice", "a b", "a" * 41, "alice\n"):
            with pytest.raises(ToolError, match="is not a valid name"):
                mail.open(name)
        long = "x" * (MAX_CONTENT + 1)
        for text, problem in (("", "is empty"), (" \n", "is empty"), (long, "characters")):
            with pytest.raises(ToolError, match=problem):
                mail.send("lead", "alice", text)
            with pytest.raises(ToolError, match=problem):
                mail.broadcast("lead", text)
        for act in (mail.unread, mail.reader):
            with pytest.raises(ToolError, match="no inbox for 'carol'"):
                act("carol")
        assert mail.names == ["alice", "bob", "lead"]
        assert mail.unread("alice") == mail.unread("bob") == []

    def test_an_inbox_is_opened_once(self, backend: Backend) -> None:
        """Opening it again leaves it as it is, also when several do so at once."""
        mail = _inboxes(backend)
        mail.send("lead", "alice", "x")
        mail.open("alice")
        assert len(mail.unread("alice")) == 1
        _at_once(lambda number: mail.open("a" * 40))
        assert mail.names == ["a" * 40, "alice", "bob", "lead"]

    def test_a_broadcast_reaches_everyone_but_its_sender(self, backend: Backend) -> None:
        """Each gets a message with an id of its own; a lone sender reaches no one."""
        mail = _inboxes(backend)
        sent = mail.broadcast("alice", "phase 1 is done")
        assert [(one.to, one.type) for one in sent] == [("bob", "broadcast"), ("lead", "broadcast")]
        assert len({one.id for one in sent}) == 2
        assert mail.unread("alice") == []
        assert [mail.unread("bob"), mail.unread("lead")] == [[sent[0]], [sent[1]]]
        alone = backend.mail("alone")
        alone.open("lead")
        assert alone.broadcast("lead", "hello?") == []

    def test_of_many_writers_no_message_is_lost_or_read_twice(self, backend: Backend) -> None:
        """A reader that reads while all of them write gets each message exactly once."""
        mail, read, over = _inboxes(backend), list[str](), threading.Event()

        def collect() -> None:
            reader = mail.reader("alice")
            while not over.is_set() or reader.look():
                read.extend(one.content for one in reader.take())
                reader.commit()

        def write(number: int) -> None:
            with self._second(backend) as second:
                for count in range(10):
                    second.mail().send(f"w{number}", "alice", f"{number}-{count}")
                second.mail().broadcast(f"w{number}", f"{number}-all")

        with ThreadPoolExecutor(1) as pool:
            collecting = pool.submit(collect)
            try:
                _at_once(write)
            finally:
                over.set()
            collecting.result()
        wanted = [f"{n}-{what}" for n in range(WORKERS) for what in (*range(10), "all")]
        assert sorted(read) == sorted(wanted)
        for number in range(WORKERS):  # what one writer has sent stays in its order
            mine = [one for one in read if one.startswith(f"{number}-")]
            assert mine == [f"{number}-{what}" for what in (*range(10), "all")]
        assert mail.unread("alice") == []
        assert len(mail.unread("bob")) == WORKERS

    # Tasks

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
        made = _at_once(lambda number: [board.create(f"{number}-{n}").id for n in range(5)])
        ids = [id for some in made for id in some]
        assert sorted(ids) == list(range(1, 5 * WORKERS + 1))
        assert all(some == sorted(some) for some in made)
        assert board.update(max(ids), "deleted") is None
        with self._second(backend) as second:
            assert second.board().create("new").id == 5 * WORKERS + 1

    def test_dependencies(self, backend: Backend) -> None:
        """What waits for another cannot begin; both directions agree; a deleted task frees."""
        board = _board(backend, "1>2 2>3", count=4)
        assert [(task.blocked_by, task.blocks) for task in board.tasks()] == [
            *[((), (2,)), ((1,), (3,)), ((2,), ()), ((), ())],
        ]
        assert _ids(board.ready()) == [1, 4]
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
        assert _ids(board.ready()) == [2, 4]
        board.update(2, "in_progress", owner="alice")
        with pytest.raises(ToolError, match="task 1 cannot be reopened: 2 already built on it"):
            board.update(1, "pending")
        with pytest.raises(ToolError, match="task 2 is in_progress; it can no longer wait for 4"):
            board.update(4, add_blocks=[2])
        board.update(3, remove_blocked_by=[2], add_blocked_by=[4])
        assert board.get(3).blocked_by == (4,)
        assert (board.get(2).blocks, board.get(4).blocks) == ((), (3,))
        assert board.update(4, "deleted") is None
        assert _ids(board.ready()) == [3]
        assert board.get(3).blocked_by == ()
        _check(board)

    def test_a_long_way_round_is_a_circle_too(self, backend: Backend) -> None:
        """However many tasks are between the two, and when one change closes it at both ends."""
        board = _board(backend, "1>2 2>3 3>4 4>5 6>7")
        for id, change in (
            (1, {"add_blocked_by": [5]}),
            (5, {"add_blocks": [1]}),
            (7, {"add_blocks": [1], "add_blocked_by": [5]}),
        ):
            with pytest.raises(ToolError, match="that would be a cycle"):
                board.update(id, **change)  # type: ignore[arg-type]
        board.update(1, add_blocked_by=[7])
        assert board.get(1).blocked_by == (7,)
        _check(board)

    def test_a_deleted_task_leaves_the_others_as_they_were(self, backend: Backend) -> None:
        """What waited for it and for another still waits for the other one."""
        board = _board(backend, "1>3 2>3 2>4 3>5 4>5")
        assert board.update(3, "deleted") is None
        assert [(task.id, task.blocked_by, task.blocks) for task in board.tasks()] == [
            *((1, (), ()), (2, (), (4,)), (4, (2,), (5,)), (5, (4,), ())),
        ]
        assert board.update(2, "deleted") is None
        assert _ids(board.ready()) == [1, 4]
        board.update(5, remove_blocked_by=[4])
        assert _ids(board.ready()) == [1, 4, 5]

    def test_an_unknown_task_is_an_error_that_names_the_known_ones(self, backend: Backend) -> None:
        """Of many the first twenty."""
        board = _board(backend, count=21)
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
        board = _board(backend, count=1)
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
        board = _board(backend, count=6)
        got = list[tuple[int, str]]()

        def grab(number: int) -> None:
            with self._second(backend) as second:
                for id in range(1, 7):
                    with suppress(ToolError):
                        lease = LONG if id % 2 else None
                        task = second.board().claim(id, f"w{number}", lease=lease)
                        got.append((task.id, task.owner))

        _at_once(grab)
        assert sorted(id for id, _ in got) == [1, 2, 3, 4, 5, 6]
        assert {(task.id, task.owner) for task in board.tasks()} == {*got}

    def test_workers_share_a_board_with_dependencies(self, backend: Backend) -> None:
        """Nothing is done twice, nothing before what it waits for, and all of it is done."""
        edges = " ".join(f"{n // 2}>{n}" for n in range(2, 25))
        board, done = _board(backend, edges), list[int]()

        def work(number: int) -> None:
            with self._second(backend) as second:
                mine = second.board()
                while any(task.status != "completed" for task in mine.tasks()):
                    for task in mine.ready():
                        with suppress(ToolError):
                            held = mine.claim(task.id, f"w{number}", incarnation="i", lease=LONG)
                            done.append(held.id)
                            mine.update(held.id, "completed", by=f"w{number}", token=held.token)

        _at_once(work)
        assert sorted(done) == list(range(1, 25))
        assert all(done.index(id // 2) < done.index(id) for id in range(2, 25))
        _check(board)

    def test_changes_at_the_same_time_keep_the_promise(self, backend: Backend) -> None:
        """Claims beside new dependencies, reopened and deleted tasks: none begins too early."""
        board = _board(backend, count=12)

        def play(number: int) -> None:
            chance = random.Random(number)
            with self._second(backend) as second:
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
                    _check(mine)

        _at_once(play)
        _check(board)

    def test_a_board_says_what_is_new(self, backend: Backend) -> None:
        """No matter who has changed it; a renewed lease is not news."""
        board = _board(backend, "1>2")
        mine = backend.board()
        mine.open()
        assert mine.news() == []
        before = board.tasks()
        with self._second(backend) as second:
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

    # Leases

    def test_a_claim_without_a_lease_stays_and_has_no_token(self, backend: Backend) -> None:
        """Who uses no leases sees nothing of them."""
        board = _board(backend, count=1)
        task = board.claim(1, "alice")
        assert (task.token, task.incarnation, task.lease_until) == (0, "", "")
        self.let_pass(2 * SHORT)
        assert board.ready() == []
        with pytest.raises(ToolError, match="task 1 is in_progress by alice"):
            board.claim(1, "bob", lease=LONG)
        assert {"token", "incarnation", "lease_until"}.isdisjoint(task.to_json())

    def test_after_its_lease_a_task_can_be_claimed_by_another(self, backend: Backend) -> None:
        """And the late one is refused, and hears who has it now."""
        board = _board(backend, "1>2")
        late = board.claim(1, "alice", incarnation="a1", lease=SHORT)
        assert late.lease_until
        self.let_pass(2 * SHORT)
        assert _ids(board.ready()) == [1]
        assert board.get(1).status == "in_progress"
        now = board.claim(1, "bob", incarnation="b1", lease=LONG)
        assert now.token > late.token > 0
        assert board.ready() == []
        for status in ("completed", "pending", "failed", "deleted", None):
            with pytest.raises(ToolError, match="task 1 is not yours any more: bob has it now"):
                board.update(1, status, by="alice", token=late.token, result_summary="late")
        assert board.get(1) == now
        assert board.update(1, "completed", by="bob", token=now.token) == board.get(1)
        with pytest.raises(ToolError, match="not yours any more: it is completed by bob"):
            board.update(1, "completed", by="alice", token=late.token)
        again = board.update(1, "completed", by="bob", token=now.token)  # asked twice, done once
        assert again is not None
        assert (again.owner, again.lease_until) == ("bob", "")

    def test_who_is_late_and_alone_may_complete(self, backend: Backend) -> None:
        """After its lease a task is its holder's still, until another claims it."""
        board = _board(backend, count=1)
        task = board.claim(1, "alice", incarnation="a1", lease=SHORT)
        self.let_pass(2 * SHORT)
        assert board.renew("alice", "a1", LONG) == [1]
        assert board.ready() == []
        done = board.update(1, "completed", by="alice", token=task.token)
        assert done is not None
        assert done.status == "completed"

    def test_a_claim_without_a_lease_fences_the_late_one_off_as_well(
        self, backend: Backend
    ) -> None:
        """Once a task has a token, every claim raises it."""
        board = _board(backend, count=1)
        late = board.claim(1, "alice", incarnation="a1", lease=SHORT)
        self.let_pass(2 * SHORT)
        assert board.claim(1, "bob").token > late.token
        assert board.get(1).lease_until == ""
        with pytest.raises(ToolError, match="not yours any more: bob has it now"):
            board.update(1, "completed", by="alice", token=late.token)

    def test_a_lease_that_is_renewed_does_not_end(self, backend: Backend) -> None:
        """Renewing tells what is still held, and touches no one else's tasks."""
        board = _board(backend, count=4)
        for id, (owner, run) in enumerate(
            [("alice", "a1"), ("alice", "a1"), ("alice", "a2"), ("bob", "a1")], 1
        ):
            board.claim(id, owner, incarnation=run, lease=SHORT)
        assert board.renew("alice", "a1", LONG) == [1, 2]
        self.let_pass(2 * SHORT)
        assert _ids(board.ready()) == [3, 4]
        token = board.get(1).token
        board.update(1, "completed", by="alice", token=token)
        assert board.renew("alice", "a1", LONG) == [2]
        assert board.renew("alice", "nobody", LONG) == []
        assert board.get(2).lease_until > board.get(3).lease_until
        for lease in (0, -1.0, float("nan"), float("inf")):
            with pytest.raises(UsageError, match="give a number above 0"):
                board.renew("alice", "a1", lease)
            with pytest.raises(UsageError, match="give a number above 0"):
                board.claim(3, "alice", lease=lease)

    def test_a_worker_that_was_restarted_is_not_its_former_self(self, backend: Backend) -> None:
        """It neither inherits what that one has claimed, nor is it locked out after the lease."""
        board = _board(backend, count=2)
        old = board.claim(1, "alice", incarnation="a1", lease=SHORT)
        assert board.renew("alice", "a2", LONG) == []
        assert board.release("alice", "a2") == []
        self.let_pass(2 * SHORT)
        new = board.claim(1, "alice", incarnation="a2", lease=LONG)
        assert (new.owner, new.incarnation) == ("alice", "a2")
        with pytest.raises(ToolError, match="not yours any more: another run of alice has it now"):
            board.update(1, "completed", by="alice", token=old.token)
        assert board.renew("alice", "a1", LONG) == []
        assert board.renew("alice", "a2", LONG) == [1]

    def test_who_ends_gives_back_what_it_holds(self, backend: Backend) -> None:
        """Its tasks are pending at once, and what it says of them afterwards is refused."""
        board = _board(backend, "1>4", count=4)
        held = [board.claim(id, "alice", incarnation="a1", lease=LONG) for id in (1, 2)]
        other = board.claim(3, "bob", incarnation="b1", lease=LONG)
        board.update(2, "completed", by="alice", token=held[1].token)
        free = board.release("alice", "a1")
        assert free == [board.get(1)]
        assert (free[0].status, free[0].owner, free[0].incarnation) == ("pending", "", "")
        assert free[0].blocks == (4,)
        assert board.get(3) == other
        assert board.release("alice", "a1") == []
        with pytest.raises(ToolError, match="task 1 is not yours any more: it was given back"):
            board.update(1, "completed", by="alice", token=held[0].token)
        assert board.claim(1, "carol").token > held[0].token  # fences without a lease as well

    def test_after_a_lease_one_of_all_who_wait_gets_the_task(self, backend: Backend) -> None:
        """As for a task that was never claimed."""
        board = _board(backend, count=1)
        board.claim(1, "dead", incarnation="d1", lease=SHORT)
        self.let_pass(2 * SHORT)
        got = list[Task]()

        def grab(number: int) -> None:
            with self._second(backend) as second, suppress(ToolError):
                got.append(second.board().claim(1, f"w{number}", incarnation="i", lease=LONG))

        _at_once(grab)
        assert got == [board.get(1)]

    # Requests

    def test_a_request_is_answered_once_and_by_its_addressee(self, backend: Backend) -> None:
        """It has eight characters, and an answer that stays."""
        requests = backend.requests()
        asked = requests.open("shutdown", "lead", "alice", "please")
        assert len(asked.id) == 8
        assert requests.get(asked.id) == asked
        for by in ("lead", "bob", "alice ", ""):
            with pytest.raises(ToolError, match="is for alice to answer"):
                requests.answer(asked.id, by, "approved")
        with pytest.raises(ToolError, match="cannot become changes_requested"):
            requests.answer(asked.id, "alice", "changes_requested")
        answered = requests.answer(asked.id, "alice", "rejected", TEXTS[0])
        assert (answered.state, answered.note) == ("rejected", TEXTS[0])
        with pytest.raises(ToolError, match="already rejected, which cannot be changed"):
            requests.answer(asked.id, "alice", "approved")
        assert requests.get(asked.id) == answered
        with pytest.raises(ToolError, match=f"no request 'r9'; the latest .*: {asked.id}"):
            requests.answer("r9", "lead", "approved")
        with pytest.raises(ToolError, match="no request"):
            backend.requests("none").get("r0000001")

    def test_of_many_who_answer_at_once_one_is_heard(self, backend: Backend) -> None:
        """The others are refused."""
        asked, heard = backend.requests().open("shutdown", "lead", "alice", "please"), list[str]()

        def answer(number: int) -> None:
            with self._second(backend) as second, suppress(ToolError):
                second.requests().answer(asked.id, "alice", "approved", str(number))
                heard.append(str(number))

        _at_once(answer)
        assert [backend.requests().get(asked.id).note] == heard

    def test_the_same_is_not_asked_twice_while_it_is_pending(self, backend: Backend) -> None:
        """Nor by several at once."""
        requests, opened = backend.requests(), list[str]()

        def ask(number: int) -> None:
            with self._second(backend) as second, suppress(ToolError):
                opened.append(second.requests().open("plan", "alice", "lead", "a plan").id)

        _at_once(ask)
        assert [one.id for one in requests.all()] == opened
        assert len(opened) == 1
        with pytest.raises(ToolError, match=f"{opened[0]} to lead has no answer yet"):
            requests.open("plan", "alice", "lead", "a plan")
        requests.open("plan", "bob", "lead", "another's plan")
        requests.open("shutdown", "lead", "alice", "please")
        requests.answer(opened[0], "lead", "approved")
        assert requests.open("plan", "alice", "lead", "the next").id != opened[0]

    def test_a_request_expires_at_its_deadline(self, backend: Backend) -> None:
        """Also if no one has looked at it since."""
        requests = backend.requests()
        stays = requests.open("shutdown", "lead", "bob", "please", within=LONG)
        asked = requests.open("shutdown", "lead", "alice", "please", within=SHORT)
        assert asked.expires
        self.let_pass(2 * SHORT)
        assert [one.state for one in requests.all()] == ["pending", "expired"]
        with pytest.raises(ToolError, match="already expired"):
            requests.answer(asked.id, "alice", "approved")
        assert requests.open("shutdown", "lead", "alice", "again").state == "pending"
        assert requests.get(stays.id).state == "pending"
        closed = requests.expire(stays.id, "why not")
        assert closed is not None
        assert (closed.state, closed.note) == ("expired", "why not")
        assert requests.expire(stays.id, "again") is None
        with pytest.raises(ToolError, match="no request"):
            requests.expire("r9", "why")

    def test_a_new_assignment_ends_what_was_asked_before(self, backend: Backend) -> None:
        """Of the same teammate only; and its old plan is not the current one any more."""
        requests = backend.requests()
        assert requests.current("bob") is None
        requests.assign("bob")
        old = requests.open("plan", "bob", "lead", "the old one")
        requests.answer(old.id, "lead", "approved")
        late = requests.open("plan", "bob", "lead", "a late one")
        asked = requests.open("shutdown", "lead", "bob", "please")
        other = requests.open("plan", "carol", "lead", "another's")
        assert requests.current("bob") == late
        assert [one.id for one in requests.assign("bob")] == [late.id, asked.id]
        assert requests.current("bob") is None
        assert requests.current("carol") == other
        with pytest.raises(ToolError, match="already expired"):
            requests.answer(late.id, "lead", "approved")
        new = requests.open("plan", "bob", "lead", "the new one")
        assert new.assignment == late.assignment + 1
        assert [one.id for one in requests.expire_all("bob", "bob has ended")] == [new.id]
        assert requests.expire_all("bob", "again") == []
        assert requests.get(other.id).state == "pending"

    def test_who_needs_a_plan_is_known_everywhere(self, backend: Backend) -> None:
        """What is said of one member, in one role, goes before what is said of all."""
        requests = backend.requests()
        assert requests.requires_plan("bob", "coder") is False
        requests.require_plan(True, "bob", "coder")
        assert requests.requires_plan("bob", "coder") is True
        assert requests.requires_plan("alice", "coder") is False
        requests.require_plan(True)
        assert requests.requires_plan("alice", "coder") is True
        requests.require_plan(False, "bob", "coder")
        with self._second(backend) as second:
            elsewhere = second.requests()
            assert elsewhere.requires_plan("bob", "coder") is False
            assert elsewhere.requires_plan("bob", "tester") is True
            assert elsewhere.requires_plan("alice", "coder") is True
            assert second.requests("other").requires_plan("alice", "coder") is False
        requests.require_plan(True)
        assert requests.requires_plan("bob", "coder") is True
        requests.require_plan(False)
        assert requests.requires_plan("bob", "coder") is False
        assert requests.all() == []

    # Members

    def test_members_stay_in_the_order_in_which_they_joined(self, backend: Backend) -> None:
        """A new entry replaces the one with the same name."""
        roster = backend.roster()
        assert roster.members() == []
        for name in ("bob", "alice"):
            roster.note({"name": name, "role": "coder", "status": "working"})
        roster.note({"name": "bob", "role": "tester", "status": "idle"})
        expected = [
            {"name": "bob", "role": "tester", "status": "idle"},
            {"name": "alice", "role": "coder", "status": "working"},
        ]
        assert roster.members() == expected

    def test_a_member_in_a_process_of_its_own_is_heard_of(self, backend: Backend) -> None:
        """Its beats say where it is; a later incarnation takes the name over."""
        roster = backend.roster()
        member = {"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"}
        with pytest.raises(ToolError, match="no member is called 'alice'; there are: none"):
            roster.beat("alice", "a1", "here")
        roster.note(member)
        assert roster.members() == [member]
        assert roster.beat("alice", "a1", "machine 7") is True
        (found,) = roster.members()
        assert (found["where"], int(found["silent"]) < 60) == ("machine 7", True)
        heard = datetime.fromisoformat(found["heard"])
        assert heard.tzinfo is not None
        self.let_pass(SHORT)
        roster.note({**member, "status": "working"})
        (found,) = roster.members()
        assert (found["status"], found["where"]) == ("working", "machine 7")
        assert datetime.fromisoformat(found["heard"]) == heard
        assert roster.beat("alice", "a1", "machine 7") is True
        assert datetime.fromisoformat(roster.members()[0]["heard"]) > heard
        assert roster.beat("alice", "a2", "machine 8") is False
        roster.note({**member, "incarnation": "a2"})
        assert "where" not in roster.members()[0]
        assert roster.beat("alice", "a1", "machine 7") is False
        assert roster.beat("alice", "a2", "machine 8") is True
        assert roster.members()[0]["where"] == "machine 8"

    def test_a_member_that_was_replaced_cannot_overwrite_its_successor(
        self, backend: Backend
    ) -> None:
        """Whoever names the incarnation that it has seen changes that one's entry, or none."""
        roster = backend.roster()
        member = {"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"}
        ended = {**member, "status": "shutdown"}
        assert roster.note(ended, held_by="a1") is False
        assert roster.members() == []
        assert roster.note(member) is True
        assert roster.beat("alice", "a1", "machine 7") is True
        assert roster.note({**member, "status": "working"}, held_by="a1") is True
        assert [roster.members()[0][key] for key in ("status", "where")] == ["working", "machine 7"]
        successor = {**member, "incarnation": "a2"}
        assert roster.note(successor) is True
        assert roster.note(ended, held_by="a1") is False
        local = {"name": "alice", "role": "coder", "status": "shutdown"}
        assert roster.note(local, held_by="a1") is False
        assert roster.note(local, held_by="") is False
        assert roster.members() == [successor]
        assert roster.note(local, held_by="a2") is True
        assert roster.note(successor, held_by="a2") is False
        assert roster.note({**local, "status": "idle"}, held_by="") is True
        assert roster.members() == [{**local, "status": "idle"}]

    def test_a_new_process_of_the_lead_ends_the_members_of_the_last(self, backend: Backend) -> None:
        """But not those that live in processes of their own."""
        roster = backend.roster()
        roster.note({"name": "alice", "role": "coder", "status": "working"})
        roster.note({"name": "bob", "role": "coder", "status": "idle", "incarnation": "b1"})
        with self._second(backend) as second:
            second.roster().begin()
        assert [one["status"] for one in roster.members()] == ["shutdown", "idle"]

    @contextmanager
    def _second(self, backend: Backend) -> Iterator[Backend]:
        """Another way to the same place, closed at the end."""
        second = self.again(backend)
        try:
            yield second
        finally:
            if second is not backend:
                second.close()


def _inboxes(backend: Backend) -> MailBackend:
    mail = backend.mail()
    for name in ("lead", "bob", "alice"):
        mail.open(name)
    return mail


def _board(backend: Backend, edges: str = "", count: int = 0) -> BoardBackend:
    """A board with edges as in ``1>2 2>3``: 1 blocks 2, 2 blocks 3."""
    board = backend.board()
    pairs = [tuple(map(int, pair.split(">"))) for pair in edges.split()]
    for number in range(max([count, *(max(pair) for pair in pairs)])):
        board.create(f"step {number + 1}")
    for blocker, blocked in pairs:
        board.update(blocked, add_blocked_by=[blocker])
    return board


def _ids(tasks: list[Task]) -> list[int]:
    return [task.id for task in tasks]


def _at_once(act: Callable[[int], Any]) -> list[Any]:
    """Call a function in threads that begin together; what they returned, or the first error."""
    gate = threading.Barrier(WORKERS)

    def begin(number: int) -> Any:
        gate.wait(60)
        return act(number)

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(begin, range(WORKERS)))


def _check(board: BoardBackend) -> None:
    """What holds for every board, at any time."""
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
