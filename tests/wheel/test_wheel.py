"""The wheel alone: in fresh environments, in empty folders, without the repository.

The wheel is made from the source distribution, as a release makes it. It is first installed plain,
as a script needs it, then with the extra ``lab``, so the tests run in the order of this file. They
install packages, so they have a network; ``.ci/run`` calls them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import lab
import netblock
import pytest
from playwright.sync_api import expect
from project import ROOT, lessons, tracked_files

import learnkit

#: What a script needs none of.
HEAVY = {"ipywidgets", "anywidget", "ipython", "jupyterlab", "nbformat", "traitlets"}
GET_LAB = "pip install 'learnkit[lab]'"


@dataclass
class Environment:
    """A virtual environment, used from a folder that has nothing of the repository."""

    place: Path
    folder: Path

    def run(
        self,
        program: str,
        *arguments: str,
        code: int = 0,
        typed: str = "",
        within: Path | None = None,
    ) -> str:
        """What a program says; its exit code must be ``code``."""
        own = ("LEARNKIT_", "JUPYTER_", "PYTHONPATH", "VIRTUAL_ENV", netblock.SWITCH)
        env = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        done = subprocess.run(
            [str(self.place / "bin" / program), *arguments],
            cwd=within or self.folder,
            env={**env, "COLUMNS": "200"},
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout[-4000:]
        return done.stdout

    def install(self, *what: str) -> None:
        place = ("--python", str(self.place))
        uv("pip", "install", *place, "-c", str(ROOT / "constraints.txt"), *what)
        uv("pip", "check", *place)

    def packages(self) -> set[str]:
        lines = uv("pip", "freeze", "--python", str(self.place)).splitlines()
        return {line.partition("==")[0].lower() for line in lines}

    @property
    def package(self) -> Path:
        (found,) = self.place.glob("lib/python3*/site-packages/learnkit")
        return found

    def state(self) -> dict[str, str]:
        """A digest of every file of the package that Python has not compiled."""
        files = [one for one in self.package.rglob("*") if one.is_file() and one.suffix != ".pyc"]
        return {str(one): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


def uv(*arguments: str) -> str:
    """What uv says. It installs in a third of pip's time, and keeps no package twice."""
    command = [str(Path(sys.executable).with_name("uv")), "--quiet", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from the source distribution."""
    folder = tmp_path_factory.mktemp("build")
    uv("build", "--out-dir", str(folder), str(ROOT))
    (found,) = folder.glob("*.whl")
    assert len(list(folder.glob("*.tar.gz"))) == 1
    return found


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel, and no extra yet."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "empty").mkdir()
    environment = Environment(folder / "venv", folder / "empty")
    uv("venv", "--python", sys.executable, str(environment.place))
    environment.install(str(wheel))
    return environment


@pytest.fixture(scope="module")
def full(wheel: Path, plain: Environment) -> Environment:
    """The same environment, with the extra ``lab`` from here on."""
    plain.install(f"learnkit[lab] @ {wheel.as_uri()}")
    return plain


def test_the_wheel_has_each_file_of_the_package_and_the_course_and_no_other(wheel: Path) -> None:
    carried = ("notebooks/", "skills/", "docs/glossary.md")
    tracked = [path.relative_to(ROOT).as_posix() for path in tracked_files()]
    wanted = {f"learnkit/course/{name}" for name in tracked if name.startswith(carried)}
    wanted |= {name for name in tracked if name.startswith("learnkit/")}
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == wanted
    assert len(lessons()) == 12


def test_the_line_with_uvx_needs_no_environment(wheel: Path) -> None:
    said = uv("tool", "run", "--from", f"learnkit[lab] @ {wheel.as_uri()}", "learnkit", "--version")
    assert said == f"learnkit {learnkit.__version__}\n"


# Without an extra


def test_a_script_pulls_no_notebooks_and_no_widgets(plain: Environment) -> None:
    packages = plain.packages()
    assert "anthropic" in packages
    assert not HEAVY & packages
    assert len(packages) < 40, sorted(packages)


@pytest.mark.parametrize("name", ["whole_harness", "own_view", "own_tool"])
def test_an_example_runs(plain: Environment, name: str, tmp_path: Path) -> None:
    """Agents, mechanisms, a team in worktrees with its board, pictures, pages."""
    shutil.copy(ROOT / "examples" / f"{name}.py", tmp_path)
    said = plain.run("python", "-W", "error", f"{name}.py", within=tmp_path)
    assert "Traceback" not in said
    assert said.strip()


def test_the_terminal_works_without_an_extra(plain: Environment) -> None:
    for command in (["learnkit"], ["python", "-m", "learnkit"]):
        assert plain.run(*command, "--version") == f"learnkit {learnkit.__version__}\n"
    said = plain.run("learnkit", "doctor")
    assert str(plain.package / "course") in said
    assert GET_LAB in said
    chat = ("learnkit", "serve", "s12", "--", "learnkit", "chat", "--yes")
    talked = plain.run(*chat, typed="If it is above 30 °C in Beijing, mail me.\n")
    assert "written: outbox/001.txt" in talked
    assert "It's 31.4 °C in Beijing, above 30, so I've sent you a mail." in talked
    shown = "import learnkit as lk; print(lk.contents())"
    assert plain.run("python", "-c", shown).startswith("12 lessons")


def test_the_skills_that_ship_are_there(plain: Environment) -> None:
    script = (
        "import learnkit as lk; from learnkit.course import files\n"
        "found = lk.Skills(files.skills()); print(*sorted(found.skills), found.problems)"
    )
    shipped = sorted(path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md"))
    assert plain.run("python", "-c", script) == f"{' '.join(shipped)} ()\n"


@pytest.mark.parametrize("words", [["lab"], ["refresh", "s01"], ["html", "s01"]])
def test_what_needs_the_extra_says_so(plain: Environment, words: Sequence[str]) -> None:
    said = plain.run("learnkit", *words, code=2)
    assert "is not installed" in said
    assert GET_LAB in said
    assert "Traceback" not in said
    assert not (plain.folder / "learnkit-course").exists()


# With the extra


@pytest.mark.parametrize("words", [["refresh", "s01"], ["record", "s01", "--yes"]])
def test_the_installed_course_is_not_written_to(full: Environment, words: Sequence[str]) -> None:
    before = full.state()
    said = full.run("learnkit", *words, code=2)
    assert "belong to the installed package and are not changed" in said
    assert "Clone the repository" in said
    assert full.state() == before


def test_the_html_edition_is_built(full: Environment, tmp_path: Path) -> None:
    """Lesson 5, because it works with the skills that ship."""
    before = full.state()
    full.run("learnkit", "html", "s05", "--out", str(tmp_path / "site"))
    pages = {path.name for path in (tmp_path / "site").iterdir()}
    assert pages == {"index.html", "glossary.html", "s05_skills.html"}
    assert "<h1" in (tmp_path / "site" / "glossary.html").read_text("utf-8")
    assert full.state() == before


def test_the_course_opens_in_a_browser(full: Environment, tmp_path: Path) -> None:
    before = full.state()
    command = [str(full.place / "bin" / "learnkit"), "lab"]
    apart = {"LEARNKIT_WORKBOOK": "", "PYTHONPATH": "", netblock.SWITCH: ""}
    work = full.folder / "learnkit-course"
    with lab.lab(full.folder, tmp_path, command, **apart) as url, lab.browser() as page:
        assert f"Your copies of the lessons are in {work}" in (tmp_path / "server.log").read_text()
        lab.Notebook(page, url, "start.ipynb")
        shown = page.locator(".jp-NotebookPanel")
        expect(shown).to_contain_text("12 lessons, about 10 hours and the exercises. Begin")
        opened = lab.Notebook(page, url, "s05_skills.ipynb")
        opened.run_all()
        assert [one for one in lab.failed(page) if "raises-exception" not in one[0]] == []
        page.goto(f"{url}/lab/tree/glossary.ipynb")
        expect(page.locator(".jp-NotebookPanel")).to_contain_text("agent loop")
        assert page.errors == []  # type: ignore[attr-defined]
    names = {path.name for path in work.glob("*.ipynb")}
    assert names == {*(path.name for path in lessons()), "start.ipynb", "glossary.ipynb"}
    assert (work / "progress.json").is_file()
    assert full.state() == before


@pytest.mark.parametrize("folder", ["learnkit/course/notebooks", "learnkit", "new"])
def test_no_working_copy_is_made_among_the_packages(full: Environment, folder: str) -> None:
    before = full.state()
    said = full.run("learnkit", "lab", "--folder", str(full.package.parent / folder), code=2)
    assert "belongs to the installed package, not to you; give another folder" in said
    assert not (full.package.parent / "new").exists()
    assert full.state() == before
