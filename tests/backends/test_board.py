"""The board: against a simple model, what it refuses, and what its files may hold."""

from __future__ import annotations

import json
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conformance.boards import check, filled
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from profiles import examples

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.rules import NEXT
from learnkit.errors import ToolError, UsageError

STATUSES = [*NEXT, "deleted"]


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


# What the promises in ``conformance`` leave out


@pytest.mark.parametrize(
    ("refused", "problem"),
    [
        (lambda board: board.claim(3, "alice"), "task 3 is blocked by 1, 2; complete them first"),
        (lambda board: board.claim(3, ""), "the owner is empty"),
        (
            lambda board: board.update(3, remove_blocked_by=[4]),
            "not wait for 4; it waits for 1, 2$",
        ),
        (lambda board: board.update(1, add_blocked_by=[1]), "task 1 cannot wait for itself"),
        (lambda board: board.update(1, add_blocked_by=[5]), "a cycle, #1 → #3 → #5 → #1"),
        (
            lambda board: board.update(6, add_blocks=[1], add_blocked_by=[5]),
            "a cycle, #1 → #3 → #5 → #6 → #1",
        ),
        (lambda board: board.update(4, "completed"), "it can only become: pending, in_progress$"),
        (lambda board: board.update(7, "pending"), "cannot be reopened: 8 already built on it"),
        (lambda board: board.get(99), f"the board has: {', '.join(map(str, range(1, 21)))}$"),
        (lambda board: board.create("a", tags=["x", " "]), "a tag is empty"),
        (lambda board: board.create("a", "x" * 10_001), "the description has 10,001"),
        (lambda board: board.update(1, result_summary="x" * 10_001), "result_summary is too long"),
    ],
)
def test_a_refusal_names_all_that_is_in_the_way(tmp_path: Path, refused: Any, problem: str) -> None:
    board = filled(TaskBoard(tmp_path), "1>3 2>3 3>5 7>8", count=20)
    for id, status in {4: "failed", 7: "completed", 8: "completed"}.items():
        board.update(id, status)
    before = board.tasks()
    with pytest.raises(ToolError, match=problem):
        refused(board)
    assert board.tasks() == before


def test_who_may_change_a_task_in_progress(tmp_path: Path) -> None:
    """Its owner, a subagent of the owner, and whoever gives no name."""
    board = filled(TaskBoard(tmp_path), count=1)
    board.claim(1, "alice")
    for by in ("bob", "alicia", "alice2"):
        with pytest.raises(ToolError, match="owned by alice; only alice or"):
            board.update(1, "completed", by=by)
    for by in ("alice", "alice.t1", ""):
        board.update(1, "pending", by=by)
        board.claim(1, "alice")


def test_a_deleted_task_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    board = filled(TaskBoard(tmp_path), "1>3 2>3 2>4 3>5 4>5")
    assert board.update(3, "deleted") is None
    assert [(task.id, task.blocked_by, task.blocks) for task in board.tasks()] == [
        *((1, (), ()), (2, (), (4,)), (4, (2,), (5,)), (5, (4,), ())),
    ]


def test_a_file_edited_by_hand_is_seen_at_once_and_kept(tmp_path: Path) -> None:
    board = filled(TaskBoard(tmp_path), count=2)
    path = tmp_path / "task_2.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "subject": "B", "priority": 2}))
    assert board.get(2).subject == "B"
    board.update(2, "in_progress", owner="alice")
    assert json.loads(path.read_text())["priority"] == 2
    path.unlink()
    assert [task.id for task in board.tasks()] == [1]


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
    board = filled(TaskBoard(tmp_path), count=1)
    late = board.claim(1, "alice", incarnation="a1")
    for status, owner in steps:
        board.update(1, status, owner=owner)
    before = board.get(1)
    with pytest.raises(ToolError) as caught:
        board.update(1, "completed", by=by, token=late.token)
    assert str(caught.value) == f"task 1 is not yours any more: {present}"
    assert board.get(1) == before


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


@pytest.mark.parametrize(
    ("before", "status", "owner", "after"),
    [
        ("in_progress", "in_progress", "", ("in_progress", "alice")),  # nobody else takes it
        ("in_progress", "in_progress", "alice", ("in_progress", "alice")),  # said again
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
    board = filled(TaskBoard(tmp_path), count=1)
    board.update(1, "in_progress", owner="alice")
    board.update(1, before)
    task = board.update(1, status, owner=owner)
    assert task is not None
    assert (task.status, task.owner) == after


# What a task may be


def test_the_files_are_what_everybody_expects(tmp_path: Path) -> None:
    board = filled(TaskBoard(tmp_path / ".tasks"), "1>2")
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{oops", "is not JSON"),
        ("[]", "it holds no object"),
        ('{"id": 1}', "no id, or no subject"),
        ('{"id": 2, "subject": "a"}', "its id is 2"),
        ('{"id": true, "subject": "a"}', "id is True"),
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
    board = filled(TaskBoard(tmp_path), count=2)
    (tmp_path / "task_1.json").write_text(text)
    with pytest.raises(UsageError, match=rf"task_1\.json .*{problem}"):
        board.tasks()
    with pytest.raises(UsageError, match=problem):
        TaskBoard(tmp_path)
    assert (tmp_path / "task_1.json").read_text() == text


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
    board = filled(TaskBoard(tmp_path), count=3)
    before = board.tasks()
    (tmp_path / "board.json").write_text(json.dumps({"next_id": counter}))
    assert [board.create("more").id for _ in numbers] == numbers
    assert board.tasks()[:3] == before
    counted = {"next_id": numbers[-1] + 1, "version": 1}
    assert json.loads((tmp_path / "board.json").read_text()) == counted


def test_both_directions_are_mended_at_the_start(tmp_path: Path) -> None:
    filled(TaskBoard(tmp_path), "1>2", count=3)
    for id, field, value in ((1, "blocks", [3]), (2, "blockedBy", [1, 9])):
        path = tmp_path / f"task_{id}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    board = TaskBoard(tmp_path)
    check(board)
    assert board.get(1).blocks == (2,)
    assert board.get(2).blocked_by == (1,)
