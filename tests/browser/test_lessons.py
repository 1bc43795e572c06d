"""Lesson 2 in a real JupyterLab: a view that grows, and what a notebook without trust shows.

Pictures, light and dark, go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import lab
from playwright.sync_api import Locator, Page, expect
from project import ROOT

#: The cell with a view, and what that says at its last step.
LIVE, LAST = "lk.views.Dispatch(run.events).live()", "bash was refused"


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
    notebook = lab.Notebook(page, course, "s02_tools.ipynb")
    opened = cell(page, "import learnkit as lk")
    notebook.command("notebook:run-cell")
    expect(opened).to_contain_text("replay", timeout=60_000)  # the first import of the SDK
    growing, seen = cell(page, LIVE), [0]
    notebook.command("notebook:run-cell")
    while not seen[-1] or len(set(seen[-40:])) > 1 or len(seen) < 40:
        seen.append(growing.locator("svg .box").count())
        page.wait_for_timeout(10)
        assert len(seen) < 2000
    assert {*seen} - {0, seen[-1]}, "the view appeared only when the run was over"


def test_an_untrusted_notebook_shows_the_static_form(
    notebooks: Path, server: str, page: Page, shots: Path
) -> None:
    shutil.copy(ROOT / "notebooks" / "s02_tools.ipynb", notebooks / "copy.ipynb")
    notebook = lab.Notebook(page, server, "copy.ipynb")
    assert page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.widgets"
        ".every((cell) => cell.model.type !== 'code' || !cell.model.trusted)"
    )
    shown = cell(page, LIVE)
    expect(shown).to_contain_text(LAST)
    picture = shown.locator("img")
    expect(picture).to_have_attribute("alt", re.compile("dispatch"))
    assert picture.evaluate("(image) => image.naturalWidth") > 300
    for theme in lab.THEMES[:2]:
        notebook.theme(theme)
        notebook.screenshot(shots / f"untrusted-{theme.split()[-1].lower()}.png")
