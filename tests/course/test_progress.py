"""The learner's notes: nothing is lost, a lesson never fails because of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.course import files as course_files
from learnkit.course.progress import KINDS, Progress, working_copy

NOTHING: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}


def test_what_is_noted_is_known_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "new" / "progress.json"
    assert Progress(path).of("s01") == NOTHING
    Progress(path).note("s01", "quiz", "q1", "b")
    Progress(path).note("s01", "quiz", "q1", "c")
    Progress(path).note("s02", "exercises", "1")
    assert Progress(path).of("s01") == {**NOTHING, "quiz": {"q1": "c"}}
    assert Progress(path).of("s02") == {**NOTHING, "exercises": {"1": "yes"}}
    path.unlink()
    assert Progress(path).of("s01") == NOTHING


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(json_values.map(json.dumps).map(str.encode) | st.binary(max_size=40))
def test_whatever_stands_in_the_file_the_lesson_goes_on(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("p") / "progress.json"
    path.write_bytes(content)
    progress = Progress(path)
    assert set(progress.of("s01")) == set(KINDS)
    before = progress.of("s02")
    progress.note("s01", "quiz", "q1", "a")
    assert progress.of("s01")["quiz"]["q1"] == "a"
    assert progress.of("s02") == before


def test_a_damaged_file_is_put_aside_and_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text('{"s01": {"quiz": {"q1": "a"}')
    Progress(path).note("s02", "quiz", "q1", "b")
    assert path.with_suffix(".damaged").read_text() == '{"s01": {"quiz": {"q1": "a"}'
    assert Progress(path).of("s02")["quiz"] == {"q1": "b"}


def test_a_place_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    Progress(blocked / "progress.json").note("s01", "quiz", "q1", "a")
    assert Progress(blocked / "progress.json").of("s01") == NOTHING


_KERNEL = """
import sys
from pathlib import Path
from learnkit.course.progress import Progress
for number in range(20):
    Progress(Path(sys.argv[1])).note(sys.argv[2], "quiz", f"q{number}")
"""


@pytest.mark.slow
def test_two_kernels_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    command = [sys.executable, "-c", _KERNEL, str(path)]
    kernels = [subprocess.Popen([*command, lesson]) for lesson in ("s01", "s02")]
    assert [kernel.wait() for kernel in kernels] == [0, 0]
    assert [len(Progress(path).of(lesson)["quiz"]) for lesson in ("s01", "s02")] == [20, 20]


# Where the notes are


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LEARNKIT_WORKBOOK")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("opened", ["notebooks", "notebooks/beyond"])
def test_beside_a_clones_originals_notes_go_to_its_top(
    here: Path, opened: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Binder, the originals are opened; and a copy among them would be tested."""
    (here / "pyproject.toml").write_text("")
    (here / "notebooks" / "recordings").mkdir(parents=True)
    (here / opened).mkdir(exist_ok=True)
    monkeypatch.chdir(here / opened)
    assert working_copy() == here / "learnkit-course"
    monkeypatch.setattr(course_files, "checkout", lambda: here)
    Progress().note("s01", "opened", "lesson")
    assert (here / "learnkit-course" / "progress.json").is_file()
