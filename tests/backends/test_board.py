"""The board: against a simple model, by real processes, and killed at every step."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dying
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from profiles import examples
from steps import steps

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.store import Document, write_together
from learnkit.backends.files.task_folder import Folder
from learnkit.backends.rules import NEXT
from learnkit.backends.task import MAX_DESCRIPTION, MAX_SUBJECT, Task
from learnkit.core.readiness import is_ready
from learnkit.errors import ToolError, UsageError

WORKER = Path(__file__).parents[1] / "support" / "board_worker.py"
STATUSES = [*NEXT, "deleted"]


def worker(*arguments: object) -> subprocess.Popen[str]:
    line = [sys.executable, str(WORKER), *map(str, arguments)]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def board_of(folder: Path, edges: str = "", count: int = 0) -> TaskBoard:
    """A board with edges as in ``1>2 2>3``: 1 blocks 2, 2 blocks 3."""
    board = TaskBoard(folder)
    pairs = [tuple(map(int, pair.split(">"))) for pair in edges.split()]
    for number in range(max([count, *(max(pair) for pair in pairs)])):
        board.create(f"step {number + 1}")
    for blocker, blocked in pairs:
        board.update(blocked, add_blocked_by=[blocker])
    return board


def statuses(board: TaskBoard) -> dict[int, str]:
    return {task.id: task.status for task in board.tasks()}


def check(board: TaskBoard) -> None:
    """What holds for every board, at any time."""
    tasks = {task.id: task for task in board.tasks()}
    assert list(tasks) == sorted(tasks)
    for task in tasks.values():
        assert all(task.id in tasks[id].blocks for id in task.blocked_by)
        assert all(task.id in tasks[id].blocked_by for id in task.blocks)
        assert task.id not in task.blocked_by
        if task.status in ("in_progress", "completed"):
            assert all(tasks[id].status == "completed" for id in task.blocked_by)
        if task.status == "pending":
            assert task.owner == ""
    done: set[int] = set()
    while ready := [t.id for t in tasks.values() if t.id not in done and {*t.blocked_by} <= done]:
        done |= {*ready}
    assert done == {*tasks}, "there is a circle"


# A model of it


class AgainstAModel(RuleBasedStateMachine):
    """Random changes, those that must be refused among them; the model is a dict and a set."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.board = TaskBoard(self.folder / ".tasks")
        self.status: dict[int, str] = {}
        self.edges: set[tuple[int, int]] = set()
        self.created = 0

    @initialize(count=st.integers(0, 4))
    def some(self, count: int) -> None:
        for _ in range(count):
            self.create()

    @rule()
    def create(self) -> None:
        self.created += 1
        assert self.board.create(f"task {self.created}").id == self.created  # never used again
        self.status[self.created] = "pending"

    @rule(data=st.data(), status=st.sampled_from(STATUSES))
    def move(self, data: st.DataObject, status: str) -> None:
        id = data.draw(st.integers(1, self.created + 1))
        self.expect(self.may(id, status), lambda: self.board.update(id, status))  # type: ignore[arg-type]
        if self.may(id, status):
            self.carry_out(id, status)

    @rule(data=st.data())
    def connect(self, data: st.DataObject) -> None:
        one = data.draw(st.integers(1, self.created + 1))
        other = data.draw(st.integers(1, self.created + 1))
        backwards = data.draw(st.booleans())
        known = one in self.status and other in self.status
        late = known and self.begun(other) and self.status[one] != "completed"
        new = (one, other) not in self.edges
        fine = known and not (new and (one == other or self.reaches(other, one) or late))
        if backwards:
            self.expect(fine, lambda: self.board.update(one, add_blocks=[other]))
        else:
            self.expect(fine, lambda: self.board.update(other, add_blocked_by=[one]))
        if fine:
            self.edges.add((one, other))

    @precondition(lambda self: self.edges)
    @rule(data=st.data())
    def disconnect(self, data: st.DataObject) -> None:
        one, other = data.draw(st.sampled_from(sorted(self.edges)))
        self.board.update(other, remove_blocked_by=[one])
        self.edges.remove((one, other))

    @rule(data=st.data())
    def claim(self, data: st.DataObject) -> None:
        id = data.draw(st.integers(1, self.created + 1))
        fine = self.status.get(id) == "pending" and not self.waits(id)
        self.expect(fine, lambda: self.board.claim(id, "alice"))
        if fine:
            self.status[id] = "in_progress"

    @rule()
    def restart(self) -> None:
        before = self.board.tasks()
        self.board = TaskBoard(self.folder / ".tasks")
        assert self.board.tasks() == before

    @invariant()
    def they_agree(self) -> None:
        tasks = self.board.tasks()
        assert {task.id: task.status for task in tasks} == self.status
        assert {(b, task.id) for task in tasks for b in task.blocked_by} == self.edges
        ready = [i for i, s in sorted(self.status.items()) if s == "pending" and not self.waits(i)]
        assert [task.id for task in self.board.ready()] == ready
        check(self.board)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def expect(self, fine: bool, act: Any) -> None:
        if fine:
            act()
            return
        before = self.board.tasks()
        with pytest.raises(ToolError):
            act()
        assert self.board.tasks() == before

    def begun(self, id: int) -> bool:
        return self.status[id] in ("in_progress", "completed")

    def waits(self, id: int) -> bool:
        return any(self.status[one] != "completed" for one, other in self.edges if other == id)

    def reaches(self, start: int, goal: int) -> bool:
        return start == goal or any(
            self.reaches(after, goal) for before, after in self.edges if before == start
        )

    def may(self, id: int, status: str) -> bool:
        if id not in self.status:
            return False
        now = self.status[id]
        if status in ("deleted", now):
            return True
        if status in ("in_progress", "completed") and self.waits(id):
            return False
        after = [other for one, other in self.edges if one == id]
        if now == "completed":
            return status == "pending" and not any(self.begun(other) for other in after)
        return now in ("pending", "in_progress") or status in ("pending", "in_progress")

    def carry_out(self, id: int, status: str) -> None:
        if status == "deleted":
            del self.status[id]
            self.edges = {edge for edge in self.edges if id not in edge}
        else:
            self.status[id] = status


