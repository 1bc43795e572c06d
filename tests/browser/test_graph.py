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


def states(view: Locator) -> list[str]:
    return [" ".join(text.split()) for text in view.locator(".task").all_inner_texts()]


def test_nothing_overlaps_and_all_of_it_can_be_read(notebook: lab.Notebook, shots: Path) -> None:
    for number, count in ((0, 4), (1, 38)):
        view = notebook.output(number)
        boxes = view.evaluate(
            """(view) => [...view.querySelectorAll('.learnkit-player')].flatMap((host) =>
              [...host.shadowRoot.querySelectorAll('[data-region=graph] .task')].map((e) => {
                const { left, top, right, bottom } = e.getBoundingClientRect();
                return [left, top, right, bottom, parseFloat(getComputedStyle(e).fontSize)];
              }))"""
        )
        assert len(boxes) >= count - 4
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
    view.locator(".task", has_text="#2").hover()
    paired = view.locator("[data-paired]")
    expect(paired).to_have_count(3)  # itself, and the edges to and from it
    notebook.page.mouse.move(5, 5)
    expect(paired).to_have_count(0)


def test_a_click_completes_a_task_and_what_waited_is_ready(notebook: lab.Notebook) -> None:
    view = notebook.output(0)
    head = view.locator("[aria-live]")
    assert states(view)[0].startswith("◎ #1 ready")
    view.locator(".task", has_text="#4").click()
    expect(head).to_have_text("The board refuses: task 4 is blocked by 2, 3; complete them first.")
    view.locator(".task", has_text="#1").click()
    expect(head).to_have_text("Task #1 (parse) is completed; #2 and #3 are ready now.")
    assert [text.split()[2] for text in states(view)] == [
        *("completed", "ready", "ready", "blocked", "ready"),
    ]
    changed = view.locator("[data-changed]")
    assert changed.count() >= 3  # the task, and the two that it freed
    assert all((one.bounding_box() or {"width": 0})["width"] > 50 for one in changed.all())


def test_the_keyboard_does_the_same_and_the_past_can_be_seen(notebook: lab.Notebook) -> None:
    page, view = notebook.page, notebook.output(0)
    view.locator(".task", has_text="#2").focus()
    page.keyboard.press("Enter")
    head = view.locator("[aria-live]")
    expect(head).to_have_text("Task #2 (transform) is completed.")
    view.locator(".task", has_text="#3").focus()
    page.keyboard.press("Enter")
    expect(head).to_have_text("Task #3 (emit) is completed; #4 is ready now.")
    page.keyboard.press("Home")
    expect(view.locator(".task")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    assert "#1 ready" in states(view)[0]


def test_the_bars_of_the_timeline_stand_on_one_scale(notebook: lab.Notebook, shots: Path) -> None:
    view = notebook.output(3)
    bars = view.locator(".bar")
    expect(bars).to_have_count(3)
    edges = {(round(box["x"]), round(box["width"])) for box in map(box_of, bars.all())}
    assert len(edges) == 1
    job = box_of(view.locator(".track.job .bar > i").first)
    ((left, width),) = edges
    assert abs((job["x"] - left) / width - 1 / 5) < 0.02  # it begins at 1 s of 5
    assert abs(job["width"] / width - 3 / 5) < 0.02
    expect(view.locator("[aria-live]")).to_contain_text("one after the other it is 8 s")
    notebook.shoot(3, shots / "timeline")


def box_of(one: Locator) -> dict[str, float]:
    box = one.bounding_box()
    assert box is not None
    return {"x": box["x"], "width": box["width"]}
