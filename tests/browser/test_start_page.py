"""The start page in a real JupyterLab: its map leads to the lessons, before and after a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Page, expect


@pytest.fixture(scope="module")
def page(course: str) -> Iterator[Page]:
    with lab.browser(1280, 1000) as page:
        page.goto(f"{course}/lab/workspaces/start/tree/start.ipynb?reset")
        page.wait_for_function(lab._READY, timeout=90_000)
        yield page


def opens(page: Page, name: str) -> str:
    """Press a mechanism on the map, and return the title of the tab that comes up."""
    page.get_by_role("link", name=name, exact=True).click()
    page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.title.label !== 'start.ipynb'", timeout=30_000
    )
    title = str(page.evaluate("() => jupyterapp.shell.currentWidget.title.label"))
    page.get_by_role("tab", name="start.ipynb").click()
    return title


def test_a_mechanism_leads_to_its_lesson_before_anything_has_run(page: Page, shots: Path) -> None:
    box = page.locator(".lk-map a").first.bounding_box()
    assert box is not None
    assert box["width"] > 24
    page.screenshot(path=shots / "start-page.png")
    assert opens(page, "lesson 6, Compaction: make it shorter") == "s06_compaction.ipynb"


def test_it_does_so_after_the_cell_has_run_and_in_a_narrow_window(page: Page, shots: Path) -> None:
    page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(page.locator(".lk-map svg")).to_be_visible(timeout=60_000)
    page.set_viewport_size({"width": 900, "height": 1000})
    picture = page.locator(".lk-map svg").bounding_box()
    area = page.get_by_role("link", name="lesson 2, Tools: permission", exact=True).bounding_box()
    assert picture is not None
    assert area is not None
    shape = page.locator(".lk-map svg g", has_text="2 Tools").last.bounding_box()
    assert shape is not None
    assert abs(shape["x"] - area["x"]) < 3
    assert abs(shape["y"] - area["y"]) < 3
    page.screenshot(path=shots / "start-page-run.png")
    assert opens(page, "lesson 2, Tools: permission") == "s02_tools.ipynb"
