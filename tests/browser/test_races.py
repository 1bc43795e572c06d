"""The race finder in a real JupyterLab, by keyboard alone: the notebook must not take its keys."""

from __future__ import annotations

from pathlib import Path

import lab
from playwright.sync_api import Page, expect

INBOX = """
class Inbox:
    def __init__(self, folder, pause):
        self.file, self.pause = folder / "inbox", pause
        self.file.touch()

    def send(self, text):
        with self.file.open("a") as file:
            file.write(text + "\\n")

    def drain(self):
        lines = self.file.read_text().splitlines()
        self.pause()
        self.file.write_text("")
        return lines
"""
GAME = """
from learnkit.course.games.races.panel import RaceFinder

RaceFinder(Inbox)
"""


def test_seeds_are_chosen_by_arrows_and_by_typing(page: Page, server: str, notebooks: Path) -> None:
    lab.write_notebook(notebooks / "races.ipynb", [INBOX, GAME, "last = 1"])
    notebook = lab.Notebook(page, server, "races.ipynb")
    notebook.run_all()
    game = notebook.output(1)
    expect(game).not_to_contain_text("seed 0: ")
    game.get_by_role("button", name="Start").press("Enter")
    expect(game).to_contain_text("seed 0: ")
    game.get_by_role("spinbutton").focus()
    before = active(page)
    for seed in (1, 2):
        page.keyboard.press("ArrowUp")
        expect(game).to_contain_text(f"seed {seed}: ")
    page.keyboard.press("ArrowDown")
    expect(game).to_contain_text("seed 1: ")
    page.keyboard.press("Control+a")
    page.keyboard.type("17")
    page.keyboard.press("Enter")
    expect(game).to_contain_text("seed 17: ")
    assert active(page) == before


def active(page: Page) -> object:
    """Which cell is active: the notebook's own arrow keys would move it."""
    return page.evaluate("() => jupyterapp.shell.currentWidget.content.activeCellIndex")
