"""What lesson 11 says of its crew, and of two processes that claim at once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import learnkit as lk
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


class Naive:
    """Reads, and then writes, without a lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def create(self, subject: str) -> None:
        (self.folder / "task.json").write_text('""')

    def claim(self, id: int, owner: str) -> None:
        if taken := json.loads((self.folder / "task.json").read_text()):
            raise ValueError(f"task {id} is in_progress by {taken}")
        (self.folder / "task.json").write_text(json.dumps(owner))


@pytest.mark.parametrize(
    ("board", "many", "errors"),
    [(Naive, 2, []), (lk.TaskBoard, 1, ["task 1 is in_progress"])],
)
def test_two_processes_claim_at_once(
    tmp_path: Path, board: type, many: int, errors: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    began, failed = crew.claim_at_once(board, tmp_path)
    assert (len(began), failed) == (many, errors)
    assert set(began) <= {"alice", "bob"}
