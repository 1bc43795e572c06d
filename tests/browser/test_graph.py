"""The task graph in a real JupyterLab: what the pointer, a click and a key do."""

from __future__ import annotations

from pathlib import Path

import lab
import pytest
from playwright.sync_api import Locator, Page, expect

DIAMOND = """
import tempfile
import learnkit as lk
from learnkit.mechanisms.tasks import clicks

board, log = lk.TaskBoard(tempfile.mkdtemp()), lk.EventLog()
for name in ("parse", "transform", "emit", "test", "thank the keepers"):
    board.create(name)
board.update(1, add_blocks=[2, 3])
board.update(4, add_blocked_by=[2, 3])
log.append("board.opened", tasks=[task.to_json() for task in board.tasks()])
board.news()
with lk.views.Tasks(log, on_intent=clicks(board, log)).live():
    pass
"""


@pytest.fixture(scope="module")
def notebook(notebooks: Path, server: str, page: Page) -> lab.Notebook:
    lab.write_notebook(notebooks / "graph.ipynb", [DIAMOND])
    one = lab.Notebook(page, server, "graph.ipynb")
    one.run_all()
    return one


def tasks(view: Locator) -> Locator:
    return view.locator(".diagram .box[aria-label^='#']")


def task(view: Locator, id: int) -> Locator:
    return view.locator(f".diagram .box[aria-label^='#{id} ']")


def states(view: Locator) -> list[str]:
    """What each task is called, as a screen reader hears it."""
    found: list[str] = tasks(view).evaluate_all("(all) => all.map((e) => e.ariaLabel)")
    return sorted(found)


def test_hovering_a_task_shows_its_neighbours(notebook: lab.Notebook) -> None:
    view = notebook.output(0)
    task(view, 2).hover()
    paired = view.locator("[data-paired]")
    expect(paired).to_have_count(3)  # itself, and the edges to and from it
    outlines = paired.evaluate_all("(all) => all.map((e) => getComputedStyle(e).outlineStyle)")
    assert sorted(outlines) == ["none", "none", "solid"]  # a box around an arrow crosses others
    notebook.page.mouse.move(5, 5)
    expect(paired).to_have_count(0)


def test_a_click_completes_a_task_and_what_waited_is_ready(notebook: lab.Notebook) -> None:
    view = notebook.output(0)
    head = view.locator("[aria-live]")
    assert states(view)[0] == "#1 parse: ready"
    task(view, 4).click()
    expect(head).to_contain_text("The board refuses: task 4 is blocked by 2, 3; complete them")
    task(view, 1).click()
    expect(head).to_have_text("1 of 5 tasks completed; ready: #2, #3, #5.")
    assert [text.partition(": ")[2].partition(".")[0] for text in states(view)] == [
        *("completed", "ready", "ready", "waits for #2, #3", "ready"),
    ]
    changed = view.locator(".box[data-changed]")
    assert changed.count() == 3  # the task, and the two that it freed


def test_the_keyboard_does_the_same_and_the_past_can_be_seen(notebook: lab.Notebook) -> None:
    page, view = notebook.page, notebook.output(0)
    task(view, 2).focus()
    page.keyboard.press("Enter")
    head = view.locator("[aria-live]")
    expect(head).to_have_text("2 of 5 tasks completed; ready: #3, #5.")
    task(view, 3).focus()
    page.keyboard.press("Enter")
    expect(head).to_have_text("3 of 5 tasks completed; ready: #4, #5.")
    page.keyboard.press("Home")
    expect(tasks(view)).to_have_count(0)
    page.keyboard.press("ArrowRight")
    assert states(view)[0].startswith("#1 parse: ready")
