"""Title, minutes and promise of a lesson are written in its data file; what shows them agrees."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from project import ROOT

from learnkit.course import files
from learnkit.course.content import Lesson, load
from learnkit.course.display.card import inline
from learnkit.course.progress import lesson_progress
from learnkit.course.workbook import start_page
from learnkit.views.drawing.text import esc

LESSONS = {path: load(name) for name, path in files.named(ROOT / "notebooks").items()}
TITLES = {
    path.name: f"{files.name(path).removeprefix('s').lstrip('0')} · {one.title}"
    for path, one in LESSONS.items()
}


def texts(path: Path) -> list[str]:
    """The notebook's Markdown cells."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


@pytest.mark.parametrize(("path", "lesson"), LESSONS.items(), ids=TITLES)
def test_a_notebook_begins_with_what_its_data_file_says(path: Path, lesson: Lesson) -> None:
    first = texts(path)[0].splitlines()
    assert first[0] == f"# {TITLES[path.name]}"
    assert f"**{lesson.promise}**" in first
    assert [one for one in first if one.startswith(f"{lesson.minutes} minutes")]


def test_links_to_lessons_name_them_as_they_are_called() -> None:
    for path in LESSONS:
        for text in texts(path):
            for said, file in re.findall(r"\[(\d+ · [^\]]*)\]\((s\d\d_\w+\.ipynb)\)", text):
                assert said == TITLES[file], path.name


def test_the_readme_has_a_row_for_each_lesson() -> None:
    rows = re.findall(r"^\| \[b?\d+ · .*\n", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert rows == [
        f"| [{TITLES[path.name]}]({path.relative_to(ROOT)}) | {one.promise} {one.minutes} min |\n"
        for path, one in LESSONS.items()
    ]


def test_the_start_page_shows_what_the_data_file_says() -> None:
    page = start_page.contents(folder=ROOT / "notebooks").html
    for row in lesson_progress(ROOT / "notebooks"):
        one = row.lesson
        link = f'<a href="{row.file}" title="{esc(one.promise)}">{row.number} · {one.title}</a>'
        assert link in page
        assert inline(one.adds) in page
        assert f">{one.minutes}\u00a0min<" in page
