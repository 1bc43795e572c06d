"""The task graph and the timeline in a real JupyterLab: where things stand, and what a click does.

Pictures, light and dark, of a small and a large graph, of the timeline and of their static forms,
go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

from itertools import combinations
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
FORTY = """
import random
chance, tasks = random.Random(2), []
for id in range(1, 41):
    many = chance.choice([1, 1, 1, 2]) if id > 3 and id % 9 else 0
    after = chance.sample(range(max(1, id - 12), id), many)
    status = "completed" if id < 12 else "in_progress" if id == 12 else "pending"
    tasks.append({"id": id, "subject": f"step {id}", "status": status, "blockedBy": after})
forty = lk.EventLog()
forty.append("board.opened", tasks=tasks)
graph = lk.views.Tasks(forty)
with graph.live():
    pass
"""
STATIC = "from IPython.display import HTML\nHTML(graph.html())"
TIMES = """
jobs = lk.Background(workspace=tempfile.mkdtemp())
start = lk.reply(*(lk.use("background_run", command=f"sleep {n}") for n in (3, 1)))
agent = lk.Agent(lk.scripted([start, *[lk.say("waiting")] * 3]), [jobs])
with lk.views.Timeline(agent.events).live():
    agent.run("Start two sleeps.")
"""


@pytest.fixture(scope="module")
def notebook(notebooks: Path, server: str, page: Page) -> lab.Notebook:
    lab.write_notebook(notebooks / "graph.ipynb", [DIAMOND, FORTY, STATIC, TIMES])
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


def test_nothing_overlaps_and_all_of_it_can_be_read(notebook: lab.Notebook, shots: Path) -> None:
    for number, count in ((0, 5), (1, 40)):
        boxes = tasks(notebook.output(number)).evaluate_all(
            """(all) => all.map((e) => {
              const { left, top, right, bottom } = e.querySelector("rect").getBoundingClientRect();
              const size = parseFloat(getComputedStyle(e.querySelector("text")).fontSize);
              return [left, top, right, bottom, size];
            })"""
        )
        assert len(boxes) == count
        for one, other in combinations(boxes, 2):
            assert (
                one[2] <= other[0] + 0.5
                or other[2] <= one[0] + 0.5
                or one[3] <= other[1] + 0.5
                or other[3] <= one[1] + 0.5
            )
        assert all(right - left > 50 and bottom - top > 20 for left, top, right, bottom, _ in boxes)
        assert all(size >= 12 for *_, size in boxes)
    notebook.shoot(0, shots / "graph")
    notebook.shoot(1, shots / "graph-40")
    notebook.shoot(2, shots / "graph-static")


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
    assert states(view)[0] == "#1 parse: ready. Press to complete it"
    task(view, 4).click()
    expect(head).to_contain_text("The board refuses: task 4 is blocked by 2, 3; complete them")
    task(view, 1).click()
    expect(head).to_have_text("1 of 5 tasks completed; ready: #2, #3, #5; 1 waiting.")
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
    expect(head).to_have_text("2 of 5 tasks completed; ready: #3, #5; 1 waiting.")
    task(view, 3).focus()
    page.keyboard.press("Enter")
    expect(head).to_have_text("3 of 5 tasks completed; ready: #4, #5.")
    page.keyboard.press("Home")
    expect(tasks(view)).to_have_count(0)
    page.keyboard.press("ArrowRight")
    assert states(view)[0].startswith("#1 parse: ready")


def test_the_bars_of_the_timeline_stand_on_one_scale(notebook: lab.Notebook, shots: Path) -> None:
    view = notebook.output(3)
    jobs = view.locator(".box[aria-label^='Job'] > rect")
    expect(jobs).to_have_count(2)
    notebook.page.wait_for_timeout(500)  # until nothing moves to its place any more
    places = [box_of(one) for one in jobs.all()]
    (turns,) = map(box_of, view.locator(".box[aria-label*='turns'] > rect").all())
    second = turns["width"] / 3  # the first three turns, from 0 s on
    for job, seconds in zip(places, (3, 1), strict=True):
        assert abs(job["x"] - turns["x"] - second) < 2
        assert abs(job["width"] - seconds * second) < 3
    expect(view.locator("[aria-live]")).to_contain_text(
        "than the 6 s that it takes one after the other"
    )
    notebook.shoot(3, shots / "timeline")


def box_of(one: Locator) -> dict[str, float]:
    box = one.bounding_box()
    assert box is not None
    return {"x": box["x"], "width": box["width"]}
