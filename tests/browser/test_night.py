"""The night of 14 July in a real JupyterLab: chosen, played and skipped.

Pictures go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

from pathlib import Path

import lab
import pytest
from playwright.sync_api import Locator, Page, expect

SOON = 30_000  # milliseconds: twelve hours are played for real
NIGHT = """
import learnkit as lk

lab = lk.lesson("s12")
lab.night()
"""


@pytest.fixture(scope="module")
def night(page: Page, server: str, notebooks: Path) -> lab.Notebook:
    lab.write_notebook(notebooks / "night.ipynb", [NIGHT])
    notebook = lab.Notebook(page, server, "night.ipynb")
    notebook.run_all()
    return notebook


def button(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("button", name=name)


def test_a_night_is_chosen_watched_and_skipped_by_keyboard_alone(
    night: lab.Notebook, page: Page, shots: Path
) -> None:
    panel = page.locator(".learnkit-night")
    pressed = panel.locator("[aria-pressed=true]")
    hours = panel.locator("li")
    button(panel, "protocols").press("Space")
    expect(pressed).to_have_count(2)
    expect(panel.get_by_text("protocols needs team.")).to_be_visible()
    button(panel, "team").press("Enter")
    expect(pressed).to_have_count(0)
    for part in ("tools", "tasks", "subagents"):
        button(panel, part).press("Enter")
    expect(panel.locator(".tokens")).to_contain_text("+1,160 tokens in each request · forecast ≈")
    night.screenshot(shots / "night-chosen.png", ".learnkit-night")
    button(panel, "Start the night").press("Enter")
    expect(hours.nth(0)).to_have_class("ok", timeout=SOON)
    expect(hours.nth(11)).to_have_class("")  # its turn has not come, though it has been played
    button(panel, "Skip to the morning").press("Enter")
    expect(panel.locator(".head")).to_have_text(
        "4 of 12 hours survived, within the budget", timeout=SOON
    )
    assert [one.get_attribute("class") for one in hours.all()].count("ok") == 4
    expect(button(panel, "Play another night")).to_be_focused()
    hours.nth(7).locator("summary").press("Enter")
    expect(hours.nth(7)).to_contain_text("What survives it is in lesson 8.")


def test_it_can_be_read_in_each_theme_and_on_a_phone(
    night: lab.Notebook, page: Page, shots: Path
) -> None:
    panel = page.locator(".learnkit-night")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 1900})
        night.side_bar(width > 400)
        for theme in (*lab.THEMES[1:], lab.THEMES[0]):
            night.theme(theme)
            assert lab.faults(page, ".learnkit-night") == []
            kind = theme.removeprefix("JupyterLab ").lower().replace(" ", "-")
            panel.screenshot(path=shots / f"night-{kind}-{width}.png")
        assert panel.evaluate("one => one.scrollWidth <= one.clientWidth")
    page.set_viewport_size({"width": 1200, "height": 1000})


def test_who_likes_no_motion_waits_for_nothing(night: lab.Notebook, page: Page) -> None:
    panel = page.locator(".learnkit-night")
    page.emulate_media(reduced_motion="reduce")
    button(panel, "todo").click()
    expect(panel.locator("li.ok")).to_have_count(0)  # another harness: nothing is known of it
    button(panel, "Play another night").click()
    expect(panel.locator(".head")).to_have_text(
        "5 of 12 hours survived, within the budget", timeout=SOON
    )
    assert page.errors == []  # type: ignore[attr-defined]
