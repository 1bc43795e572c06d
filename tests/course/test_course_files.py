"""The files of the course, found in a clone, after an editable install, and in a wheel."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from project import ROOT

from learnkit.course import content
from learnkit.course import files as course_files
from learnkit.course.content import load
from learnkit.course.lab import recordings
from learnkit.errors import UsageError


def test_a_clone_has_them_at_its_top() -> None:
    assert course_files.checkout() == course_files.root() == ROOT
    assert course_files.notebooks() == course_files.originals() == ROOT / "notebooks"
    assert course_files.recordings() == recordings() == ROOT / "notebooks" / "recordings"
    assert course_files.skills() == ROOT / "skills"


def test_an_editable_install_copies_nothing() -> None:
    """This environment has one; a fresh Python in another folder finds the clone through it."""
    ask = (
        "import json, learnkit.course.files as c; from importlib.metadata import files\n"
        "print(json.dumps([str(c.root()), [str(f) for f in files('learnkit')]]))"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-c", ask], cwd="/", capture_output=True, text=True
    )
    assert said.stderr == ""
    found, installed = json.loads(said.stdout)
    assert found == str(ROOT)
    assert [name for name in installed if name.endswith((".ipynb", ".yaml", "SKILL.md"))] == []
    assert [name for name in installed if name.startswith("learnkit/")] == []


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as a wheel installs it, among others; the real one: tests/wheel."""
    package = tmp_path / "site-packages" / "learnkit"
    package.mkdir(parents=True)
    monkeypatch.setattr(course_files, "_PACKAGE", package)
    monkeypatch.setattr(course_files, "_CARRIED", package / "course")
    return package


def fill(top: Path) -> None:
    (top / "notebooks" / "recordings").mkdir(parents=True)
    (top / "skills").mkdir()


def test_a_wheel_has_them_in_the_package(wheel: Path) -> None:
    fill(wheel / "course")
    assert course_files.checkout() is None
    assert course_files.root() == wheel / "course"


def test_a_slip_in_the_questions_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s01").mkdir()
    text = (content._LESSONS / "s01" / "questions.yaml").read_text("utf-8")
    (tmp_path / "s01" / "questions.yaml").write_text(text.replace("exercises:", "exercise:", 1))
    monkeypatch.setattr(content, "_LESSONS", tmp_path)
    load.cache_clear()
    with pytest.raises(UsageError, match=r"s01/questions.yaml cannot be used: KeyError: 'exerc"):
        load("s01")
