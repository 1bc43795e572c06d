"""Lesson 1 in a real JupyterLab, opened as the README says and used as a learner would.

Pictures, in light, dark and high contrast, go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import lab
import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect
from project import ROOT

from learnkit.course.lessons import load

LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("s[0-9][0-9]_*.ipynb"))
#: What the first view of a run says at its last step.
LAST = "Each request carries the whole array again: 2 requests"
RUN = "Create hello.py that prints Hello World."


@pytest.fixture(scope="module")
def lesson1(course: str, page: Page) -> lab.Notebook:
    notebook = lab.Notebook(page, course, "s01_agent_loop.ipynb")
    notebook.run_all()
    return notebook


def cell(page: Page, text: str) -> Locator:
    """The code cell with this text; JupyterLab draws only the cells that are near."""
    page.evaluate(
        """async (text) => {
          const notebook = jupyterapp.shell.currentWidget.content;
          const at = notebook.widgets.findIndex((cell) =>
            cell.model.type === 'code' && cell.model.sharedModel.getSource().includes(text));
          notebook.activeCellIndex = at;
          await notebook.scrollToItem(at, 'start');
        }""",
        text,
    )
    found = page.locator(".jp-CodeCell.jp-mod-active")
    expect(found).to_contain_text(text.splitlines()[0])
    return found


def test_the_view_can_be_scrubbed_and_played(lesson1: lab.Notebook, shots: Path) -> None:
    page = lesson1.page
    view = cell(page, "def solve(name, task)").locator(".jp-OutputArea-output").first
    cards, head = view.locator(".msg"), view.locator("[aria-live]")
    expect(cards).to_have_count(5)  # the system prompt, and four messages
    expect(head).to_contain_text(LAST)
    slider = view.locator("input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    expect(cards).to_have_count(0)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(view.get_by_text(RUN, exact=True)).to_be_visible()
    expect(head).not_to_contain_text(LAST)
    page.keyboard.press("End")
    expect(cards).to_have_count(5)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(cards).to_have_count(5, timeout=30_000)  # it plays to the end by itself
    for theme in lab.THEMES[:2]:
        lesson1.theme(theme)
        view.screenshot(path=shots / f"messages-{theme.split()[-1].lower()}.png")
    lesson1.theme(lab.THEMES[0])


def test_a_prediction_is_taken_and_revealed(lesson1: lab.Notebook) -> None:
    page = lesson1.page
    cell(page, 'lab.predict("p1")').get_by_role("button", name=re.compile("Nothing")).click()
    expect(cell(page, 'lab.predict("p1")')).to_contain_text("noted: c")
    revealed = cell(page, 'lab.reveal("p1")')
    lesson1.command("notebook:run-cell")
    expect(revealed).to_contain_text("Right. The model wrote down")


def test_an_exercise_is_passed_by_its_solution(lesson1: lab.Notebook) -> None:
    page, solution = lesson1.page, load("s01").exercises[0].solution
    checked = cell(page, "check_1(bounded_loop)")
    expect(checked).to_contain_text("not yet")
    stub = cell(page, "def bounded_loop")
    page.evaluate(
        "(text) => jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel"
        ".setSource(text)",
        solution,
    )
    expect(stub).to_contain_text("turn_limit")
    lesson1.command("notebook:run-cell")
    checked = cell(page, "check_1(bounded_loop)")
    lesson1.command("notebook:run-cell")
    expect(checked).to_contain_text("✓ exercise 1")


def test_the_view_grows_while_the_cell_runs(course: str, page: Page, tmp_path: Path) -> None:
    notebook = lab.Notebook(page, course, "s01_agent_loop.ipynb")
    seen = set()
    cell(page, "import learnkit as lk")
    notebook.command("notebook:run-cell")
    expect(cell(page, "import learnkit as lk")).to_contain_text("replay")
    growing = cell(page, "def solve(name, task)")
    notebook.command("notebook:run-cell")
    for _ in range(400):
        seen.add(growing.locator(".msg").count())
        if 5 in seen:
            break
        page.wait_for_timeout(10)
    assert 5 in seen
    assert len(seen - {0, 5}) >= 1, "the view appeared only when the run was over"


def test_an_untrusted_notebook_shows_the_static_form(
    notebooks: Path, server: str, page: Page, shots: Path
) -> None:
    shutil.copy(ROOT / "notebooks" / "s01_agent_loop.ipynb", notebooks / "copy.ipynb")
    notebook = lab.Notebook(page, server, "copy.ipynb")
    assert page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.widgets"
        ".every((cell) => cell.model.type !== 'code' || !cell.model.trusted)"
    )
    shown = cell(page, "def solve(name, task)")
    expect(shown).to_contain_text(LAST)
    picture = shown.locator("img")
    expect(picture).to_have_attribute("alt", re.compile("message array"))
    assert picture.evaluate("(image) => image.naturalWidth") > 300
    for theme in lab.THEMES[:2]:
        notebook.theme(theme)
        notebook.screenshot(shots / f"untrusted-{theme.split()[-1].lower()}.png")


def test_no_notebook_of_the_checkout_was_touched() -> None:
    for name in LESSONS:
        notebook = nbformat.read(ROOT / "notebooks" / name, as_version=4)
        assert "widgets" not in notebook.metadata
