"""Lesson 1 in a real JupyterLab: a view that grows, and what a notebook without trust shows.

Pictures, light and dark, go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import lab
from playwright.sync_api import Locator, Page, expect
from project import ROOT

#: What the first view of a run says at its last step.
LAST = "Each request carries the whole array again: 4 requests"


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


def test_the_view_grows_while_the_cell_runs(course: str, page: Page) -> None:
    notebook = lab.Notebook(page, course, "s01_agent_loop.ipynb")
    seen = set()
    cell(page, "import learnkit as lk")
    notebook.command("notebook:run-cell")
    opened = cell(page, "import learnkit as lk")
    expect(opened).to_contain_text("replay", timeout=60_000)  # the first import of the SDK
    for text in (
        "class Agent",
        "def bash(command: str) -> str:\n    print",
        "def run(agent",
        "import agent",
    ):
        cell(page, text)
        notebook.command("notebook:run-cell")
    growing = cell(page, "lk.views.Messages(run.events).live()")
    notebook.command("notebook:run-cell")
    for _ in range(400):
        seen.add(growing.locator(".msg").count())
        if 7 in seen:
            break
        page.wait_for_timeout(10)
    assert 7 in seen
    assert len(seen - {0, 7}) >= 1, "the view appeared only when the run was over"


def test_an_untrusted_notebook_shows_the_static_form(
    notebooks: Path, server: str, page: Page, shots: Path
) -> None:
    shutil.copy(ROOT / "notebooks" / "s01_agent_loop.ipynb", notebooks / "copy.ipynb")
    notebook = lab.Notebook(page, server, "copy.ipynb")
    assert page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.widgets"
        ".every((cell) => cell.model.type !== 'code' || !cell.model.trusted)"
    )
    shown = cell(page, "lk.views.Messages(run.events).live()")
    expect(shown).to_contain_text(LAST)
    picture = shown.locator("img")
    expect(picture).to_have_attribute("alt", re.compile("message array"))
    assert picture.evaluate("(image) => image.naturalWidth") > 300
    for theme in lab.THEMES[:2]:
        notebook.theme(theme)
        notebook.screenshot(shots / f"untrusted-{theme.split()[-1].lower()}.png")
