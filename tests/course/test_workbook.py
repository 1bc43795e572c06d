"""The working copy: what a learner did there is never lost, and what they did not follows."""

from __future__ import annotations

import json
import tempfile
from itertools import count
from pathlib import Path

import nbformat
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from profiles import examples
from project import ROOT

from learnkit.course import files
from learnkit.course.workbook import notebooks

COURSE = ROOT / "notebooks"
LESSON, OTHER = "s01_agent_loop.ipynb", "s02_tools.ipynb"


def notebook(*sources: str, output: str = "", form: type = list) -> str:
    """A notebook of code cells; JupyterLab writes a source as a list of lines, others as a text."""
    cells = [
        {
            "cell_type": "code",
            "source": one.splitlines(keepends=True) if form is list else one,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": output}],
        }
        for one in sources
    ]
    return json.dumps({"cells": cells, "nbformat": 4})


FIRST = notebook("first edition")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    source = tmp_path / "course"
    source.mkdir()
    (source / LESSON).write_text(FIRST)
    return source


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "work"


def update(course: Path, work: Path, *, reset: bool = False) -> list[str]:
    return list(notebooks.update(course, work, reset=reset))


def test_what_was_copied_before_an_error_is_remembered(course: Path, work: Path) -> None:
    (course / OTHER).write_text(FIRST)
    (work / OTHER).mkdir(parents=True)
    for edition in ("first edition", "second edition"):
        (course / LESSON).write_text(notebook(edition))
        with pytest.raises(IsADirectoryError):
            update(course, work)
    assert sources((work / LESSON).read_text()) == ["second edition"]


def test_a_reset_keeps_every_copy(course: Path, work: Path) -> None:
    update(course, work)
    for answers in ("my first answers", "my second answers", "my third answers"):
        (work / LESSON).write_text(answers)
        (line,) = update(course, work, reset=True)
        assert "fresh again" in line
        assert sources((work / LESSON).read_text()) == ["first edition"]
    kept = [work / f"{LESSON}.bak{number}" for number in ("", 1, 2)]
    assert [path.read_text() for path in kept] == [
        "my first answers",
        "my second answers",
        "my third answers",
    ]


@pytest.mark.parametrize("memory", ["{ not json", "[]", '"text"', "", b"\xff\xfe"])
def test_a_spoilt_memory_overwrites_nothing(course: Path, work: Path, memory: str | bytes) -> None:
    update(course, work)
    spoilt = memory if isinstance(memory, bytes) else memory.encode()
    (work / notebooks.STATE).write_bytes(spoilt)
    (work / LESSON).write_text("my answers")
    (line,) = update(course, work)
    assert "yours is kept" in line
    assert (work / LESSON).read_text() == "my answers"


# What an edit is


def test_a_cell_that_was_run_is_no_edit(course: Path, work: Path) -> None:
    """Every learner runs cells: with that as an edit, no copy would ever follow the course."""
    (course / LESSON).write_text(notebook("1 + 1", "x"))
    update(course, work)
    ran = notebook("1 + 1", "x", output="2", form=str)
    (work / LESSON).write_text(ran)
    assert update(course, work) == []
    assert (work / LESSON).read_text() == ran, "outputs stay while the course says the same"
    (course / LESSON).write_text(notebook("1 + 1", "x", output="newer"))
    assert update(course, work) == []
    assert (work / LESSON).read_text() == ran
    (course / LESSON).write_text(notebook("1 + 2", "x"))
    assert update(course, work) == []
    assert sources((work / LESSON).read_text()) == ["1 + 2", "x"]


def test_every_lesson_is_copied_without_outputs_and_is_otherwise_the_same(work: Path) -> None:
    update(COURSE, work)
    for original in files.lessons(COURSE):
        copy = nbformat.read(work / original.name, as_version=4)
        nbformat.validate(copy)
        code = [cell for cell in copy.cells if cell.cell_type == "code"]
        assert not any(cell.outputs or cell.execution_count for cell in code)
        shipped = nbformat.read(original, as_version=4)
        assert [cell.id for cell in copy.cells] == [cell.id for cell in shipped.cells]
        assert [cell.metadata for cell in copy.cells] == [cell.metadata for cell in shipped.cells]


