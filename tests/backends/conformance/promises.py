"""What a backend promises: a test for each promise of ``learnkit/backends/interface.py``.

Copy this folder to test a backend of your own, and open it in ``opened``. Its board is compared
with the board of files.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from conformance.boards import check, filled
from learnkit.backends.connect import open_backend
from learnkit.backends.files.board import TaskBoard
from learnkit.backends.interface import Backend, BoardBackend, InboxReader, MailBackend
from learnkit.backends.mail import MAX_CONTENT, Mail
from learnkit.backends.task import MAX_SUBJECT, Task
from learnkit.errors import ToolError, UsageError
from learnkit.runtime.clock import Clock
from learnkit.runtime.virtual_clock import VirtualClock

#: Texts that a model may write, and that not every store keeps.
TEXTS = ("Grüße 你好 🎈", "two\nlines\r\n\ttab", "'; DROP TABLE mail; --", '{"a": "\\u41"}', "%s ?")

#: Seconds of a lease that does not end during a test, and of one that is over soon.
LONG, SHORT = 3600.0, 0.05

#: Threads that try the same thing at the same time.
WORKERS = 8


def opened(url: str, clock: Clock | None = None) -> Backend:
    """Open the place that is tested, and make it if need be."""
    return open_backend(url, clock=clock, create=True)


class BackendTests:
    """Subclass it, with a fixture ``url``: the address of a place where nothing is stored yet."""

    @pytest.fixture
    def backend(self, url: str) -> Iterator[Backend]:
        self.url, self.clock = url, VirtualClock()
        with self.second() as backend:
            yield backend

    def second(self) -> closing[Backend]:
        """Another way to the same place, as a second process has it; it is closed at the end."""
        return closing(opened(self.url, self.clock))

    def let_pass(self, backend: Backend, seconds: float) -> None:
        """Let at least so many seconds pass on the backend's clock, and on that of the test."""
        self.clock.sleep(seconds)
        if backend.has_clock:
            time.sleep(seconds)

    # Mail

    @pytest.fixture
    def mail(self, backend: Backend) -> MailBackend:
        mail = backend.mail()
        for name in ("lead", "bob", "alice"):
            mail.open(name)
        return mail

    def test_a_message_comes_until_it_is_committed_and_never_twice(self, mail: MailBackend) -> None:
        """Random sending, taking and committing; readers that die come back, some with a memory."""
        chance = random.Random(11)
        reader, waiting, known, passed = mail.reader("alice"), list[Mail](), set[str](), 0
        for number in range(400):
            match chance.choice(["send", "send", "look", "take", "put back", "commit", "die"]):
                case "send":
                    waiting.append(mail.send("lead", "alice", str(number)))
                case "look":
                    assert reader.look() == [one for one in waiting if one.id not in known]
                case "commit":
                    reader.commit()
                    waiting, passed = waiting[passed:], 0
                case "die":
                    known = set(chance.sample(sorted(known), len(known) // 2))
                    reader, passed = mail.reader("alice", seen=known), 0
                case act:
                    if act == "put back":
                        back = {one.id for one in waiting[: passed // 2]}
                        reader.put_back(back)
                        known -= back
                    assert reader.take() == [one for one in waiting if one.id not in known]
                    known, passed = {one.id for one in waiting}, len(waiting)
            assert mail.unread("alice") == waiting
        with self.second() as second:
            assert second.mail().reader("alice").take() == waiting

    def test_what_was_put_back_comes_again(self, mail: MailBackend) -> None:
        """A message that did not reach the agent is taken a second time."""
        one, two, three = (mail.send("lead", "alice", text) for text in ("one", "two", "three"))
        reader = mail.reader("alice")
        assert reader.take() == [one, two, three]
        reader.put_back([two.id])
        reader.commit()
        assert reader.look() == reader.take() == [two]
        reader.commit()
        assert mail.reader("alice").take() == []

    def test_a_message_keeps_all_that_it_had(self, mail: MailBackend) -> None:
        """Texts, type, sender and further fields come back as they were."""
        for text in (*TEXTS, "x" * MAX_CONTENT):
            more = {"request_id": "r1", "deep": {"list": [1, None, True], "text": text[:100]}}
            sent = mail.send(
                "lead", "alice", text, "shutdown_request", at=datetime.now(UTC), **more
            )
            (found,) = mail.unread("alice")
            assert found == sent
            assert (found.content, found.more, found.sender, found.to, found.type) == (
                *(text, more, "lead", "alice", "shutdown_request"),
            )
            assert datetime.fromisoformat(found.timestamp).tzinfo is not None
            reader = mail.reader("alice")
            reader.take()
            reader.commit()

    def test_a_message_that_cannot_be_sent_says_why(self, mail: MailBackend) -> None:
        """Unknown and impossible names, empty and long texts are refused, and nothing is sent."""
        long = "x" * (MAX_CONTENT + 1)
        known = "no inbox for 'carol'; there are inboxes for: alice, bob"
        refused: list[tuple[Callable[[], object], str]] = [
            (lambda: mail.send("lead", "carol", "hello"), known),
            (lambda: mail.unread("carol"), known),
            (lambda: mail.reader("carol"), known),
            (lambda: mail.open("../alice"), "is not a valid name"),
            (lambda: mail.send("lead", "alice", " \n"), "is empty"),
            (lambda: mail.send("lead", "alice", long), "20,001 characters"),
            (lambda: mail.broadcast("lead", ""), "is empty"),
            (lambda: mail.broadcast("lead", long), "20,001 characters"),
        ]
        for act, problem in refused:
            with pytest.raises(ToolError, match=problem):
                act()
        assert mail.names == ["alice", "bob", "lead"]
        assert mail.unread("alice") == mail.unread("bob") == []

    def test_an_inbox_is_opened_once(self, mail: MailBackend) -> None:
        """Opening it again leaves it as it is, also when several do so at once."""
        mail.send("lead", "alice", "x")
        mail.open("alice")
        assert len(mail.unread("alice")) == 1
        at_once(lambda number: mail.open("a" * 40))
        assert mail.names == ["a" * 40, "alice", "bob", "lead"]

    def test_a_broadcast_reaches_everyone_but_its_sender(
        self, backend: Backend, mail: MailBackend
    ) -> None:
        """Each gets a message with an id of its own; a lone sender reaches no one."""
        sent = mail.broadcast("alice", "phase 1 is done")
        assert [(one.to, one.type) for one in sent] == [("bob", "broadcast"), ("lead", "broadcast")]
        assert len({one.id for one in sent}) == 2
        assert mail.unread("alice") == []
        assert [mail.unread("bob"), mail.unread("lead")] == [[sent[0]], [sent[1]]]
        alone = backend.mail("alone")
        alone.open("lead")
        assert alone.broadcast("lead", "hello?") == []

    def test_of_many_writers_no_message_is_lost_or_read_twice(self, mail: MailBackend) -> None:
        """A reader that reads while all of them write gets each message exactly once."""
        read, writing = list[str](), {*range(1, WORKERS)}

        def act(number: int) -> None:
            with self.second() as second:
                if number == 0:
                    collect(second.mail().reader("alice"))
                    return
                try:
                    for count in range(10):
                        second.mail().send(f"w{number}", "alice", f"{number}-{count}")
                    second.mail().broadcast(f"w{number}", f"{number}-all")
                finally:
                    writing.remove(number)

        def collect(reader: InboxReader) -> None:
            while writing or reader.look():
                read.extend(one.content for one in reader.take())
                reader.commit()

        at_once(act)
        sent = {n: [f"{n}-{what}" for what in (*range(10), "all")] for n in range(1, WORKERS)}
        assert sorted(read) == sorted(text for texts in sent.values() for text in texts)
        for number, texts in sent.items():  # what one writer has sent stays in its order
            assert [one for one in read if one.startswith(f"{number}-")] == texts
        assert mail.unread("alice") == []
        assert len(mail.unread("bob")) == len(sent)

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

    def test_numbers_are_never_given_twice(self, backend: Backend) -> None:
        """Neither to many who create at once, nor after a task was deleted."""
        board = backend.board()
        made = at_once(lambda number: [board.create(f"{number}-{n}").id for n in range(5)])
        ids = [id for some in made for id in some]
        assert sorted(ids) == list(range(1, 5 * WORKERS + 1))
        assert all(some == sorted(some) for some in made)
        assert board.update(max(ids), "deleted") is None
        with self.second() as second:
            assert second.board().create("new").id == 5 * WORKERS + 1
            assert second.address == backend.address

    def test_it_does_what_a_board_in_files_does(self, backend: Backend, tmp_path: Path) -> None:
        """Result by result, refusal by refusal, and news by news; when a lease ends is its own."""
        chance = random.Random(5)
        files, board = TaskBoard(tmp_path / "reference", self.clock.now), backend.board()
        for each in (files, board):
            each.open()
        for _ in range(200):
            call = _call(chance, [*(task.id for task in files.tasks()), 99])
            assert _outcome(board, *call) == _outcome(files, *call), call
            if call[1].get("lease") == SHORT:
                self.let_pass(backend, 2 * SHORT)
            for look in ("news", "ready", "tasks"):
                assert _outcome(board, look, {}) == _outcome(files, look, {}), call

    @pytest.mark.slow
    def test_processes_race_for_tasks_that_wait_for_others(self, backend: Backend) -> None:
        """Nothing is done twice, nothing before what it waits for, and all of it is done."""
        board = filled(backend.board(), " ".join(f"{n // 3}>{n}" for n in range(3, 31)))
        spawn = get_context("spawn")
        with ProcessPoolExecutor(4, spawn, _meet_at, (spawn.Barrier(4),)) as pool:
            shares = list(pool.map(_race, [self.url] * 4, "abcd"))
        assert sorted(id for share in shares for id in share) == list(range(1, 31))
        assert sum(map(bool, shares)) > 1  # else they have not raced
        check(board)

    def test_changes_at_the_same_time_keep_the_promise(self, backend: Backend) -> None:
        """Claims beside new dependencies, reopened and deleted tasks: none begins too early."""
        board = filled(backend.board(), count=12)

        def play(number: int) -> None:
            chance = random.Random(number)
            with self.second() as second:
                mine = second.board()
                for _ in range(25):
                    _outcome(mine, *_call(chance, [*range(1, 13)]))
                    check(mine)

        at_once(play)
        check(board)

    def test_a_board_says_what_is_new(self, backend: Backend) -> None:
        """No matter who has changed it; a renewed lease is not news."""
        board, mine = filled(backend.board(), "1>2"), backend.board()
        mine.open()
        before = board.tasks()
        with self.second() as second:
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

    # Leases

    def test_after_its_lease_a_task_can_be_claimed_by_another(self, backend: Backend) -> None:
        """And the late one is refused, and hears who has it now."""
        board = filled(backend.board(), count=1)
        late = board.claim(1, "alice", incarnation="a1", lease=SHORT)
        self.let_pass(backend, 2 * SHORT)
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
        board, holders = filled(backend.board(), count=3), ("alice a1", "alice a2", "bob a1")
        for id, (owner, run) in enumerate(map(str.split, holders), 1):
            board.claim(id, owner, incarnation=run, lease=SHORT)
        assert board.renew("alice", "a1", LONG) == [1]
        self.let_pass(backend, 2 * SHORT)
        assert [task.id for task in board.ready()] == [2, 3]
        assert board.renew("alice", "a2", LONG) == [2]  # late, but nobody else has claimed it
        assert [task.id for task in board.ready()] == [3]
        for lease in (0, -1.0, float("nan"), float("inf")):
            with pytest.raises(UsageError, match="give a number above 0"):
                board.renew("alice", "a1", lease)
            with pytest.raises(UsageError, match="give a number above 0"):
                board.claim(3, "alice", lease=lease)

    def test_who_ends_gives_back_what_this_run_holds(self, backend: Backend) -> None:
        """Its former self, and others, keep what is theirs; what it says afterwards is refused."""
        board = filled(backend.board(), count=3)
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
        board = filled(backend.board(), count=1)
        board.claim(1, "dead", incarnation="d1", lease=SHORT)
        self.let_pass(backend, 2 * SHORT)
        got = list[Task]()

        def grab(number: int) -> None:
            with self.second() as second, suppress(ToolError):
                got.append(second.board().claim(1, f"w{number}", incarnation="i", lease=LONG))

        at_once(grab)
        assert got == [board.get(1)]

    # Requests, members and teams

    def test_of_many_who_answer_at_once_one_is_heard(self, backend: Backend) -> None:
        """The others are refused; and of many who ask the same, too, one is."""
        requests, opened, heard = backend.requests(), list[str](), list[str]()

        def ask(number: int) -> None:
            with self.second() as second, suppress(ToolError):
                opened.append(second.requests().open("plan", "alice", "lead", TEXTS[0]).id)

        def answer(number: int) -> None:
            with self.second() as second, suppress(ToolError):
                second.requests().answer(opened[0], "lead", "approved", f"{TEXTS[1]} {number}")
                heard.append(f"{TEXTS[1]} {number}")

        at_once(ask)
        at_once(answer)
        assert [(one.id, one.content, one.note) for one in requests.all()] == [
            (*opened, TEXTS[0], *heard)
        ]

    def test_a_request_expires_at_its_deadline(self, backend: Backend) -> None:
        """On the backend's clock, and also if no one has looked at it since."""
        requests = backend.requests()
        stays = requests.open("shutdown", "lead", "bob", "please", within=LONG)
        asked = requests.open("shutdown", "lead", "alice", "please", within=SHORT)
        self.let_pass(backend, 2 * SHORT)
        assert [one.state for one in requests.all()] == ["pending", "expired"]
        with pytest.raises(ToolError, match="already expired"):
            requests.answer(asked.id, "alice", "approved")
        assert requests.get(stays.id) == stays

    def test_a_member_in_a_process_of_its_own_is_heard_of(self, backend: Backend) -> None:
        """On the backend's clock, until a later run takes the name over."""
        roster, times = backend.roster(), list[datetime]()
        member = {"name": "alice", "role": "coder", "status": "idle", "incarnation": "a1"}
        assert roster.note(member) is True
        for _ in range(2):
            assert roster.beat("alice", "a1", "machine 7") is True
            times.append(datetime.fromisoformat(roster.members()[0]["heard"]))
            self.let_pass(backend, SHORT)
        assert times[0] < times[1]
        with self.second() as second:
            second.roster().note({**member, "incarnation": "a2"})
        assert roster.beat("alice", "a1", "machine 7") is False

    def test_teams_know_nothing_of_each_other(self, backend: Backend) -> None:
        """Whatever happens in one team, another with the same names and numbers stays as it is."""
        begun = [_begun(backend, team) for team in ("one", "two")]
        without_times = [re.sub(r"20\d\d-[^']*", "", str(state)) for state in begun]
        assert without_times[0] == without_times[1]
        mail, board = backend.mail("two"), backend.board("two")
        requests, roster = backend.requests("two"), backend.roster("two")
        reader = mail.reader("alice")
        reader.take()
        reader.commit()
        mail.broadcast("lead", "hello")
        board.update(1, "completed", by="alice")
        board.claim(2, "alice", incarnation="a1", lease=LONG)
        assert board.renew("alice", "a1", 2 * LONG) == [2]
        assert [task.id for task in board.release("alice", "a1")] == [2]
        board.update(3, remove_blocked_by=[2], add_blocked_by=[1])
        board.update(2, "deleted")
        (asked,) = requests.all()
        requests.answer(asked.id, "lead", "approved")
        requests.require_plan(False)
        roster.begin()
        assert _state(backend, "one") == begun[0]
        assert _state(backend, "two") != begun[1]


def at_once(act: Callable[[int], Any]) -> list[Any]:
    """What a function returns in threads that begin together; it gets their numbers, from 0."""
    start = threading.Barrier(WORKERS)

    def run(number: int) -> Any:
        start.wait()
        return act(number)

    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(run, range(WORKERS)))


_GATES = list[Any]()


def _meet_at(gate: Any) -> None:
    _GATES.append(gate)


def _race(url: str, name: str) -> list[int]:
    """Claim and complete what is ready until all is done; the ids of what was had."""
    had = list[int]()
    with closing(opened(url)) as backend:
        board = backend.board()
        _GATES[-1].wait(60)  # they begin together
        while any(task.status != "completed" for task in board.tasks()):
            for task in board.ready():
                with suppress(ToolError):  # another was faster
                    had.append(board.claim(task.id, name).id)
                    blockers = map(board.get, task.blocked_by)
                    assert all(blocker.status == "completed" for blocker in blockers)
                    board.update(task.id, "completed", by=name)
    return had


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


def _begun(backend: Backend, team: str) -> dict[str, Any]:
    """Give a team some of everything, and return what it has then."""
    mail, board, requests = backend.mail(team), backend.board(team), backend.requests(team)
    for name in ("alice", "lead"):
        mail.open(name)
    mail.send("lead", "alice", "hello")
    for subject in ("a task", "another", "a third"):
        board.create(subject)
    board.update(2, add_blocked_by=[1], add_blocks=[3])
    board.claim(1, "alice", incarnation="a1", lease=LONG)
    requests.open("plan", "alice", "lead", "a plan")
    requests.require_plan(True)
    backend.roster(team).note({"name": "bob", "role": "coder", "status": "idle"})
    return _state(backend, team)


def _state(backend: Backend, team: str) -> dict[str, Any]:
    """What a team has, apart from numbers that teams may share."""
    mail, board, requests = backend.mail(team), backend.board(team), backend.requests(team)
    return {
        "mail": [(name, [one.content for one in mail.unread(name)]) for name in mail.names],
        "tasks": [task.to_json() for task in board.tasks()],
        "ready": [task.id for task in board.ready()],
        "requests": [replace(one, id="") for one in requests.all()],
        "plan required": requests.requires_plan(),
        "members": backend.roster(team).members(),
    }
