"""The views of a team in a real JupyterLab: eight teammates, and a crew that takes orders by click.

Pictures, light and dark, of traffic, protocols and lanes go to the folder that LEARNKIT_SHOTS
names.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Locator, Page, expect

EIGHT = """
import tempfile
from pathlib import Path
import learnkit as lk

names = [f"mate{number}" for number in range(8)]
spawns = [lk.use("spawn_teammate", name=n, role="coder", prompt="Begin.") for n in names]
letter = lambda n: [lk.use("send_message", to=names[n - 7], content=f"hello from {n}")]
lanes = {name: [*letter(n), *[lk.say("done")] * 9] for n, name in enumerate(names)}
stop = lk.use("shutdown_request", teammate="mate1")
lanes["lead"] = [lk.reply(*spawns), stop, lk.use("broadcast", content="hi"), *[lk.say("…")] * 30]
agree = lk.use("shutdown_response", request_id="r0000001", approve=True)
lanes["mate1"] = [lk.say("ready", latency=3.0), agree]
folder = Path(tempfile.mkdtemp())
client = lk.scripted(lanes)
with client.clock, lk.Team(folder, lambda name, role: []) as team:
    lead = lk.Agent(client, [team, lk.Protocols(team)])
    lead.run("Go.")
with lk.views.Traffic(lead.events).live():
    pass
"""
REQUESTS = "with lk.views.Protocol(lead.events).live():\n    pass"
LANES = "with lk.views.Team(lead.events).live():\n    pass"
CREW = """
import learnkit as lk
from learnkit import lesson
from learnkit.mechanisms.autonomy.lead import additions
from learnkit.course.lessons.s11 import crew

lab = lesson("s11")

def play(run):
    board = lk.TaskBoard(run.workspace / ".tasks")
    board.create("look at oslo", tags=["tester"])
    tools = lambda name, role: [lk.Tasks(board), lk.Toolbox(crew.look_at)]
    team = lk.Team(run.workspace / ".team", tools, wait=False)
    autonomy = lk.Autonomy(team, board, idle=3600)  # the test may take longer than a minute
    lead = run.agent([team, autonomy])
    add = additions(board, run.events)

    def pressed(intent):
        for mate in team.members:
            if mate.name == intent.get("stop"):
                return mate.stop.set()
        return add(intent)

    def all_day():
        with team:
            lead.run("Start them.")
            autonomy.wait()

    return all_day, pressed

buttons = {"work for a coder": {"add": "coder"}, "pull bob's plug": {"stop": "bob"}}
lab.stage("crew", play, lk.views.Team, buttons=buttons, script=crew.lanes())
"""
#: Closes the lab before the crew starts; run for the second time, it ends the crew.
CLOSE = """
import threading
lab.reset() if "again" in globals() else lab.close()
again = True
print([one.name for one in threading.enumerate() if one.name in crew.ROLES])
"""


@pytest.fixture(scope="module")
def notebook(notebooks: Path, server: str, page: Page) -> lab.Notebook:
    lab.write_notebook(notebooks / "team.ipynb", [EIGHT, REQUESTS, LANES])
    one = lab.Notebook(page, server, "team.ipynb")
    one.run_all()
    return one


def boxes(view: Locator, selector: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each element, in pixels."""
    found: list[tuple[float, float, float, float]] = view.evaluate(
        """(view, selector) => [...view.querySelectorAll('.learnkit-player')].flatMap((host) =>
          [...host.shadowRoot.querySelectorAll(selector)].map((e) => {
            const { left, top, right, bottom } = e.getBoundingClientRect();
            return [left, top, right, bottom];
          }))""",
        selector,
    )
    return found


