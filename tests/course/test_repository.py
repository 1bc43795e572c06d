"""The repository's address is written once, and every link to the project is made from it."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from project import ROOT, lessons, pyproject, tracked_files
from typer.testing import CliRunner

from learnkit.course import files as course_files
from learnkit.course.publish import execute as verify
from learnkit.course.publish import repository
from learnkit.course.workbook import start_page as startpage
from learnkit.errors import UsageError
from learnkit.terminal.cli import app

HOME = pyproject()["project"]["urls"]["Repository"]
ELSEWHERE = "https://github.com/someone/a.fork"
PROJECT = '[project]\nname = "learnkit"\n[project.urls]\nRepository = "{}"\n'


def checkout(folder: Path, address: str = ELSEWHERE) -> Path:
    """A small checkout whose links still name the repository that it was forked from."""
    (folder / "pyproject.toml").write_text(PROJECT.format(address), "utf-8")
    (folder / "README.md").write_text(f"[run]({HOME}/releases)\n", "utf-8")
    (folder / "notebooks").mkdir()
    lesson = (ROOT / "notebooks/s02_tools.ipynb").read_text("utf-8")
    (folder / "notebooks/s02_tools.ipynb").write_text(lesson, "utf-8")
    return folder


def test_the_address_is_the_one_in_pyproject() -> None:
    assert repository.address() == HOME


def test_without_a_checkout_it_is_the_one_that_the_package_was_built_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert f"Repository, {HOME}" in metadata.metadata("learnkit").get_all("Project-URL")
    monkeypatch.setattr(course_files, "checkout", lambda: None)
    assert repository.address() == HOME


@pytest.mark.parametrize("address", ["", "learnkit/learnkit", "https://example.org/a/b"])
def test_an_address_that_no_link_can_be_made_from_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match=r"it must be https://github\.com/OWNER/NAME"):
        repository.address(checkout(tmp_path, address))


@pytest.mark.parametrize(
    "ours",
    [
        "https://mybinder.org/v2/gh/old/name/HEAD?labpath=learnkit-course/s01_agent_loop.ipynb",
        "https://github.com/old/name/actions/workflows/ci.yml/badge.svg",
        "https://github.com/old/name/compare/v0.1.0...HEAD",
        "https://github.com/old/name/issues/new/choose",
        "https://github.com/old/name/releases/tag/v0.1.0",
        "https://github.com/old/name/security/advisories/new",
        'repository-code: "https://github.com/old/name"',
    ],
)
def test_a_link_to_the_project_follows_the_address(ours: str) -> None:
    fresh = repository.rendered(ours, ELSEWHERE)
    assert fresh == ours.replace("old/name", "someone/a.fork")
    assert repository.rendered(fresh, ELSEWHERE) == fresh


@pytest.mark.parametrize(
    "theirs",
    [
        "https://github.com/anthropics/claude-code/issues/29011",
        "https://github.com/astral-sh/ruff-pre-commit",
        "https://mybinder.org/badge_logo.svg",
        "see repository-code: in the file",
    ],
)
def test_links_to_other_projects_stay(theirs: str) -> None:
    assert repository.rendered(theirs, ELSEWHERE) == theirs


def test_every_link_to_the_project_is_rendered_from_its_address() -> None:
    differing = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in repository.holders()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if repository.rendered(line, HOME) != line
    ]
    assert differing == [], "run: learnkit verify --refresh"


def test_the_address_is_written_nowhere_else() -> None:
    # Rendered for somebody else, no file may name this repository any more.
    slug = HOME.removeprefix("https://github.com/")
    named = re.compile(rf"(?:github\.com|/gh)/{re.escape(slug)}\b")
    holders = set(repository.holders())
    left = {
        path.relative_to(ROOT).as_posix()
        for path in tracked_files()
        if path.suffix not in {".png", ".svg", ".webp"}
        for text in [path.read_text("utf-8")]
        if named.search(repository.rendered(text, ELSEWHERE) if path in holders else text)
    }
    assert left == {"pyproject.toml"}


def test_each_lesson_and_the_readme_have_a_link_to_binder() -> None:
    for path in (*lessons(), ROOT / "README.md"):
        name = path.name if path.suffix == ".ipynb" else "s01_agent_loop.ipynb"
        slug = HOME.removeprefix("https://github.com/")
        link = f"(https://mybinder.org/v2/gh/{slug}/HEAD?labpath=learnkit-course/{name})"
        assert path.read_text("utf-8").count(link) == 1, path.name


def test_a_refresh_writes_the_address_into_every_file_and_then_nothing(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    assert list(repository.refresh(folder)) == ["README.md", "notebooks/s02_tools.ipynb"]
    assert (folder / "README.md").read_text("utf-8") == f"[run]({ELSEWHERE}/releases)\n"
    lesson = (folder / "notebooks/s02_tools.ipynb").read_text("utf-8")
    assert "https://mybinder.org/v2/gh/someone/a.fork/HEAD?" in lesson
    assert list(repository.refresh(folder)) == []


def test_the_refresh_command_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = checkout(tmp_path)
    monkeypatch.setattr(course_files, "checkout", lambda: folder)
    monkeypatch.setattr(verify, "refresh", lambda path: False)  # no lesson has to run for this
    shown = CliRunner().invoke(app, ["verify", "--refresh", "s02"])
    assert shown.output.splitlines() == [
        "README.md: links to the repository changed",
        "notebooks/s02_tools.ipynb: links to the repository changed",
        "s02_tools.ipynb: as before",
    ]


def test_the_start_page_leads_to_the_project(tmp_path: Path) -> None:
    page = startpage.notebook(tmp_path)
    assert f"({HOME}/issues/new/choose)" in page
    assert "<!-- repository -->" not in page
