"""The start page: the lessons there are, what has been done, and what comes next."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from project import ROOT

import learnkit as lk
from learnkit.course.content import load
from learnkit.course.progress import Progress, lesson_progress
from learnkit.course.workbook import folder as workbook
from learnkit.course.workbook import start_page as startpage
from learnkit.course.workbook.start_page import summary

COURSE = ROOT / "notebooks"


@pytest.fixture
def progress(tmp_path: Path) -> Progress:
    return Progress(tmp_path / "progress.json")


def finish(progress: Progress, name: str) -> None:
    for number in ("1", "2", "3"):
        progress.note(name, "exercises", number)
    for number, question in enumerate(load(name).quiz, start=1):
        progress.note(name, "quiz", f"q{number}", question.right)


def states(progress: Progress) -> list[str]:
    return [row.state for row in lesson_progress(COURSE, progress)]


def test_a_lesson_is_new_then_begun_then_finished(progress: Progress) -> None:
    assert states(progress) == ["new"] * 12
    progress.note("s02", "opened", "lesson")
    assert states(progress)[:3] == ["new", "begun", "new"]
    finish(progress, "s02")
    assert states(progress)[:3] == ["new", "finished", "new"]
    assert lesson_progress(COURSE, progress)[1].right == 3
    progress.note("s02", "quiz", "q1", "a" if load("s02").quiz[0].right != "a" else "b")
    assert states(progress)[1] == "finished", "answered is enough"
    assert lesson_progress(COURSE, progress)[1].right == 2


def test_wrong_answers_and_unknown_names_do_not_count(progress: Progress) -> None:
    wrong = "a" if load("s01").quiz[0].right != "a" else "b"
    for kind, name in (("quiz", "q9"), ("exercises", "7")):
        progress.note("s01", kind, name, "a")
    progress.note("s01", "quiz", "q1", wrong)
    row = lesson_progress(COURSE, progress)[0]
    assert (row.passed, row.answered, row.right) == (0, 1, 0)


def test_the_summary_says_what_comes_next(progress: Progress) -> None:
    def said() -> str:
        return summary(lesson_progress(COURSE, progress))

    assert said() == "12 lessons, about 10 hours and the exercises. Begin with lesson 1."
    finish(progress, "s01")
    time = "about 9 hours and the exercises to go"
    first = f"1 of 12 lessons finished, {time}; next comes lesson 2, Tools."
    assert said() == first
    progress.note("s04", "opened", "lesson")
    assert said().endswith("go on with lesson 4, Subagents.")
    for number in range(2, 12):
        finish(progress, f"s{number:02}")
    minutes = load("s12").minutes
    assert f"{minutes} minutes and the exercises to go; next comes lesson 12" in said()
    finish(progress, "s12")
    assert said() == "You have finished 12 lessons: all there are."


def test_the_contents_show_what_a_lab_has_noted(tmp_path: Path) -> None:
    shown = lk.contents(folder=COURSE)
    assert shown.live is not None
    assert shown.live() == {"text/html": shown.html}
    assert cells(shown.html, 1)[2:4] == ["○○", "–"]
    lab = lk.lesson("s01")
    try:
        lab.remember("opened", "lesson")
        assert lk.contents(folder=COURSE).html == shown.html, "what is static leaves no trace"
        lab.static = False
        lab.remember("quiz", "q1", "a")
        lab.remember("exercises", "1")
    finally:
        lab.close()
    html = lk.contents(folder=COURSE).html
    assert lk.contents(folder=tmp_path).html == html, "also outside of a working copy"
    assert cells(html, 1) == [
        "▶ 1 · The agent loop",
        "45\u00a0min",
        "✓○",
        "1 of 3",
        "–",
        "the loop, and one tool: bash",
    ]


def cells(html: str, lesson: int) -> list[str]:
    """The texts of a lesson's row."""
    (row,) = re.findall(rf"<tr[^>]*>((?:(?!</tr>).)*>{lesson} · .*?)</tr>", html)
    return [re.sub("<[^>]+>", "", one) for one in re.findall("<td.*?>(.*?)</td>", row)]


def test_the_workbook_holds_copies_a_start_page_and_the_words(tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert list(workbook.update(COURSE, work)) == []
    names = {path.name for path in work.glob("*.ipynb")}
    assert names == {path.name for path in COURSE.glob("*.ipynb")} | {
        startpage.NAME,
        workbook.GLOSSARY,
    }
    for name in (startpage.NAME, workbook.GLOSSARY):
        nbformat.validate(nbformat.read(work / name, as_version=4))
    links = {
        target
        for name in names
        for cell in nbformat.read(work / name, as_version=4).cells
        if cell.cell_type == "markdown"
        for target in links_in(cell.source)
    }
    assert startpage.NAME in {link.partition("#")[0] for link in links}
    for link in links:
        path = link.partition("#")[0]
        assert not path or (work / path).exists(), f"{link}: no such page in a working copy"


def links_in(text: str) -> list[str]:
    bare = re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)
    return [one for one in re.findall(r"\]\(([^)\s]+)\)", bare) if not one.startswith("http")]


def test_jupyterlab_serves_the_learners_folder_or_the_clone_that_it_is_in(tmp_path: Path) -> None:
    lesson = "s03_todo.ipynb"
    root, page, tabs = workbook.options(tmp_path, lesson)
    assert root == f"--ServerApp.root_dir={tmp_path}"
    assert page == "--LabApp.default_url=/lab/tree/s03_todo.ipynb"
    assert tabs == f"--LabApp.workspaces_dir={tmp_path / workbook.WORKSPACES}"
    root, page, _ = workbook.options(ROOT / "my course", lesson)
    assert root == f"--ServerApp.root_dir={ROOT}"
    assert page == "--LabApp.default_url=/lab/tree/my%20course/s03_todo.ipynb"
