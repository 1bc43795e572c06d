"""The first edit in a real JupyterLab: a panel in place of an error, and what each button does.

Pictures, light, dark and on a phone, go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lab
import pytest
from playwright.sync_api import Locator, Page, expect

import learnkit as lk
from learnkit.clients.scripted import Reply

LIGHT, DARK, _ = lab.THEMES
HELLO = "Create hello.py that prints Hello World."
BYE = "Create bye.py that says Bye World."  # no invited edit
_CONTENT = "jupyterapp.shell.currentWidget.content"
#: Put another text into the place of one, in the cell that has it; return the cell's number.
EDIT = f"""([was, now]) => {{
  const at = {_CONTENT}.widgets.findIndex((cell) =>
    cell.model.type === 'code' && cell.model.sharedModel.getSource().includes(was));
  const {{ sharedModel }} = {_CONTENT}.widgets[at].model;
  sharedModel.setSource(sharedModel.getSource().replace(was, now));
  return at;
}}"""
GO = f"""async (at) => {{
  {_CONTENT}.activeCellIndex = at;
  await {_CONTENT}.scrollToItem(at, 'start');
}}"""
SOURCE = f"(at) => {_CONTENT}.widgets[at].model.sharedModel.getSource()"


class Edited:
    """A lesson in which one text was replaced; its set-up has run, and so has the edited cell."""

    def __init__(self, page: Page, course: str, file: str, was: str, now: str) -> None:
        page.set_viewport_size({"width": 1200, "height": 1000})
        self.page = page
        self.notebook = lab.Notebook(page, course, file, again=page.url.startswith(course))
        self.notebook.environ("LEARNKIT_PACE", "0")
        self.notebook.draw_all()
        self.setup = page.evaluate(EDIT, ["from learnkit import lesson"] * 2)
        self.at = page.evaluate(EDIT, [was, now])

    def run(self, at: int | None = None) -> None:
        """Run a cell, by default the edited one."""
        self.page.evaluate(GO, self.at if at is None else at)
        self.notebook.run_cell_only()

    @property
    def cell(self) -> Locator:
        self.page.evaluate(GO, self.at)
        return self.page.locator(".jp-CodeCell.jp-mod-active")

    @property
    def panel(self) -> Locator:
        return self.cell.locator(".learnkit-edit")

    def press(self, name: str) -> None:
        self.panel.get_by_role("button", name=name).click()


@pytest.fixture(scope="module")
def edited(course: str, page: Page) -> Edited:
    made = Edited(page, course, "s01_agent_loop.ipynb", HELLO, BYE)
    made.run(made.setup)
    parts = "class Agent", "def bash(", "def run(agent", "append(said)", "import agent"
    for text in parts:
        made.run(page.evaluate(EDIT, [text, text]))
    made.run()
    expect(made.panel).to_be_visible(timeout=20_000)
    return made


def test_the_panel_shows_the_difference_and_nothing_in_red(edited: Edited, shots: Path) -> None:
    panel = edited.panel
    expect(panel.locator(".head")).to_have_text(
        "No recorded reply fits this request, because it changes your prompt."
    )
    expect(panel.locator("del").first).to_have_text("hello")
    expect(panel.locator("ins").first).to_have_text("bye")
    expect(panel.locator(".ways button")).to_have_count(2)
    outputs = edited.cell.locator(".jp-OutputArea-output")
    assert edited.cell.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert "Miss" not in edited.cell.inner_text()
    assert "Traceback" not in "".join(outputs.all_inner_texts())
    assert lab.faults(edited.page, ".learnkit-edit") == []
    edited.notebook.theme(LIGHT)  # whatever the tests before have left
    panel.screenshot(path=shots / "panel-light.png")
    edited.notebook.theme(DARK)
    assert lab.faults(edited.page, ".learnkit-edit") == []
    panel.screenshot(path=shots / "panel-dark.png")
    edited.notebook.theme(LIGHT)


def test_the_learner_is_the_model_at_that_step(edited: Edited, shots: Path) -> None:
    edited.press("Be the model here")
    seat = edited.cell.locator(".learnkit-session")
    expect(seat.locator(".head")).to_contain_text("You are the model", timeout=30_000)
    seat.get_by_role("button", name="→ bash").click()
    seat.get_by_label("command").fill("echo mine > mine.py; ls")
    seat.get_by_role("button", name="send the reply").click()
    expect(seat.locator('[data-key="message 2"]')).to_contain_text("mine.py", timeout=30_000)
    seat.get_by_role("button", name="write text").click()
    seat.get_by_label("text of the reply").fill("I made another file.")
    seat.get_by_role("button", name="send the reply").click()
    expect(seat.locator(".head")).to_contain_text("The cell ran to its end.", timeout=30_000)
    expect(edited.cell).to_contain_text("I made another file.")
    edited.notebook.screenshot(shots / "panel-model.png")


def test_a_model_on_this_machine_is_asked(edited: Edited, shots: Path) -> None:
    def model(request: dict[str, Any]) -> Reply:
        if len(request["messages"]) > 1:
            return lk.say("I wrote it.")
        return lk.use("write_file", path="bye.py", content="print('Bye World')\n")

    with lk.MessagesServer(model) as server:
        edited.notebook.environ("ANTHROPIC_BASE_URL", server.url)
        edited.run()
        edited.press("Ask the model")
        expect(edited.panel.locator(".outcome")).to_contain_text(
            "answered 2 requests", timeout=30_000
        )
        expect(edited.cell).to_contain_text("I wrote it.")
        edited.notebook.screenshot(shots / "panel-asked.png")
        edited.notebook.environ("ANTHROPIC_BASE_URL", "")
    edited.run()
    expect(edited.panel.locator(".ways button")).to_have_count(2)


def test_the_change_is_undone_and_comes_back(edited: Edited, shots: Path) -> None:
    page = edited.page
    mine = page.evaluate(SOURCE, edited.at)
    edited.press("Undo my change")
    assert HELLO in page.evaluate(SOURCE, edited.at)
    expect(edited.panel.locator(".more")).to_contain_text("as it was in the lesson. Run it again")
    edited.panel.get_by_role("button", name="Put my version back").click()
    assert page.evaluate(SOURCE, edited.at) == mine
    page.evaluate(EDIT, [BYE, BYE + "!"])  # what is newer than the run is not overwritten
    edited.press("Undo my change")
    assert BYE + "!" in page.evaluate(SOURCE, edited.at)
    expect(edited.panel.locator(".more")).to_contain_text("it stays as it is")
    expect(edited.panel.get_by_role("button", name="Copy the original")).to_be_visible()
    page.evaluate(EDIT, [BYE + "!", BYE])
    page.set_viewport_size({"width": 360, "height": 800})
    edited.notebook.side_bar(False)
    wide = edited.panel
    assert wide.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    edited.notebook.screenshot(shots / "panel-phone.png")
    page.set_viewport_size({"width": 1200, "height": 1000})
    edited.press("Undo my change")
    edited.run()
    expect(edited.cell).to_contain_text("I created hello.py", timeout=20_000)
    assert edited.page.locator(".learnkit-edit").count() == 0
    assert page.errors == []  # type: ignore[attr-defined]


def test_run_all_stops_at_a_changed_prompt(course: str, page: Page) -> None:
    was = "a function hottest in parse.py"
    lesson = Edited(page, course, "s03_todo.ipynb", was, "a function coldest in parse.py")
    lesson.notebook.start_all()
    panel = page.locator(".learnkit-edit")
    expect(panel).to_be_visible(timeout=60_000)
    expect(panel.locator("ins")).to_have_text("coldest")
    page.wait_for_timeout(1500)
    code = f"{_CONTENT}.widgets.filter((cell) => cell.model.type === 'code')"
    counts = page.evaluate(f"() => {code}.map((cell) => cell.model.executionCount)")
    stopped = max(n for n in counts if n)
    assert counts[:stopped] == list(range(1, stopped + 1))
    assert set(counts[stopped:]) == {None}, "no later cell has run"
    assert page.evaluate(f"() => {_CONTENT}.widgets.some((c) => c.prompt === '*')") is False
    panel.get_by_role("button", name="Undo my change").press("Enter")  # by keyboard
    expect(panel.locator(".more")).to_contain_text("as it was in the lesson")
