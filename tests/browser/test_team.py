"""A crew in a real JupyterLab: it takes orders by click, and a picture of it is kept."""

from __future__ import annotations

import re
from pathlib import Path

import lab
from playwright.sync_api import Page, expect

CREW = """
import re
import learnkit as lk
from learnkit import lesson
from learnkit.mechanisms.autonomy.lead import additions

lab = lesson("s11")
ROLES = {"alice": "coder", "bob": "coder", "carol": "tester", "dave": "tester"}

@lk.tool
def look_at(agent, what: str, seconds: float) -> str:
    "Look at something, which takes some seconds."
    agent.clock.sleep(seconds, agent.stop)
    return "nothing unusual"

def lead(request):
    if len(request["messages"]) > 1:
        return lk.say("They find their work.", latency=1.0)
    start = [lk.use("spawn_teammate", name=n, role=r, prompt="Go.") for n, r in ROLES.items()]
    return lk.reply(*start, latency=1.0)

def worker(request):
    claimed = re.findall(r"Task #([0-9]+)", str(request["messages"][-1]["content"]))
    if not claimed:
        return lk.say("I have nothing left to do.", latency=1.0)
    done = lk.use("task_update", task_id=int(claimed[-1]), status="completed")
    return lk.reply(lk.use("look_at", what="it", seconds=5.0), done, latency=1.0)

def play(run):
    board = lk.TaskBoard(run.workspace / ".tasks")
    board.create("look at oslo", tags=["tester"])
    tools = lambda name, role: [lk.Tasks(board), lk.Toolbox(look_at)]
    team = lk.Team(run.workspace / ".team", tools, wait=False)
    autonomy = lk.Autonomy(team, board, idle=3600)  # the test may take longer than a minute
    lead = run.agent([team, autonomy])
    add = additions(board, run.events)

    def pressed(intent):
        for teammate in team.members:
            if teammate.name == intent.get("stop"):
                return teammate.stop.set()
        return add(intent)

    def all_day():
        with team:
            lead.run("Start them.")
            autonomy.wait()

    return all_day, pressed

buttons = {"work for a coder": {"add": "coder"}, "pull bob's plug": {"stop": "bob"}}
script = {"lead": lead, **dict.fromkeys(ROLES, worker)}
lab.stage("crew", play, lk.views.Team, buttons=buttons, script=script)
"""
#: Closes the lab before the crew starts; run for the second time, it ends the crew.
CLOSE = """
import threading
lab.reset() if "again" in globals() else lab.close()
again = True
print([one.name for one in threading.enumerate() if one.name in ROLES])
"""


def test_a_crew_takes_orders_while_it_runs(
    notebooks: Path, server: str, page: Page, shots: Path
) -> None:
    lab.write_notebook(notebooks / "crew.ipynb", [CREW, CLOSE])
    notebook = lab.Notebook(page, server, "crew.ipynb")
    notebook.run_all()
    view = notebook.output(0)
    expect(page.locator(".jp-OutputArea-output").last).to_contain_text("Closed: no thread")
    view.get_by_role("button", name="Start").click()
    expect(view.locator(".diagram .text[data-pair]")).to_have_count(5, timeout=15_000)
    work = view.get_by_role("button", name="work for a coder")
    work.focus()
    page.keyboard.press("Space")  # each key presses it once
    page.keyboard.press("Enter")
    expect(view.locator(".diagram .box:not(.d)[aria-label^='#3 ']")).to_have_count(1)
    expect(work).to_be_focused()
    page.keyboard.press("Tab")
    expect(view.get_by_role("button", name="pull bob's plug")).to_be_focused()
    asked = view.locator(".diagram .box:not(.d)[aria-label^='#2 ']")
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
