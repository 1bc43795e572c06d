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


def test_a_race_is_found_and_shrunk_by_keyboard(page: Page, server: str, notebooks: Path) -> None:
    lab.write_notebook(notebooks / "races.ipynb", [INBOX, GAME, "last = 1"])
    notebook = lab.Notebook(page, server, "races.ipynb")
    notebook.run_all()
    game = notebook.output(1)
    expect(game).to_contain_text("100 seeds to try")
    game.get_by_role("button", name="find a seed").press("Enter")
    expect(game).to_contain_text("Found after")
    game.get_by_role("button", name="shrink it").press("Enter")
    expect(game).to_contain_text("shrunk: 1 of 1 message lost.")
    assert page.errors == []  # type: ignore[attr-defined]
