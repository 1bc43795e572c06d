"""The terminal, as a user runs it: exit codes, and sentences instead of tracebacks."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import learnkit
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from project import ROOT

from learnkit import __version__
from learnkit.clients.recordings.record import Recorder
from learnkit.clients.recordings.recording import Recording
from learnkit.course.progress import Progress
from learnkit.course.publish import execute
from learnkit.course.workbook import folder as workbook

LESSON = "s01_agent_loop.ipynb"


def test_without_a_command_it_says_what_there_is() -> None:
    command = [Path(sys.executable).with_name("learnkit")]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert shown.returncode == 2
    assert all(word in shown.stdout for word in ("lab", "record", "refresh", "doctor"))


@pytest.mark.parametrize("command", ["lab", "refresh", "record", "html"])
def test_an_unknown_lesson_is_a_sentence(command: str, tmp_path: Path) -> None:
    shown = learnkit(command, "s99", LEARNKIT_WORKBOOK=str(tmp_path / "work"))
    assert shown.returncode == 2
    assert "there is no lesson 's99'" in shown.stderr
    assert "s01, s02" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        pytest.param("refresh", "nbclient", marks=pytest.mark.slow),
        pytest.param("html", "nbconvert", marks=pytest.mark.slow),
        pytest.param("record", "nbformat", marks=pytest.mark.slow),
    ],
)
def test_without_the_lab_extra_it_says_what_to_install(
    command: str, missing: str, tmp_path: Path
) -> None:
    hidden = f"import sys; sys.modules[{missing!r}] = None\n"
    hidden += "from learnkit.terminal.cli import main; main()"
    options = ["--out", str(tmp_path)] if command == "html" else []
    extra = ["--keep-replies"] if command == "record" else []
    shown = subprocess.run(
        [sys.executable, "-c", hidden, command, "s01", *options, *extra],
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 2
    told = "is not installed; get it with: pip install 'learnkit[lab]'"
    assert shown.stderr == f"learnkit: {missing} {told}\n"


@pytest.mark.parametrize("command", ["lab", "serve", "refresh", "html", "record", "chat"])
def test_the_help_of_a_command_is_for_users_and_not_for_callers(command: str) -> None:
    shown = learnkit(command, "--help", COLUMNS="100")
    assert shown.returncode == 0
    assert "--help" in shown.stdout
    assert "Args:" not in shown.stdout


def test_a_folder_in_the_place_of_a_lesson_is_told_where_it_goes(tmp_path: Path) -> None:
    assert "a folder for your copies goes after --folder" in learnkit("lab", str(tmp_path)).stderr


def test_the_version_is_the_packages_own() -> None:
    shown = learnkit("--version")
    assert shown.returncode == 0
    assert shown.stdout == f"learnkit {__version__}\n"
    assert __version__ == importlib.metadata.version("learnkit")


def test_notes_do_not_make_a_folder_somebody_elses(tmp_path: Path) -> None:
    Progress(tmp_path / "work" / "progress.json").note("s01", "opened", "lesson")
    (tmp_path / "work" / ".hidden").write_text("")
    assert list(workbook.update(ROOT / "notebooks", tmp_path / "work")) == []
    assert (tmp_path / "work" / LESSON).is_file()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("notebooks", "holds the course's own notebooks"),
        ("learnkit/lessons", "belongs to the installed package"),
        ("LICENSE", "is a file"),
        ("docs", "is not a copy of the lessons, and holds 'README.md'"),
    ],
)
def test_a_folder_that_is_not_the_learners_is_left_alone(given: str, said: str) -> None:
    before = sorted((ROOT / given).rglob("*"))
    shown = learnkit("lab", "--folder", str(ROOT / given))
    assert shown.returncode == 2
    assert said in shown.stderr
    assert "give another folder" in shown.stderr
    assert sorted((ROOT / given).rglob("*")) == before


@pytest.mark.slow
def test_recording_without_a_key_says_what_is_needed() -> None:
    before = (ROOT / "notebooks" / "recordings" / "s01.yaml").read_bytes()
    shown = learnkit("record", "s01", "--yes", ANTHROPIC_API_KEY="")
    assert shown.returncode == 1
    assert "ANTHROPIC_API_KEY" in shown.stderr
    assert (ROOT / "notebooks" / "recordings" / "s01.yaml").read_bytes() == before


def test_the_doctor_finds_what_is_here_and_what_is_not(tmp_path: Path) -> None:
    shown = learnkit("doctor", COLUMNS="200")
    assert shown.returncode == 0
    assert "[lab]" not in shown.stdout or "pip install 'learnkit[lab]'" in shown.stdout
    shown = learnkit("doctor", PATH=str(tmp_path), COLUMNS="200")
    assert shown.returncode == 1
    assert any(line.startswith("✗") and "git" in line for line in shown.stdout.splitlines())


# Running the course


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CellExecutionError("", "ZeroDivisionError", "division by zero"), "ZeroDivisionError: div"),
        (CellTimeoutError("1 / 0"), "a cell was not done after 60 s"),
        (DeadKernelError("Kernel died"), "the kernel died: Kernel died"),
    ],
)
def test_a_failing_notebook_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(path: Path) -> list[str]:
        raise error

    monkeypatch.setattr(execute, "refresh", fail)
    shown = learnkit("refresh", "s01")
    assert shown.returncode == 1
    assert shown.stderr.startswith("learnkit: ")
    assert said in shown.stderr


# Recordings


RECORDINGS = sorted((ROOT / "notebooks" / "recordings").glob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_shipped_recording_is_written_as_it_is_read(path: Path, tmp_path: Path) -> None:
    """Its requests are those that the lesson makes: the replay in ``--nbval`` compares them."""
    copy, shipped = tmp_path / path.name, Recording.load(path)
    shutil.copy(path, copy)
    for scenario in shipped.scenarios:
        turns = [turn for turn in shipped.turns if turn.scenario == scenario]
        invited = [turn for turn in turns if turn.invited]
        recorder = Recorder(copy, scenario, "scripted", invited)
        requests = shipped.prefixes(scenario)
        for turn in turns:
            if not turn.invited:
                recorder.add(requests[turn.id], turn.lane, turn.answer)
        recorder.recording.save(copy)
    assert copy.read_text("utf-8") == path.read_text("utf-8")
    assert "source: scripted" in path.read_text("utf-8")
    counted = [turn.id for turn in shipped.turns if getattr(turn.answer, "usage", None)]
    assert counted == [], "token counts of a hand-written reply are invented"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s05", "s09"])
def test_a_lesson_that_is_recorded_again_keeps_its_recording(name: str, tmp_path: Path) -> None:
    """A plain lesson, and one with several agents."""
    (path,) = (one for one in RECORDINGS if one.stem == name)
    shutil.copy(path, tmp_path)
    (lesson,) = (ROOT / "notebooks").glob(f"{name}_*.ipynb")
    execute.execute(lesson, {"LEARNKIT_MODE": "keep", "LEARNKIT_RECORDINGS": str(tmp_path)})
    assert (tmp_path / path.name).read_text("utf-8") == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--max-cost", "1"], "go with -p"),
        (["--json"], "go with -p"),
        (["-p", "x", "--json", "--stream-json"], "give one of"),
        (["--plan", "--yes"], "give one of"),
        (["-p", "x", "--resume"], "name the session"),
    ],
)
def test_an_option_that_would_mean_nothing_is_refused(options: list[str], said: str) -> None:
    done = learnkit("chat", *options)
    assert done.returncode
    assert said in done.stderr