TestAgainstAModel = AgainstAModel.TestCase
TestAgainstAModel.settings = settings(max_examples=examples(40), stateful_step_count=25)


# Dependencies


def test_what_waits_for_itself_or_in_a_circle_or_for_nobody_is_refused(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>2 2>3")
    for change, problem in (
        ({"add_blocked_by": [1]}, "task 1 cannot wait for itself"),
        ({"add_blocked_by": [3]}, "a cycle, #1 → #2 → #3 → #1"),
        ({"add_blocked_by": [9]}, "there is no task 9; the board has: 1, 2, 3"),
        ({"add_blocks": [9]}, "there is no task 9"),
        ({"remove_blocked_by": [3]}, "task 1 does not wait for 3; it waits for nothing"),
    ):
        with pytest.raises(ToolError, match=problem):
            board.update(1, **change)  # type: ignore[arg-type]
    check(board)


def test_an_update_is_whole_or_nothing(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>2", count=4)
    before = board.tasks()
    with pytest.raises(ToolError, match="cycle"):
        board.update(1, "completed", add_blocks=[3, 4], add_blocked_by=[2])
    assert board.tasks() == before
    board.update(1, "completed", add_blocks=[3, 4], result_summary="parsed")
    assert board.get(1).blocks == (2, 3, 4)
    assert board.get(1).result_summary == "parsed"


def test_completing_frees_what_waited_and_only_that(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>2 1>3 2>4 3>4")
    ids = []
    for id in (1, 2, 3, 4):
        ids.append([task.id for task in board.ready()])
        board.update(id, "completed")
    assert ids == [[1], [2, 3], [3], [4]]


def test_a_blocked_task_cannot_begin(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>3 2>3")
    for act in (
        lambda: board.update(3, "in_progress"),
        lambda: board.update(3, "completed"),
        lambda: board.claim(3, "alice"),
    ):
        with pytest.raises(ToolError, match="task 3 is blocked by 1, 2; complete them first"):
            act()
    board.update(1, "failed")
    with pytest.raises(ToolError, match="blocked by 1, 2"):
        board.update(3, "in_progress")


def test_what_others_have_built_on_is_not_opened_again(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>2")
    board.update(1, "completed")
    board.update(2, "in_progress")
    with pytest.raises(ToolError, match="task 1 cannot be reopened: 2 already built on it"):
        board.update(1, "pending")
    with pytest.raises(ToolError, match="task 2 is in_progress; it can no longer wait for 3"):
        board.update(board.create("late").id, add_blocks=[2])


def test_a_deleted_task_frees_its_dependants_and_its_number_is_not_used_again(
    tmp_path: Path,
) -> None:
    board = board_of(tmp_path, "1>2 2>3")
    assert board.update(2, "deleted") is None
    assert [task.id for task in board.ready()] == [1, 3]
    board.update(3, "deleted")
    assert TaskBoard(tmp_path).create("new").id == 4


def test_a_task_in_somebody_s_hands(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=1)
    board.update(1, "in_progress", owner="alice")
    with pytest.raises(ToolError, match="task 1 is in progress and owned by alice"):
        board.update(1, "in_progress", owner="bob")
    with pytest.raises(ToolError, match="task 1 is in_progress by alice; claim one that is ready"):
        board.claim(1, "bob")
    board.update(1, "in_progress", owner="alice")  # she says it again, after a restart
    board.update(1, "pending")
    assert board.claim(1, "bob").owner == "bob"
    board.update(1, "completed")
    assert board.get(1).owner == "bob"
    with pytest.raises(ToolError, match="the owner is empty"):
        board.claim(1, "")


@pytest.mark.parametrize(
    ("steps", "by", "present"),
    [
        ([("pending", ""), ("in_progress", "bob")], "alice", "bob has it now. Stop working on it."),
        (
            [("pending", ""), ("in_progress", "alice")],
            *("alice", "another run of alice has it now. Stop working on it."),
        ),
        (
            [("pending", ""), ("in_progress", "")],
            *("alice", "another worker has it now. Stop working on it."),
        ),
        (
            [("pending", ""), ("in_progress", "")],
            *("", "another worker has it now. Stop working on it."),
        ),
        (
            [("pending", "")],
            "alice",
            "it was given back, and nobody has it now. Claim it again before you go on.",
        ),
        (
            [("pending", ""), ("in_progress", "bob"), ("failed", "")],
            "alice",
            "it is failed by bob.",
        ),
        ([("pending", ""), ("completed", "")], "alice", "it is completed."),
    ],
)
def test_a_late_worker_hears_what_has_become_of_its_task(
    tmp_path: Path, steps: list[tuple[Any, str]], by: str, present: str
) -> None:
    board = board_of(tmp_path, count=1)
    late = board.claim(1, "alice", incarnation="a1")
    for status, owner in steps:
        board.update(1, status, owner=owner)
    before = board.get(1)
    with pytest.raises(ToolError) as caught:
        board.update(1, "completed", by=by, token=late.token)
    assert str(caught.value) == f"task 1 is not yours any more: {present}"
    assert board.get(1) == before


def test_who_may_change_a_task_in_progress(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=2)
    board.update(1, "in_progress", owner="alice")
    for by in ("bob", "alice2", "alic"):
        with pytest.raises(ToolError) as caught:
            board.update(1, "completed", by=by)
        assert str(caught.value) == (
            "task 1 is in progress and owned by alice; only alice or the team's lead may set it to "
            "completed"
        )
    assert board.update(1, by="bob", result_summary="half of it") == board.get(1)
    board.update(2, "in_progress")
    assert board.update(2, "failed", by="bob") == board.get(2)  # it is nobody's
    for by in ("alice.t1", "alice"):
        board.update(1, "pending", by=by)
        board.update(1, "in_progress", owner="alice", by="bob")
    board.update(1, "completed", by="alice")
    assert board.update(1, "pending", by="bob") == board.get(1)  # nobody has it in progress


def test_news_is_what_has_happened_and_not_that_a_lease_goes_on(tmp_path: Path) -> None:
    board, other = TaskBoard(tmp_path), TaskBoard(tmp_path)
    other.create("a")
    task = other.claim(1, "alice", incarnation="a1", lease=60)
    assert board.news() == [(None, task)]
    assert other.renew("alice", "a1", 9_000) == [1]
    assert board.news() == []
    before = board.get(1)
    assert before.lease_until > task.lease_until
    done = other.update(1, "completed")
    assert board.news() == [(before, done)]


def test_a_clock_that_is_set_back_and_put_right_costs_no_lease(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    alice, bob = (TaskBoard(tmp_path, lambda: now) for _ in range(2))
    alice.create("a")
    alice.claim(1, "alice", incarnation="a1", lease=60)
    now -= timedelta(hours=1)
    assert alice.renew("alice", "a1", 60) == [1]
    now += timedelta(hours=1, seconds=59)
    assert bob.ready() == []  # though the clock was put right just now
    now += timedelta(seconds=2)
    assert bob.ready() == [bob.get(1)]


def test_an_update_returns_the_task_as_it_is_now(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>2")
    assert board.update(1, "completed", result_summary="parsed") == board.get(1)
    assert board.update(2, "in_progress", owner="alice", worktree="wt/two") == board.get(2)
    assert board.get(2).worktree == "wt/two"
    assert board.update(2, worktree="") == board.get(2)
    assert (board.get(2).worktree, board.get(2).owner) == ("", "alice")
    deleted = board.update(2, "deleted", result_summary="x", worktree="y")
    assert deleted is None
    assert [task.id for task in board.tasks()] == [1]


@pytest.mark.parametrize(
    ("before", "status", "owner", "after"),
    [
        ("in_progress", "in_progress", "", ("in_progress", "alice")),  # nobody else takes it
        ("in_progress", "completed", "bob", ("completed", "alice")),
        ("in_progress", "failed", "", ("failed", "alice")),
        ("in_progress", "pending", "", ("pending", "")),
        ("failed", "in_progress", "bob", ("in_progress", "bob")),  # failed: in nobody's hands
        ("failed", "pending", "", ("pending", "")),
        ("completed", "completed", "", ("completed", "alice")),
        ("completed", "pending", "", ("pending", "")),
    ],
)
def test_who_has_a_task_after_a_change(
    tmp_path: Path, before: Any, status: Any, owner: str, after: tuple[str, str]
) -> None:
    board = board_of(tmp_path, count=1)
    board.update(1, "in_progress", owner="alice")
    board.update(1, before)
    task = board.update(1, status, owner=owner)
    assert task is not None
    assert (task.status, task.owner) == after


@pytest.mark.parametrize(
    ("before", "status", "problem"),
    [
        ("failed", "completed", "task 1 is failed; it can only become: pending, in_progress"),
        ("completed", "in_progress", "task 1 is completed; it can only become: pending"),
        ("completed", "failed", "task 1 is completed; it can only become: pending"),
    ],
)
def test_a_status_that_cannot_follow(
    tmp_path: Path, before: Any, status: Any, problem: str
) -> None:
    board = board_of(tmp_path, count=1)
    board.update(1, before)
    with pytest.raises(ToolError, match=problem):
        board.update(1, status)


def test_of_many_tasks_the_first_are_named(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=20)
    twenty = ", ".join(map(str, range(1, 21)))
    with pytest.raises(ToolError, match=f"there is no task 99; the board has: {twenty}$"):
        board.get(99)
    board.create("more")
    with pytest.raises(ToolError, match=f"the board has: {twenty}, …$"):
        board.update(99)
    with pytest.raises(ToolError, match=r"the board has: none$"):
        TaskBoard(tmp_path / "none").get(1)


def test_what_does_not_wait_says_what_it_waits_for(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>3 2>3", count=4)
    with pytest.raises(ToolError, match=r"task 3 does not wait for 4; it waits for 1, 2$"):
        board.update(3, remove_blocked_by=[4])
    board.update(3, remove_blocked_by=[1])
    assert (board.get(1).blocks, board.get(3).blocked_by) == ((), (2,))
    board.update(3, add_blocked_by=[2])  # it does already: nothing changes
    assert (board.get(2).blocks, board.get(3).blocked_by) == ((3,), (2,))


def test_a_task_that_has_begun_may_wait_for_what_is_completed(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=3)
    board.update(1, "completed")
    board.update(2, "in_progress")
    board.update(2, add_blocked_by=[1])
    assert board.get(2).blocked_by == (1,)
    board.update(1, add_blocks=[3])
    assert [task.id for task in board.ready()] == [3]


# What a task may be


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("  \n",), "the subject is empty"),
        (("x" * (MAX_SUBJECT + 1),), "the subject has 201 characters; at most 200"),
        (("a", "x" * (MAX_DESCRIPTION + 1)), "the description has 10,001 characters"),
    ],
)
def test_texts_have_limits(tmp_path: Path, arguments: tuple[str, ...], problem: str) -> None:
    board = TaskBoard(tmp_path)
    with pytest.raises(ToolError, match=problem):
        board.create(*arguments)
    with pytest.raises(ToolError, match="a tag is empty"):
        board.create("a", tags=["x", " "])
    assert board.tasks() == []
    assert board.create("two\nlines", tags=["b", "a  c", "b"]).subject == "two lines"
    assert board.get(1).tags == ("b", "a c")
    with pytest.raises(ToolError, match="result_summary is too long"):
        board.update(1, result_summary="x" * (MAX_DESCRIPTION + 1))
    board.update(1, result_summary="x" * MAX_DESCRIPTION)
    long = board.create("x" * MAX_SUBJECT, "x" * MAX_DESCRIPTION)
    assert (len(long.subject), len(board.get(long.id).description)) == (MAX_SUBJECT, 10_000)


def test_the_files_are_what_everybody_expects(tmp_path: Path) -> None:
    board = board_of(tmp_path / ".tasks", "1>2")
    board.update(1, "in_progress", owner="größe")
    text = (tmp_path / ".tasks" / "task_1.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "id": 1,
        "subject": "step 1",
        "description": "",
        "status": "in_progress",
        "blockedBy": [],
        "blocks": [2],
        "owner": "größe",
        "tags": [],
    }
    assert "größe" in text


def test_a_task_has_everything_in_its_file() -> None:
    task = Task(
        *(7, "parse", "all of it", "failed", (1, 3), (9,), "alice", ("coder", "night")),
        *("no luck", "wt/parse", 4, "a1", "2026-01-01T00:00:00+00:00"),
        more={"priority": 2},
    )
    assert task.file == "task_7.json"
    assert task.to_json() == {
        "id": 7,
        "subject": "parse",
        "description": "all of it",
        "status": "failed",
        "blockedBy": [1, 3],
        "blocks": [9],
        "owner": "alice",
        "tags": ["coder", "night"],
        "result_summary": "no luck",
        "worktree": "wt/parse",
        "token": 4,
        "incarnation": "a1",
        "lease_until": "2026-01-01T00:00:00+00:00",
        "priority": 2,
    }
    assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task
    assert Task.from_json({"id": 1, "subject": "a"}) == Task(1, "a")
    marks = [Task(1, "a", status=status).mark for status in NEXT]
    assert dict(zip(NEXT, marks, strict=True)) == {
        **{"pending": "[ ]", "in_progress": "[>]", "failed": "[!]", "completed": "[x]"}
    }


def test_what_else_stands_in_a_file_is_kept(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=1)
    path = tmp_path / "task_1.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "worktree": "wt/parse"}))
    board.update(1, "in_progress", owner="alice")
    assert json.loads(path.read_text())["worktree"] == "wt/parse"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{oops", "is not JSON"),
        ("[]", "it holds no object"),
        ('{"id": 1}', "no id, or no subject"),
        ('{"id": 2, "subject": "a"}', "its id is 2"),
        ('{"id": true, "subject": "a"}', "no id"),
        ('{"id": 1, "subject": "a", "status": "done"}', "status is 'done'"),
        ('{"id": 1, "subject": "a", "blockedBy": "3"}', "blockedBy is '3'"),
        ('{"id": 1, "subject": "a", "blocks": [true]}', r"blocks is \[True\]"),
        ('{"id": 1, "subject": 5}', "subject is 5"),
        ('{"id": 1, "subject": ""}', "no id, or no subject"),
        ('{"id": "1", "subject": "a"}', "id is '1'"),
        ('{"id": 1, "subject": "a", "tags": [1]}', r"tags is \[1\]"),
        ('{"id": 1, "subject": "a", "token": true}', "token is True"),
        ('{"id": 1, "subject": "a", "lease_until": "soon"}', "lease_until is 'soon'"),
        ('{"id": 1, "subject": "a", "lease_until": "2026-01-01T00:00:00"}', "lease_until is"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path, text: str, problem: str) -> None:
    board = board_of(tmp_path, count=2)
    (tmp_path / "task_1.json").write_text(text)
    with pytest.raises(UsageError, match=rf"task_1\.json .*{problem}"):
        board.tasks()
    with pytest.raises(UsageError, match=problem):
        TaskBoard(tmp_path)
    assert (tmp_path / "task_1.json").read_text() == text


def test_other_files_are_no_tasks(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=1)
    for name in ("task_01.json", "task_0.json", "task_x.json", "notes.json", "task_2.json.bak"):
        (tmp_path / name).write_text("{oops")
    assert [task.id for task in TaskBoard(tmp_path).tasks()] == [1]
    (tmp_path / "board.json").write_text('"nonsense"')
    assert board.create("next").id == 2


@pytest.mark.parametrize(
    ("counter", "numbers"),
    [
        *((stored, [4, 5]) for stored in (-7, 0, 1, 2, 3, 4, True, 2.5, "9", 10**9, None)),
        (5, [5, 6]),
        (10**9 - 1, [10**9 - 1]),
    ],
)
def test_a_new_task_gets_a_number_that_no_file_has(
    tmp_path: Path, counter: Any, numbers: list[int]
) -> None:
    """The counter may be damaged, or behind."""
    board = board_of(tmp_path, count=3)
    before = board.tasks()
    (tmp_path / "board.json").write_text(json.dumps({"next_id": counter}))
    assert [board.create("more").id for _ in numbers] == numbers
    assert board.tasks()[:3] == before
    counted = {"next_id": numbers[-1] + 1, "version": 1}
    assert json.loads((tmp_path / "board.json").read_text()) == counted


def test_a_board_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    board_of(tmp_path, count=1)
    path = tmp_path / "board.json"
    path.write_text('{"next_id": 2, "version": 2}')
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(
        UsageError, match=r"board\.json was written by a newer learnkit: it has ver"
    ):
        TaskBoard(tmp_path)
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


def test_a_file_edited_by_hand_is_seen_at_once(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=2)
    path = tmp_path / "task_2.json"
    path.write_text(path.read_text().replace("step 2", "step B"))
    assert board.get(2).subject == "step B"
    path.unlink()
    assert [task.id for task in board.tasks()] == [1]


def test_both_directions_are_mended_at_the_start(tmp_path: Path) -> None:
    board_of(tmp_path, "1>2", count=3)
    for id, field, value in ((1, "blocks", [3]), (2, "blockedBy", [1, 9])):
        path = tmp_path / f"task_{id}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    board = TaskBoard(tmp_path)
    check(board)
    assert board.get(1).blocks == (2,)
    assert board.get(2).blocked_by == (1,)


def test_only_the_files_that_are_asked_for_are_read(tmp_path: Path) -> None:
    board_of(tmp_path, count=3)
    (tmp_path / "task_2.json").write_text("{oops")
    folder = Folder(tmp_path)
    assert list(folder.tasks([3, 1, 9])) == [1, 3]
    with pytest.raises(UsageError, match="is not JSON"):
        folder.tasks()
    first = folder.tasks([1])[1]
    assert folder.tasks([1])[1] is first  # and once


def test_opening_a_board_writes_only_what_has_to_be_mended(tmp_path: Path) -> None:
    board_of(tmp_path, "1>2", count=3)

    def versions() -> dict[str, tuple[int, int]]:
        stats = {path.name: path.stat() for path in tmp_path.glob("task_*.json")}
        return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}

    before = versions()
    TaskBoard(tmp_path)
    assert versions() == before
    path = tmp_path / "task_3.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "blockedBy": [1]}))
    edited = versions()
    TaskBoard(tmp_path)
    assert {name for name, one in versions().items() if one != edited[name]} == {"task_1.json"}


def test_a_file_that_has_not_changed_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of(tmp_path, count=3)
    read: list[str] = []
    reads = Document.read

    def noted(self: Document, default: Any = None) -> Any:
        read.append(self.path.name)
        return reads(self, default)

    monkeypatch.setattr(Document, "read", noted)
    folder = Folder(tmp_path)
    assert len(folder.tasks()) == len(folder.tasks()) == 3
    board.update(2, status="in_progress")
    read.clear()
    assert folder.tasks()[2].status == "in_progress"
    assert read == ["task_2.json"]


@pytest.mark.slow
def test_opening_a_board_takes_a_time_in_proportion_to_its_tasks(tmp_path: Path) -> None:
    def work(count: int) -> int:
        folder = tmp_path / str(count)
        tasks = [
            Task(id, f"step {id}", blocked_by=(1,) if id > 1 else (), blocks=())
            for id in range(1, count + 1)
        ]
        write_together(folder, {task.file: task.to_json() for task in tasks})  # 1 must be mended
        return steps(lambda: TaskBoard(folder))

    work(10)
    assert work(400) < 2.2 * work(200)
    assert TaskBoard(tmp_path / "400").get(1).blocks == tuple(range(2, 401))


def test_a_task_whose_neighbour_was_removed_by_hand_can_be_deleted(tmp_path: Path) -> None:
    board = board_of(tmp_path, "1>2 2>3", count=3)
    for id in (1, 3):
        (tmp_path / f"task_{id}.json").unlink()
    assert board.update(2, "deleted") is None
    assert board.tasks() == []


def test_ten_comes_after_nine(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=11)
    assert [task.id for task in board.tasks()] == list(range(1, 12))


def test_reading_a_board_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    board = TaskBoard(tmp_path / "deep" / ".tasks")
    assert board.tasks() == []
    assert board.news() == []
    for act in (lambda: board.get(1), lambda: board.update(1), lambda: board.claim(1, "a")):
        with pytest.raises(ToolError, match="there is no task 1; the board has: none"):
            act()
    assert board.ready() == board.release("a", "1") == []
    assert board.renew("a", "1", 60) == []
    board.open()
    assert list(tmp_path.iterdir()) == []
    TaskBoard(board.folder).create("made elsewhere")
    assert [new and new.id for _, new in board.news()] == [1]


def test_news_tells_every_change_once_whoever_made_it(tmp_path: Path) -> None:
    board, other = TaskBoard(tmp_path), TaskBoard(tmp_path)
    other.create("a")
    board.create("b")
    assert [(old, new and new.id) for old, new in board.news()] == [(None, 1), (None, 2)]
    assert board.news() == []
    other.update(1, "completed")
    other.update(2, "deleted")
    (old, new), (gone, nothing) = board.news()
    assert (old and old.status, new and new.status) == ("pending", "completed")
    assert (gone and gone.id, nothing) == (2, None)


# Many processes


@pytest.mark.slow
def test_numbers_never_collide_between_processes(tmp_path: Path) -> None:
    workers = [worker("create", tmp_path, f"w{number}", 15) for number in range(4)]
    for one in workers:
        one.communicate(timeout=60)
        assert one.returncode == 0
    board = TaskBoard(tmp_path)
    assert [task.id for task in board.tasks()] == list(range(1, 61))
    names = sorted(task.subject for task in board.tasks())
    assert names == sorted(f"w{w} {n}" for w in range(4) for n in range(15))
    check(board)


@pytest.mark.slow
def test_sixty_tasks_and_four_processes_each_is_claimed_once(tmp_path: Path) -> None:
    board = board_of(tmp_path, count=60)
    chance = random.Random(5)
    for id in range(2, 61):
        for blocker in chance.sample(range(1, id), k=min(id - 1, chance.randrange(3))):
            board.update(id, add_blocked_by=[blocker])
    workers = [worker("claim", tmp_path, f"w{number}") for number in range(4)]
    for one in workers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in workers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    shares = []
    for one in workers:
        output, _ = one.communicate(timeout=60)
        assert one.returncode == 0
        shares.append(list(map(int, output.split())))
    assert sorted(id for share in shares for id in share) == list(range(1, 61))
    assert sum(map(bool, shares)) > 1  # else they have not raced
    assert set(statuses(board).values()) == {"completed"}
    check(board)


def test_of_many_threads_one_gets_the_task(tmp_path: Path) -> None:
    board, got = board_of(tmp_path, count=5), []

    def grab(name: str) -> None:
        for id in range(1, 6):
            with contextlib.suppress(ToolError):
                got.append((board.claim(id, name).id, name))

    threads = [threading.Thread(target=grab, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(id for id, _ in got) == [1, 2, 3, 4, 5]
    assert {(task.id, task.owner) for task in board.tasks()} == set(got)


# Killed at every step


def after_death(folder: Path, change: Any, old: Any, new: Any) -> set[str]:
    """Kill a change of a board at each of its steps; which of the two states was met."""
    pristine = folder.parent / "pristine"
    shutil.copytree(folder, pristine)
    met = set()

    def act() -> None:
        change(TaskBoard(folder))

    for step in dying.at_every_step(act):
        board = TaskBoard(folder)
        check(board)
        state = [task.to_json() for task in board.tasks()]
        assert state in (old, new), f"killed at step {step}"
        met.add("new" if state == new else "old")
        assert not list(folder.glob(".*.part"))
        shutil.rmtree(folder)
        shutil.copytree(pristine, folder)
    return met


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            lambda board: board.create("new", "with a description", tags=["a"]),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda board: board.update(4, add_blocked_by=[1], add_blocks=[5, 6]),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda board: board.update(1, "completed", result_summary="done"),
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda board: board.update(2, "deleted"), marks=pytest.mark.slow),
        lambda board: board.claim(1, "alice"),
    ],
    ids=["create", "connect", "complete", "delete", "claim"],
)
def test_killed_anywhere_a_board_is_as_before_or_as_after(tmp_path: Path, change: Any) -> None:
    folder = tmp_path / ".tasks"
    old = [task.to_json() for task in board_of(folder, "1>2 2>3", count=6).tasks()]
    shutil.copytree(folder, tmp_path / "copy")
    copy = TaskBoard(tmp_path / "copy")
    change(copy)
    new = [task.to_json() for task in copy.tasks()]
    assert new != old
    assert after_death(folder, change, old, new) == {"old", "new"}


def test_readiness_is_of_pending_tasks_that_are_nobody_s() -> None:
    free, taken = Task(1, "a"), Task(2, "b", owner="alice")
    done, waits = Task(3, "c", status="completed"), Task(4, "d", blocked_by=(1,))
    after = Task(5, "e", blocked_by=(3,))
    tasks = {task.id: task for task in (free, taken, done, waits, after)}
    assert [task.id for task in tasks.values() if is_ready(task, tasks)] == [1, 5]
