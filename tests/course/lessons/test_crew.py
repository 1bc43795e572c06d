"""What lesson 11 says of its crew, and of two processes that claim at once."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cells import cell

import learnkit as lk
from learnkit.course.lessons.s07.processes import in_process
from learnkit.course.lessons.s11 import crew

ROLES = {"alice": "coder", "carol": "tester"}


def log(*gone: str, tasks: Any = ()) -> lk.EventLog:
    """A crew of two; who is gone has shut down, and each task has a status and tags."""
    events = lk.EventLog()
    for name, role in ROLES.items():
        events.append("team.spawned", name=name, role=role, prompt="")
        events.append("team.status", name=name, status="idle")
    for id, (status, tags) in enumerate(tasks, 1):
        events.append("task.created", task={"id": id, "status": status, "tags": tags})
    for name in gone:
        events.append("team.status", name=name, status="shutdown")
    return events


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (lk.EventLog(), "Nothing has run yet. Press Start first."),
        (log(), "Not all have shut down: alice and carol may still take a task."),
        (log("alice"), "Not all have shut down: carol may still take a task."),
        (log(*ROLES, tasks=[("completed", [])]), "All 1 tasks were taken and completed."),
        (
            log(*ROLES, tasks=[("completed", []), ("pending", ["tester"]), ("pending", [])]),
            "Task 2 is left. It is for a tester, and carol had shut down.\n"
            "Task 3 is left. It is for anyone, and alice and carol had shut down.",
        ),
        (
            log(*ROLES, tasks=[("pending", ["designer"])]),
            "Task 1 is left. It is for a designer, and there was none.",
        ),
    ],
)
def test_what_is_left_is_named_with_those_who_could_have_taken_it(
    events: lk.EventLog, says: str
) -> None:
    assert crew.left_over(events) == says


#: A module of its own, because two processes import it.
NAIVE = """
import json
from pathlib import Path

class Naive:
    def __init__(self, folder):
        self.folder = Path(folder)

    def create(self, subject):
        (self.folder / "task.json").write_text('""')

    def claim(self, id, owner):
        if taken := json.loads((self.folder / "task.json").read_text()):
            raise ValueError(f"task {id} is in_progress by {taken}")
        (self.folder / "task.json").write_text(json.dumps(owner))
"""


def test_without_a_lock_both_of_two_processes_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "naive_board.py").write_text(NAIVE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    folder = tmp_path / "board"
    folder.mkdir()
    board = importlib.import_module("naive_board").Naive
    assert crew.claim_at_once(board, folder) == (["alice", "bob"], [])


@pytest.mark.parametrize("repaired", [True, False])
def test_the_lesson_s_own_lock_repairs_its_own_board(tmp_path: Path, repaired: bool) -> None:
    """Both classes are in cells; without the line with flock, two are at work again."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, name in enumerate(("class Board:", "class Locked(Board):")):
        path, source = tmp_path / f"cell_{number}.py", cell("s11", name)
        if not repaired:
            source = "\n".join(line for line in source.splitlines() if "LOCK_EX" not in line)
        path.write_text(source)
        exec(compile(source, str(path), "exec"), names)
    folder = tmp_path / "board"
    folder.mkdir()
    began, errors = crew.claim_at_once(names["Locked"], folder)
    assert len(began) == (1 if repaired else 2)
    assert errors == (["task 1 is taken"] if repaired else [])


def test_a_refused_claim_makes_the_lesson_s_find_look_at_the_next_task(tmp_path: Path) -> None:
    class Contested(lk.TaskBoard):
        """Bob is faster: he claims the first task between the look and the claim."""

        def ready(self) -> list[Any]:
            tasks = super().ready()
            self.claim(tasks[0].id, "bob")
            return tasks

    board = Contested(tmp_path)
    for subject in ("parse", "emit"):
        board.create(subject)
    names: dict[str, Any] = {"lk": lk, "suits": lambda task, role: True}
    exec(cell("s11", "def find(agent"), names)
    text = None
    with contextlib.suppress(lk.ToolError):  # it would end the learner's thread
        text = names["find"](lk.Agent(lk.scripted([]), [], name="alice"), board, "coder")
    assert text == "<auto-claimed>Task #2: emit</auto-claimed>"


def test_with_a_lock_one_begins_and_the_other_one_gets_an_error(tmp_path: Path) -> None:
    began, errors = crew.claim_at_once(lk.TaskBoard, tmp_path)
    assert len(began) == 1
    assert errors == ["task 1 is in_progress"]


@pytest.mark.slow
def test_a_restart_gives_the_task_of_a_killed_process_to_the_next_teammate(tmp_path: Path) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    board.create("check lima")
    code = "from learnkit.course.lessons.s11 import crew; crew.killed_at_work(board)"
    assert in_process(lk.TaskBoard, board.folder, code)
    assert (board.get(1).status, board.get(1).owner) == ("in_progress", "bob")

    client = lk.scripted({"lead": [lk.say("Good morning.")]})
    with lk.Team(tmp_path / ".team", lambda *_: []) as team:
        assert [one["name"] for one in team.roster.members()] == ["bob"]
        lk.Agent(client, [team, lk.Autonomy(team, board)], name="lead").run("Good morning.")
    assert [task.id for task in board.ready()] == [1]
