"""Processes of lessons 9 to 11: they meet at the wrong moment, and die at a chosen byte."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.agent_file.source import Source
from learnkit.course.lessons.s07.board_race import tasks_lost
from learnkit.course.lessons.s07.processes import in_process, race, source_of

CREATE = ["board.create('one')", "board.create('two')"]
NAIVE = """
import json
from pathlib import Path
from typing import Any

class Naive:
    def __init__(self, folder, pause=lambda: None):
        self.folder, self.pause = Path(folder), pause

    def create(self, subject):
        ids = [int(path.stem[5:]) for path in self.folder.glob("task_*.json")]
        self.pause()
        id = max(ids, default=0) + 1
        (self.folder / f"task_{id}.json").write_text(json.dumps({"id": id, "subject": subject}))
"""


@pytest.fixture
def naive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type:
    """A class from a cell, which can be found in its file but in no module."""
    cell = tmp_path / "cell.py"
    cell.write_text(NAIVE)
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(NAIVE, str(cell), "exec"), names)
    found = names["Naive"]
    assert isinstance(found, type)
    return found


@pytest.mark.parametrize("_", range(3))
def test_two_processes_that_meet_lose_a_naive_task_every_time(
    naive: type, tmp_path: Path, _: int
) -> None:
    folder = tmp_path / "board"
    folder.mkdir()
    race(naive, folder, CREATE)
    assert [path.name for path in folder.iterdir()] == ["task_1.json"]


def test_a_class_that_inherits_from_another_cell_s_runs_in_a_process(
    naive: type, tmp_path: Path
) -> None:
    cell = tmp_path / "another.py"
    cell.write_text("class Own(Naive):\n    def name(self):\n        return self.folder.name\n")
    names = {"__name__": "__main__", "Naive": naive}
    exec(compile(cell.read_text(), str(cell), "exec"), names)
    own: Any = names["Own"]
    assert not in_process(own, tmp_path, "board.create(board.name())")
    assert json.loads((tmp_path / "task_1.json").read_text())["subject"] == tmp_path.name


@pytest.mark.slow
@pytest.mark.parametrize("_", range(3))
def test_and_lose_none_on_the_package_s_board(tmp_path: Path, _: int) -> None:
    race(lk.TaskBoard, tmp_path, CREATE)
    assert sorted(task.subject for task in lk.TaskBoard(tmp_path).tasks()) == ["one", "two"]


@pytest.mark.parametrize("size", [0, 10, 20])
def test_a_death_in_the_middle_tears_a_naive_file(naive: type, tmp_path: Path, size: int) -> None:
    assert in_process(naive, tmp_path, "board.create('parse')", dies_at=size)
    text = (tmp_path / "task_1.json").read_text()
    assert len(text) == size
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


@pytest.mark.slow
def test_a_process_that_lives_is_told_from_one_that_dies(tmp_path: Path) -> None:
    assert not in_process(lk.TaskBoard, tmp_path, "board.create('parse')")
    assert lk.TaskBoard(tmp_path).get(1).subject == "parse"


@pytest.mark.slow
def test_what_fails_is_said(tmp_path: Path) -> None:
    with pytest.raises(lk.UsageError, match=r"the process failed: .*there is no task 9"):
        in_process(lk.TaskBoard, tmp_path, "board.get(9)")
    with pytest.raises(lk.UsageError, match="there is no task 9"):
        race(lk.TaskBoard, tmp_path, ["board.get(9)", "board.create('x')"])


def test_a_class_without_a_text_cannot_be_used() -> None:
    made = type("Made", (), {"create": eval("lambda self: None")})
    made.__module__ = "__main__"
    with pytest.raises(lk.UsageError, match="the cell that defines Made cannot be found"):
        source_of(made)


NO_LOCK = """
@contextmanager
def locked(name):
    (ROOT / name).mkdir(exist_ok=True)
    yield ROOT / name
"""


A_FOLDER_AS_LOCK = """
@contextmanager
def locked(name):
    (ROOT / name).mkdir(exist_ok=True)
    while True:
        try:
            (ROOT / name / "held").mkdir()
            break
        except FileExistsError:
            pass
    try:
        yield ROOT / name
    finally:
        (ROOT / name / "held").rmdir()
"""


def test_the_simulated_race_loses_by_its_gap_unless_a_lock_is_held_during_it() -> None:
    agent = SimpleNamespace(__source__=Source.reference("s07"))  # its own lock is flock
    boards = {"no lock": NO_LOCK, "its own": "", "a folder": A_FOLDER_AS_LOCK}
    options = {"workers": 4, "each": 3, "think": 1}
    lost = [tasks_lost(agent, boards, 4, gap=gap, **options) for gap in (0, 0.1, 1)]
    assert lost[1] == tasks_lost(agent, boards, 4, gap=0.1, **options)
    assert all(one[lock] == [0] * 4 for one in lost for lock in ("its own", "a folder"))
    few, some, many = (one["no lock"] for one in lost)
    assert few == [0] * 4 < some < many
    assert len({*some, *many}) > 2  # each run has its own pauses
    agent.__source__ = agent.__source__.changed(NO_LOCK)  # as a learner has it who repairs nothing
    assert tasks_lost(agent, boards, 4, gap=1, **options)["its own"] == many