@pytest.mark.parametrize("mine", [("x", "1 + 1"), ("1 + 1",), ("1 + 1", "x", "y"), ("1 + 1x", "")])
def test_cells_that_changed_moved_came_or_went_are_an_edit(
    course: Path, work: Path, mine: tuple[str, ...]
) -> None:
    (course / LESSON).write_text(notebook("1 + 1", "x"))
    update(course, work)
    (work / LESSON).write_text(notebook(*mine))
    (course / LESSON).write_text(notebook("1 + 2", "x"))
    (line,) = update(course, work)
    assert "yours is kept" in line
    assert (work / LESSON).read_text() == notebook(*mine)


class WorkingCopy(RuleBasedStateMachine):
    """Editions of a course, and a learner's work on a copy, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="copies-")
        self.course, self.work = (Path(self.folder.name) / name for name in ("course", "work"))
        self.course.mkdir()
        self.copy, self.state = self.work / LESSON, self.work / notebooks.STATE
        self.numbers = count(1)
        self.mine: set[str] = set()  # what the learner wrote and did not themselves throw away
        self.publish()

    def teardown(self) -> None:
        self.folder.cleanup()

    def shown(self) -> str | None:
        return self.copy.read_text() if self.copy.exists() else None

    @rule()
    def publish(self) -> None:
        self.newest = notebook(f"edition {next(self.numbers)}")
        (self.course / LESSON).write_text(self.newest)

    @rule(reset=st.booleans())
    def start(self, reset: bool) -> None:
        before = self.shown()
        lines = update(self.course, self.work, reset=reset)
        if before in self.mine and not reset:
            assert self.shown() == before
        else:
            assert sources(self.shown()) == sources(self.newest)
            assert len(lines) == (before in self.mine)

    def is_known(self) -> bool:
        """Whether the copy is the learner's work, or of today's edition and never run."""
        return self.shown() in {*self.mine, notebooks.fresh(self.newest.encode()).decode()}

    @precondition(lambda self: self.copy.exists())
    @rule()
    def write(self) -> None:
        self.mine.discard(self.copy.read_text())
        self.copy.write_text(notebook(f"answers {next(self.numbers)}"))
        self.mine.add(self.copy.read_text())

    @precondition(lambda self: self.copy.exists())
    @rule()
    def run(self) -> None:
        """Run a cell and save: another output, the same source."""
        before = self.copy.read_text()
        book = json.loads(before)
        book["cells"][0]["outputs"] = [{"text": f"run {next(self.numbers)}"}]
        self.copy.write_text(json.dumps(book))
        if before in self.mine:
            self.mine.discard(before)
            self.mine.add(self.copy.read_text())

    @precondition(lambda self: self.copy.exists())
    @rule()
    def delete(self) -> None:
        self.mine.discard(self.copy.read_text())
        self.copy.unlink()

    @precondition(lambda self: self.state.exists() and self.is_known())
    @rule()
    def forget(self) -> None:
        """Not while an older edition waits: nobody can tell it from the learner's work then."""
        self.state.unlink()
        update(self.course, self.work)

    @invariant()
    def nothing_of_the_learner_is_lost(self) -> None:
        assert self.mine <= {path.read_text() for path in self.work.glob(f"{LESSON}*")}


def sources(text: str | None) -> list[str]:
    """What the cells of a notebook say."""
    return ["".join(cell["source"]) for cell in json.loads(text or "{}")["cells"]]


TestWorkingCopy = WorkingCopy.TestCase
TestWorkingCopy.settings = settings(max_examples=examples(40), stateful_step_count=20)
