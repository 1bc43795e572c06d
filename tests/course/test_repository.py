"""The repository's address is written once, and every link to the project is made from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from project import ROOT, lessons, pyproject, tracked_files

from learnkit.course.publish import repository

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
