"""The start page in a real JupyterLab: its map leads to the lessons, before and after a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Locator, Page, expect


@pytest.fixture(scope="module")
def page(course: str) -> Iterator[Page]:
    with lab.browser(1280, 1000) as page:
        page.goto(f"{course}/lab/workspaces/start/tree/start.ipynb?reset")
        page.wait_for_function(lab._READY, timeout=90_000)
        yield page


def opens(page: Page, lesson: int) -> str:
    """Press a lesson's row on the map, and return the title of the tab that comes up."""
    row(page, lesson).click()
    page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.title.label !== 'start.ipynb'", timeout=30_000
    )
    title = str(page.evaluate("() => jupyterapp.shell.currentWidget.title.label"))
    page.get_by_role("tab", name="start.ipynb").click()
    return title


def row(page: Page, lesson: int) -> Locator:
    return page.locator(".lk-map").get_by_role("link", name=f"lesson {lesson}, ")


def test_a_row_leads_to_its_lesson_before_anything_has_run(page: Page, shots: Path) -> None:
    box = row(page, 6).bounding_box()
    assert box is not None
    assert box["width"] > 24
    page.screenshot(path=shots / "start-page.png")
    assert opens(page, 6) == "s06_compaction.ipynb"


def test_it_does_so_after_the_cell_has_run_and_in_a_narrow_window(page: Page, shots: Path) -> None:
    page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(page.locator(".lk-map img:visible")).to_have_count(1, timeout=60_000)
    page.evaluate("() => jupyterapp.shell.collapseLeft()")
    page.set_viewport_size({"width": 360, "height": 1000})
    page.wait_for_timeout(1000)  # JupyterLab lays out its panels anew
    for cell in page.locator(".jp-OutputArea-output table :is(td, th)").all():
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), cell.inner_text()
    output = page.locator(".jp-OutputArea-output").last
    assert output.evaluate("one => one.scrollWidth <= one.clientWidth"), "nothing is cut"
    page.screenshot(path=shots / "start-page-run.png")
    assert opens(page, 2) == "s02_tools.ipynb"
