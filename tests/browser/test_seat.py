"""Be the model in a real JupyterLab: a game with the mouse, one by keyboard, and what goes wrong.

Pictures of each step, light and dark, go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import lab
import pytest
from playwright.sync_api import Locator, Page, expect

LIGHT, DARK, _ = lab.THEMES
GAME = """
import tempfile, threading, time
from pathlib import Path
import learnkit as lk
from learnkit.course.games.be_the_model.panel import BeTheModel

folder = Path(tempfile.mkdtemp())
(folder / "beijing.csv").write_text("city,temp\\nBeijing,31.4\\n")

def agent(client, events):
    tools = [lk.CodingTools(folder)]
    return lk.Agent(client, tools, system="You watch the weather.", events=events)

game = BeTheModel(agent, "If it is above 30 °C in Beijing, mail me.")
game
"""
BUSY = "time.sleep(4)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, scratch = tmp_path_factory.mktemp("games"), tmp_path_factory.mktemp("lab")
    for name in ("mouse", "keyboard", "narrow"):
        lab.write_notebook(folder / f"{name}.ipynb", [GAME])
    lab.write_notebook(folder / "busy.ipynb", [GAME, BUSY])
    with lab.lab(folder, scratch) as url:
        yield url


def start(page: Page, server: str, name: str) -> tuple[lab.Notebook, Locator]:
    """Open a notebook and run its cells; return it, and its first game when that waits."""
    notebook = lab.Notebook(page, server, f"{name}.ipynb")
    notebook.run_all()
    seat = page.locator(".learnkit-seat").first
    expect(seat.locator(".head")).to_contain_text("You are the model", timeout=20_000)
    return notebook, seat


def button(seat: Locator, name: str) -> Locator:
    return seat.get_by_role("button", name=name)


def message(seat: Locator, index: int) -> Locator:
    return seat.locator(f'[data-key="message {index}"]')


def test_a_game_with_the_mouse(page: Page, server: str, shots: Path) -> None:
    notebook, seat = start(page, server, "mouse")
    expect(seat.locator('[data-key="system"]')).to_contain_text("You watch the weather.")
    expect(seat.locator('[data-key="tools"]')).to_contain_text("read_file(path, limit?, offset?)")
    expect(seat.locator('[data-key^="message"]')).to_have_count(1)
    expect(seat.locator('[data-key="totals"]')).to_contain_text("tokens (characters / 4)")
    notebook.screenshot(shots / "seat-1-start-light.png")

    button(seat, "→ bash").click()
    seat.get_by_label("command").fill("cat beijing.csv")
    button(seat, "add another").click()
    button(seat, "→ read_file").click()
    button(seat, "add another").click()
    expect(seat.get_by_role("alert")).to_have_text("path is required")
    seat.get_by_label("path").fill("none.csv")
    seat.get_by_label("limit").fill("some")
    button(seat, "send the reply").click()
    expect(seat.get_by_role("alert")).to_have_text("limit must be an integer, not 'some'")
    expect(seat.get_by_label("limit")).to_be_focused()
    seat.get_by_label("limit").fill("3")
    expect(seat.locator(".mine")).to_contain_text("sends 2 calls (bash, read_file)")
    notebook.screenshot(shots / "seat-2-form-light.png")
    notebook.theme(DARK)
    notebook.screenshot(shots / "seat-2-form-dark.png")

    button(seat, "send the reply").click()
    expect(message(seat, 2)).to_contain_text("Beijing,31.4")
    expect(message(seat, 2).locator(".m-error")).to_contain_text("none.csv")
    expect(seat.locator(".head")).to_contain_text("Your turn again")
    notebook.screenshot(shots / "seat-3-results-dark.png")

    button(seat, "→ bash").click()
    seat.get_by_label("command").fill("ls")
    seat.get_by_text("Break it").click()
    button(seat, "two calls with one id").click()
    expect(seat.locator("textarea.raw")).to_be_focused()
    button(seat, "send the reply").click()
    refusal = seat.locator('[data-key="refusal"]')
    expect(refusal).to_contain_text("400 invalid_request_error")
    expect(refusal).to_contain_text("each tool_use must have a single result")
    notebook.screenshot(shots / "seat-4-refused-dark.png")
    notebook.theme(LIGHT)
    notebook.screenshot(shots / "seat-4-refused-light.png")

    button(seat, "take my reply back").click()
    expect(refusal).to_have_count(0)
    expect(seat.locator('[data-key^="message"]')).to_have_count(3)
    seat.get_by_text("Break it").click()
    seat.get_by_label("forgets the tool_result").check()
    button(seat, "→ bash").click()
    seat.get_by_label("command").fill("ls")
    button(seat, "send the reply").click()
    expect(refusal).to_contain_text("without `tool_result` blocks immediately after")
    button(seat, "take my reply back").click()

    button(seat, "write text").click()
    seat.get_by_label("text of the reply").fill("It is 31.4 °C: <b>hot</b>.")
    expect(seat.locator(".mine")).to_contain_text("without a call, the loop ends")
    button(seat, "send the reply").click()
    expect(seat.locator(".head")).to_contain_text("The loop ends after")
    expect(message(seat, 3)).to_contain_text("<b>hot</b>")
    expect(button(seat, "stop")).to_be_hidden()
    notebook.screenshot(shots / "seat-5-ended-light.png")
    notebook.theme(DARK)
    notebook.screenshot(shots / "seat-5-ended-dark.png")
    notebook.theme(LIGHT)
    assert page.errors == []  # type: ignore[attr-defined]


def test_a_game_by_keyboard_alone(page: Page, server: str) -> None:
    _, seat = start(page, server, "keyboard")
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(1)
    seat.get_by_label("what the model sees").focus()

    def tab_to(name: str) -> None:
        wanted = button(seat, name)
        for _ in range(20):
            if wanted.evaluate("one => one === one.getRootNode().activeElement"):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never comes to {name!r}")

    tab_to("→ bash")
    page.keyboard.press("Enter")
    # Letters that JupyterLab would take for commands: a and b add cells, d d deletes one.
    page.keyboard.type("echo abdd xyz")
    expect(seat.get_by_label("command")).to_have_value("echo abdd xyz")
    page.keyboard.press("Control+Enter")
    expect(message(seat, 2)).to_contain_text("abdd xyz")
    expect(button(seat, "→ bash")).to_be_focused()
    tab_to("write text")
    page.keyboard.press("Space")
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    page.keyboard.type("two")
    tab_to("send the reply")
    page.keyboard.press("Enter")
    expect(message(seat, 3)).to_contain_text("one\ntwo", use_inner_text=True)
    expect(seat.locator(".head")).to_have_text("The loop ends after 2 turns: you called no tool.")
    expect(cells).to_have_count(1)


def test_a_reply_waits_for_a_busy_kernel_and_the_game_for_nobody(page: Page, server: str) -> None:
    notebook = lab.Notebook(page, server, "busy.ipynb")
    notebook.start_all()
    seat = page.locator(".learnkit-seat").first
    expect(message(seat, 0)).to_contain_text("30 °C in Beijing", timeout=20_000)
    assert not page.evaluate("() => window.ranAll"), "seen while the next cell still runs"
    button(seat, "write text").click()
    seat.get_by_label("text of the reply").fill("Done.")
    button(seat, "send the reply").click()
    expect(seat.locator(".head")).to_have_text(
        "The loop ends after 1 turn: you called no tool.", timeout=20_000
    )
    notebook.wait_idle()


def test_a_narrow_window_and_leaving(page: Page, server: str, shots: Path) -> None:
    page.set_viewport_size({"width": 700, "height": 900})
    notebook, seat = start(page, server, "narrow")
    notebook.command("application:toggle-left-area")
    page.wait_for_timeout(300)
    button(seat, "→ edit_file").click()
    wide = page.locator(".jp-OutputArea-output:has(.learnkit-seat)").first
    assert wide.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
    notebook.screenshot(shots / "seat-6-narrow-light.png")
    button(seat, "stop").click()
    expect(seat.locator(".head")).to_have_text("You left the game.")
    expect(button(seat, "send the reply")).to_have_count(0)