def test_the_columns_of_nine_agents_stand_side_by_side(notebook: lab.Notebook, shots: Path) -> None:
    view = notebook.output(0)
    heads = boxes(view, ".box > rect")
    assert len(heads) == 9
    assert all(one[2] <= other[0] for one, other in pairwise(heads))
    assert all(right - left > 30 and bottom - top > 20 for left, top, right, bottom in heads)
    arrows = boxes(view, ".edge[data-pair] > path")
    assert arrows
    middles = [(left + right) / 2 for left, _, right, _ in heads]
    for left, _, right, _ in arrows:  # each begins and ends at somebody's line
        assert min(abs(left - x) for x in middles) < 12  # or at the tick before it
        assert min(abs(right - x) for x in middles) < 12
    notebook.shoot(0, shots / "traffic")


def test_after_a_leap_only_the_last_step_is_marked(notebook: lab.Notebook) -> None:
    for number, most, said in ((0, 1, "messages, "), (2, 1, "shut down")):  # mate7's lane ends
        view = notebook.output(number)
        expect(view.locator("[aria-live]")).to_contain_text(said)
        assert view.locator("[data-changed]").count() <= most


def paired(view: Locator, edge: Locator) -> int:
    """How much is marked with an edge that the pointer is on, once the picture has its width."""
    for _ in range(20):
        edge.hover(force=True)
        if found := view.locator("[data-paired]").count():
            return found
        view.page.mouse.move(5, 5)
        view.page.wait_for_timeout(100)
    return 0


def test_a_request_is_paired_with_its_answer(notebook: lab.Notebook, shots: Path) -> None:
    view = notebook.output(0)
    assert paired(view, view.locator(".edge[aria-label*='shut down']").first) >= 2
    notebook.page.mouse.move(5, 5)
    requests = notebook.output(1)
    expect(requests.locator(".edge[aria-label]")).to_have_count(2)
    expect(requests.locator("[aria-live]")).to_contain_text("mate1 approves shutdown r0000001")
    assert paired(requests, requests.locator(".edge[aria-label]").last) >= 4
    notebook.shoot(1, shots / "protocol")


def test_the_lanes_of_nine_agents_stand_under_each_other(
    notebook: lab.Notebook, shots: Path
) -> None:
    lanes = boxes(notebook.output(2), ".diagram .text[data-pair]")
    assert len(lanes) == 9
    assert all(one[3] <= other[1] + 1 for one, other in pairwise(lanes))
    names = notebook.output(2).locator(".diagram .text[data-pair] > text").all_text_contents()
    assert names == ["lead", *(f"mate{number}" for number in range(8))]
    notebook.shoot(2, shots / "lanes")


def test_a_crew_takes_orders_while_it_runs(
    notebooks: Path, server: str, page: Page, shots: Path
) -> None:
    # A notebook of its own, so that the crew begins now: who waits for too long goes home.
    lab.write_notebook(notebooks / "crew.ipynb", [CREW, CLOSE])
    notebook = lab.Notebook(page, server, "crew.ipynb", again=True)
    notebook.run_all()
    view = notebook.output(0)
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text("Closed: no thread")
    view.get_by_role("button", name="Start").click()
    expect(view.locator(".diagram .text[data-pair]")).to_have_count(5, timeout=15_000)
    work = view.get_by_role("button", name="work for a coder")
    work.focus()
    page.keyboard.press("Space")  # each key presses it once
    page.keyboard.press("Enter")
    expect(view.locator(".diagram .box[aria-label^='#3 ']")).to_have_count(1)
    expect(work).to_be_focused()
    page.keyboard.press("Tab")
    expect(view.get_by_role("button", name="pull bob's plug")).to_be_focused()
    asked = view.locator(".diagram .box[aria-label^='#2 ']")
    expect(asked).to_have_attribute("aria-label", re.compile("completed"), timeout=60_000)
    view.get_by_role("button", name="pull bob's plug").click()
    bob = view.locator(".diagram [aria-label^='bob, ']")
    expect(bob).to_have_attribute("aria-label", re.compile("shutdown"), timeout=15_000)
    carol = view.locator(".diagram [aria-label^='carol, ']")
    expect(carol).not_to_have_attribute("aria-label", re.compile("shutdown"))
    notebook.shoot(0, shots / "crew")
    page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    notebook.command("notebook:run-cell")
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text("[]", timeout=15_000)
