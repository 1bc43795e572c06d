"""The working copy: what a learner did there is never lost, and what they did not follows."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from profiles import examples

from learnkit import copies

LESSON, OTHER = "s01_agent_loop.ipynb", "s02_tools.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    source = tmp_path / "course"
    source.mkdir()
    (source / LESSON).write_text("first edition")
    return source


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "work"


def update(course: Path, work: Path, *, reset: bool = False) -> list[str]:
    return list(copies.update(course, work, reset=reset))


def test_a_copy_that_nobody_touched_follows_the_course(course: Path, work: Path) -> None:
    assert update(course, work) == []
    (course / LESSON).write_text("second edition")
    (course / OTHER).write_text("a new lesson")
    assert update(course, work) == []
    assert (work / LESSON).read_text() == "second edition"
    assert (work / OTHER).read_text() == "a new lesson"


def test_only_lessons_are_copied(course: Path, work: Path) -> None:
    (course / "draft.ipynb").write_text("not yet")
    (course / "recordings").mkdir()
    update(course, work)
    assert {path.name for path in work.iterdir()} == {LESSON, copies.STATE}


def test_an_unchanged_copy_is_not_written_again(course: Path, work: Path) -> None:
    """JupyterLab asks about a file that changes under an open notebook."""
    update(course, work)
    before = (work / LESSON).stat()
    update(course, work)
    update(course, work, reset=True)
    after = (work / LESSON).stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_copy_that_was_changed_is_kept(course: Path, work: Path) -> None:
    update(course, work)
    (work / LESSON).write_text("my answers")
    assert update(course, work) == []
    (course / LESSON).write_text("second edition")
    (line,) = update(course, work)
    assert "yours is kept" in line
    assert "--reset" in line
    assert (work / LESSON).read_text() == "my answers"


def test_a_change_that_was_taken_back_follows_again(course: Path, work: Path) -> None:
    update(course, work)
    (work / LESSON).write_text("my answers")
    update(course, work)
    (work / LESSON).write_text("first edition")
    (course / LESSON).write_text("second edition")
    assert update(course, work) == []
    assert (work / LESSON).read_text() == "second edition"


def test_a_deleted_copy_comes_back(course: Path, work: Path) -> None:
    update(course, work)
    (work / LESSON).unlink()
    assert update(course, work) == []
    assert (work / LESSON).read_text() == "first edition"


def test_a_reset_keeps_every_copy(course: Path, work: Path) -> None:
    update(course, work)
    for answers in ("my first answers", "my second answers", "my third answers"):
        (work / LESSON).write_text(answers)
        (line,) = update(course, work, reset=True)
        assert "fresh again" in line
        assert (work / LESSON).read_text() == "first edition"
    kept = [work / f"{LESSON}.bak{number}" for number in ("", 1, 2)]
    assert [path.read_text() for path in kept] == [
        "my first answers",
        "my second answers",
        "my third answers",
    ]


def test_a_reset_of_untouched_copies_keeps_none(course: Path, work: Path) -> None:
    update(course, work)
    (course / LESSON).write_text("second edition")
    assert update(course, work, reset=True) == []
    assert {path.name for path in work.iterdir()} == {LESSON, copies.STATE}


@pytest.mark.parametrize("memory", ["{ not json", "[]", '"text"', "", b"\xff\xfe"])
def test_a_spoilt_memory_overwrites_nothing(course: Path, work: Path, memory: str | bytes) -> None:
    update(course, work)
    spoilt = memory if isinstance(memory, bytes) else memory.encode()
    (work / copies.STATE).write_bytes(spoilt)
    (work / LESSON).write_text("my answers")
    (line,) = update(course, work)
    assert "yours is kept" in line
    assert (work / LESSON).read_text() == "my answers"


def test_a_lost_memory_is_made_anew_from_what_is_the_same(course: Path, work: Path) -> None:
    """Without it, an untouched copy was taken for a changed one, and stayed behind for ever."""
    update(course, work)
    (work / copies.STATE).unlink()
    assert update(course, work) == [], "the course has no newer one"
    (course / LESSON).write_text("second edition")
    assert update(course, work) == []
    assert (work / LESSON).read_text() == "second edition"


class WorkingCopy(RuleBasedStateMachine):
    """Editions of a course, and a learner's work on a copy, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="copies-")
        self.course, self.work = (Path(self.folder.name) / name for name in ("course", "work"))
        self.course.mkdir()
        self.copy, self.state = self.work / LESSON, self.work / copies.STATE
        self.numbers = count(1)
        self.mine: set[str] = set()  # what the learner wrote and did not themselves throw away
        self.publish()

    def teardown(self) -> None:
        self.folder.cleanup()

    def shown(self) -> str | None:
        return self.copy.read_text() if self.copy.exists() else None

    @rule()
    def publish(self) -> None:
        self.newest = f"edition {next(self.numbers)}"
        (self.course / LESSON).write_text(self.newest)

    @rule(reset=st.booleans())
    def start(self, reset: bool) -> None:
        before = self.shown()
        lines = update(self.course, self.work, reset=reset)
        if before in self.mine and not reset:
            assert self.shown() == before
        else:
            assert self.shown() == self.newest
            assert len(lines) == (before in self.mine)

    @precondition(lambda self: self.copy.exists())
    @rule()
    def write(self) -> None:
        self.mine.discard(self.copy.read_text())
        self.copy.write_text(f"answers {next(self.numbers)}")
        self.mine.add(self.copy.read_text())

    @precondition(lambda self: self.copy.exists())
    @rule()
    def delete(self) -> None:
        self.mine.discard(self.copy.read_text())
        self.copy.unlink()

    @precondition(lambda self: self.state.exists() and self.shown() in {*self.mine, self.newest})
    @rule()
    def forget(self) -> None:
        """Not while an older edition waits: nobody can tell it from the learner's work then."""
        self.state.unlink()
        update(self.course, self.work)

    @invariant()
    def nothing_of_the_learner_is_lost(self) -> None:
        assert self.mine <= {path.read_text() for path in self.work.glob(f"{LESSON}*")}


TestWorkingCopy = WorkingCopy.TestCase
TestWorkingCopy.settings = settings(max_examples=examples(40), stateful_step_count=20)
