"""Binder installs what the lessons need; what repo2docker makes of it: tests/binder_build."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from project import ROOT, lessons, pins, requirements
from typer.testing import CliRunner

from learnkit.course.workbook import folder
from learnkit.terminal.cli import app


def environment() -> tuple[list[str], list[str]]:
    """The conda packages and the pip packages of environment.yml."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    conda = [entry for entry in entries if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    return conda, pip


def test_the_copy_that_binder_reads_is_identical() -> None:
    assert (ROOT / "binder/environment.yml").read_bytes() == (ROOT / "environment.yml").read_bytes()


def test_the_environment_lists_what_the_lessons_need_at_its_known_good_version() -> None:
    conda, pip = environment()
    # repo2docker reads a Python version with one `=` only.
    assert {"python=3.12", "git", "pip"} == set(conda)
    wanted = {canonicalize_name(requirement.name) for requirement in requirements("lab")}
    listed = {canonicalize_name(Requirement(line).name): Requirement(line) for line in pip}
    assert set(listed) == wanted
    tests = {canonicalize_name(one.name) for one in requirements("lab", "test", "dev")} - wanted
    assert not tests & set(listed), "Binder needs none of the test tools"
    known_good = pins()
    for name, requirement in listed.items():
        assert str(requirement.specifier) == f"=={known_good[name]}"


def test_the_kernels_of_binder_get_what_those_of_learnkit_lab_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("PYTHONSTARTUP", "JUPYTER_CONFIG_PATH")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    shown = "import json, os; print(json.dumps(dict(os.environ)))"
    command = [ROOT / "binder/start", sys.executable, "-c", shown]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    on_binder, here = json.loads(done.stdout), folder.environment(tmp_path)
    for name in names:
        assert on_binder[name] == here[name]
        assert Path(here[name]).exists()
        monkeypatch.setenv(name, "mine")
    mine = folder.environment(tmp_path)
    assert mine["PYTHONSTARTUP"] == "mine"
    assert mine["JUPYTER_CONFIG_PATH"] == f"mine{os.pathsep}{here['JUPYTER_CONFIG_PATH']}"


def test_the_links_to_binder_lead_to_the_copies_that_its_script_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEARNKIT_WORKBOOK")
    monkeypatch.chdir(tmp_path)
    command = (ROOT / "binder/postBuild").read_text("utf-8").splitlines()[-1].split()
    made = CliRunner().invoke(app, command[1:])
    assert made.exit_code == 0, made.output
    assert "start.ipynb" in {path.name for path in (tmp_path / "learnkit-course").iterdir()}
    for page in (ROOT / "README.md", *lessons()):
        (path,) = re.findall(r"/HEAD\?labpath=([^)\s]+)\)", page.read_text("utf-8"))
        book = nbformat.read(tmp_path / path, as_version=4)
        assert not any(cell.get("outputs") for cell in book.cells), path
