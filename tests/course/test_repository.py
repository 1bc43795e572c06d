"""The repository's address is stated once, and every link to the project names it."""

from __future__ import annotations

import re
from pathlib import Path

from project import ROOT, lessons, pyproject, tracked_files

from learnkit.course.publish import repository
from learnkit.course.workbook import start_page as startpage

HOME = pyproject()["project"]["urls"]["Repository"]
#: Links to this project, whatever repository they name: Binder's, and GitHub's pages about a
#: repository as a whole. A link to one issue or file belongs to another project.
OURS = re.compile(
    r"https://mybinder\.org/v2/gh/([\w.-]+/[\w.-]+)/HEAD"
    r"|https://github\.com/([\w.-]+/[\w.-]+)"
    r"/(?:actions/workflows|compare|discussions|issues/new|releases|security/advisories)\b"
    r"|^repository-code: \"https://github\.com/([\w.-]+/[\w.-]+)\"$",
    re.MULTILINE,
)


def test_the_address_is_the_one_in_pyproject() -> None:
    assert repository.address() == HOME
    assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", HOME)


def test_every_link_to_the_project_names_its_repository() -> None:
    slug = HOME.removeprefix("https://github.com/")
    texts = [path for path in tracked_files() if path.suffix in (".md", ".ipynb", ".cff", ".yml")]
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in texts
        for match in OURS.finditer(path.read_text("utf-8"))
        for name in filter(None, match.groups())
        if path.parts[len(ROOT.parts)] != "tests"
    }
    assert {name for _, name in found} == {slug}
    assert {"README.md", "CITATION.cff", "notebooks/s01_agent_loop.ipynb"} <= {p for p, _ in found}


def test_each_lesson_and_the_readme_have_a_link_to_binder() -> None:
    for path in (*lessons(), ROOT / "README.md"):
        name = path.name if path.suffix == ".ipynb" else "s01_agent_loop.ipynb"
        slug = HOME.removeprefix("https://github.com/")
        link = f"(https://mybinder.org/v2/gh/{slug}/HEAD?labpath=learnkit-course/{name})"
        assert path.read_text("utf-8").count(link) == 1, path.name


def test_the_start_page_leads_to_the_project(tmp_path: Path) -> None:
    page = startpage.notebook(tmp_path)
    assert f"({HOME}/issues/new/choose)" in page
    assert "<!-- repository -->" not in page
