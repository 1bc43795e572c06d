"""Be the model in a real JupyterLab: a game with the mouse, one by keyboard, and what goes wrong.

Pictures of each step, light and dark, go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

import re
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Locator, Page, expect

LIGHT, DARK, _ = lab.THEMES
GAME = """
import tempfile, threading, time
from pathlib import Path
import learnkit as lk
from learnkit.course.content import Game, Remark
from learnkit.course.games.be_the_model.panel import BeTheModel

folder = Path(tempfile.mkdtemp())
(folder / "beijing.csv").write_text("city,temp\\nBeijing,31.4\\n")

def tools(_):
    return [lk.CodingTools(folder)]

def judge(_, messages):
    turns = len(messages) // 2
    return [Remark(False, "There is no email."), Remark(None, f"It took {turns} turns.")]

prompt, ready = "If it is above 30 °C in Beijing, mail me.", {"bash": {"command": "date"}}
game = BeTheModel(Game(prompt, tools, [], "You watch the weather.", judge, ready))
game
"""
#: Goes on until the test says so.
BUSY = """
end = time.monotonic() + 60
while not Path("go").exists() and time.monotonic() < end:
    time.sleep(0.05)
"""


@pytest.fixture(scope="module", autouse=True)
def games(notebooks: Path) -> None:
    for name in ("mouse", "keyboard", "narrow"):
        lab.write_notebook(notebooks / f"{name}.ipynb", [GAME])
    lab.write_notebook(notebooks / "busy.ipynb", [GAME, BUSY])


def start(page: Page, server: str, name: str, by: str = "Start") -> tuple[lab.Notebook, Locator]:
    """Open a notebook, run its cells and start its game; return them when the game waits."""
    notebook = lab.Notebook(page, server, f"{name}.ipynb", again=page.url.startswith(server))
    notebook.run_all()
    panel = page.locator(".learnkit-session").first
    expect(panel.locator('[data-key^="message"]')).to_have_count(0)
    expect(panel.locator(".ready .block")).to_contain_text("If it is above 30 °C")
    button(panel, by).click()
    expect(panel.locator(".head")).to_contain_text("This is everything", timeout=20_000)
    return notebook, panel


def button(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("button", name=name)


def message(panel: Locator, index: int) -> Locator:
    return panel.locator(f'[data-key="message {index}"]')


def test_a_game_with_the_mouse(page: Page, server: str, shots: Path) -> None:
    notebook, panel = start(page, server, "mouse")
    expect(panel.locator('[data-key="system"]')).to_contain_text("You watch the weather.")
    expect(panel.locator('[data-key="tools"]')).to_contain_text("read_file(path, limit?, offset?)")
    expect(panel.locator('[data-key^="message"]')).to_have_count(1)
    expect(panel.locator('[data-key="totals"]')).to_contain_text("tokens (characters / 4)")
    notebook.screenshot(shots / "panel-1-start-light.png")

    button(panel, "→ bash").click()
    button(panel, "fill it in for me").click()
    expect(panel.get_by_label("command")).to_have_value("date")
    panel.get_by_label("command").fill("cat beijing.csv")
    button(panel, "add another").click()
    button(panel, "→ read_file").click()
    expect(button(panel, "fill it in for me")).to_have_count(0)
    button(panel, "add another").click()
    expect(panel.get_by_role("alert")).to_have_text("path is required")
    panel.get_by_label("path").fill("none.csv")
    panel.get_by_label("limit").fill("some")
    button(panel, "send the reply").click()
    expect(panel.get_by_role("alert")).to_have_text("limit must be an integer, not 'some'")
    expect(panel.get_by_label("limit")).to_be_focused()
    panel.get_by_label("limit").fill("3")
    expect(panel.locator(".mine")).to_contain_text("sends 2 calls (bash, read_file)")
    notebook.screenshot(shots / "panel-2-form-light.png")
    notebook.theme(DARK)
    notebook.screenshot(shots / "panel-2-form-dark.png")

    button(panel, "send the reply").click()
    expect(message(panel, 2)).to_contain_text("Beijing,31.4")
    expect(message(panel, 2).locator(".m-error")).to_contain_text("none.csv")
    expect(panel.locator(".head")).to_contain_text("Your turn again")
    notebook.screenshot(shots / "panel-3-results-dark.png")

    button(panel, "write text").click()
    panel.get_by_label("text of the reply").fill("I look again.")
    button(panel, "→ bash").click()  # which keeps the text
    expect(panel.locator(".mine")).to_contain_text("I look again.")
    expect(panel.locator(".mine")).to_contain_text("sends 1 call (bash) and 1 text")
    button(panel, "remove part 1").click()
    panel.get_by_label("command").fill("ls")
    panel.get_by_text("Break it").click()
    button(panel, "two calls with one id").click()
    expect(panel.locator("textarea.raw")).to_be_focused()
    button(panel, "send the reply").click()
    expect(message(panel, 4).locator(".block")).to_have_count(2)  # each call has its result
    expect(panel.locator('[data-key^="message"]')).to_have_count(5)

    panel.get_by_text("Break it").click()
    panel.get_by_label("forgets the tool_result").check()
    button(panel, "→ bash").click()
    panel.get_by_label("command").fill("ls")
    button(panel, "send the reply").click()
    refusal = panel.locator('[data-key="refusal"]')
    expect(refusal).to_contain_text("400 invalid_request_error")
    expect(refusal).to_contain_text("without `tool_result` blocks immediately after")
    notebook.screenshot(shots / "panel-4-refused-dark.png")
    notebook.theme(LIGHT)
    notebook.screenshot(shots / "panel-4-refused-light.png")

    button(panel, "take my reply back").click()
    expect(refusal).to_have_count(0)
    expect(panel.locator('[data-key^="message"]')).to_have_count(5)
    button(panel, "write text").click()
    panel.get_by_label("text of the reply").fill("It is 31.4 °C: <b>hot</b>.")
    expect(panel.locator(".mine")).to_contain_text("without a call, the loop ends")
    button(panel, "send the reply").click()
    expect(panel.locator(".head")).to_have_text("✗ There is no email.")
    expect(panel.locator(".news .line")).to_contain_text("The loop ends after")
    said = panel.locator(".remark")
    expect(said).to_have_text(["✗There is no email.", re.compile(r"^·It took \d turns.$")])
    expect(message(panel, 5)).to_contain_text("<b>hot</b>")
    expect(button(panel, "stop")).to_be_hidden()
    notebook.screenshot(shots / "panel-5-ended-light.png")
    notebook.theme(DARK)
    notebook.screenshot(shots / "panel-5-ended-dark.png")
    notebook.theme(LIGHT)
    assert page.errors == []  # type: ignore[attr-defined]


def test_a_game_by_keyboard_alone(page: Page, server: str) -> None:
    _, panel = start(page, server, "keyboard")
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(1)
    panel.get_by_label("what the model sees").focus()

    def tab_to(name: str) -> None:
        wanted = button(panel, name)
        for _ in range(20):
            if wanted.evaluate("one => one === one.getRootNode().activeElement"):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {name!r}")

    tab_to("→ bash")
    page.keyboard.press("Enter")
    # Letters that JupyterLab would take for commands: a and b add cells, d d deletes one.
    page.keyboard.type("echo abdd xyz")
    expect(panel.get_by_label("command")).to_have_value("echo abdd xyz")
    page.keyboard.press("Control+Enter")
    expect(message(panel, 2)).to_contain_text("abdd xyz")
    expect(button(panel, "→ bash")).to_be_focused()
    tab_to("write text")
    page.keyboard.press("Space")
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    page.keyboard.type("two")
    tab_to("send the reply")
    page.keyboard.press("Enter")
    expect(message(panel, 3)).to_contain_text("one\ntwo", use_inner_text=True)
    line = panel.locator(".news .line")
    expect(line).to_contain_text("The loop ends after 2 turns: the last reply called no tool.")
    expect(cells).to_have_count(1)


def test_a_press_while_the_kernel_is_busy_is_not_lost(
    page: Page, server: str, notebooks: Path
) -> None:
    notebook = lab.Notebook(page, server, "busy.ipynb", again=page.url.startswith(server))
    notebook.start_all()
    panel = page.locator(".learnkit-session").first
    button(panel, "Start").click()
    expect(panel.get_by_role("status")).to_contain_text("Sent.")
    assert not page.evaluate("() => window.ranAll"), "pressed while the next cell runs"
    (notebooks / "go").touch()
    expect(message(panel, 0)).to_contain_text("30 °C in Beijing", timeout=20_000)
    notebook.wait_idle()


def test_a_narrow_window_and_leaving(page: Page, server: str, shots: Path) -> None:
    page.set_viewport_size({"width": 700, "height": 900})
    notebook, panel = start(page, server, "narrow", "write text")
    expect(panel.get_by_label("text of the reply")).to_be_visible()
    notebook.command("application:toggle-left-area")
    page.wait_for_timeout(300)
    button(panel, "→ edit_file").click()
    wide = page.locator(".jp-OutputArea-output:has(.learnkit-session)").first
    assert wide.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    notebook.screenshot(shots / "panel-6-narrow-light.png")
    button(panel, "stop").click()
    expect(panel.locator(".head")).to_have_text("You left the model's place.")
    expect(button(panel, "send the reply")).to_have_count(0)
    button(panel, "Play again").press("Enter")
    expect(panel.locator(".head")).to_contain_text("You are the model", timeout=20_000)
    expect(button(panel, "→ bash")).to_be_focused()
    page.set_viewport_size({"width": 360, "height": 900})  # a phone
    button(panel, "→ bash").click()
    panel.get_by_label("command").fill("cat beijing.csv")
    button(panel, "send the reply").click()
    expect(message(panel, 2)).to_contain_text("Beijing,31.4")
    sees = panel.locator(".sees")
    right = "one => one.getBoundingClientRect().right"
    numbers = sees.locator('.tokens b:text("≈")')
    expect(numbers).to_have_count(5)  # of the system prompt, the tools and three messages
    edge = sees.evaluate(right)
    assert all(one.evaluate(right) <= edge for one in numbers.all())
    sees.evaluate("one => one.scrollTo(0, 0)")
    notebook.screenshot(shots / "panel-7-phone-light.png")
