"""The night of 14 July in a real JupyterLab: chosen, played, skipped and saved.

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

def broken(self, agent, calls):
    raise ZeroDivisionError("<b>no list</b>")

lk.Todo.after_tools = broken
lab = lk.lesson("s12")
lab.night()
"""
#: The pairs of texts of a picture that lie over each other, and the texts that leave it.
CROSSED = """() => {
  const texts = [...document.querySelectorAll('text')];
  const boxes = texts.map((one) => [one.getBoundingClientRect(), one.textContent]);
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top;
  const out = ([one]) => one.right > innerWidth - 8 || one.bottom > innerHeight - 8;
  return [
    ...boxes.filter(out),
    ...boxes.flatMap((one, n) => boxes.slice(n + 1).filter(([b]) => !apart(one[0], b))),
  ].map(([, said]) => said);
}"""


@pytest.fixture(scope="module")
def night(page: Page, server: str, notebooks: Path) -> lab.Notebook:
    lab.write_notebook(notebooks / "night.ipynb", [NIGHT])
    notebook = lab.Notebook(page, server, "night.ipynb")
    notebook.run_all()
    return notebook


def button(panel: Locator, name: str) -> Locator:
    return panel.get_by_role("button", name=name)


def test_a_night_is_chosen_watched_skipped_and_saved_by_keyboard_alone(
    night: lab.Notebook, page: Page, shots: Path, tmp_path: Path
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
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with page.expect_download() as saved:
            button(panel, f"save as {kind.upper()}").press("Enter")
        file = tmp_path / saved.value.suggested_filename
        saved.value.save_as(file)
        assert file.name == f"night-of-14-july.{kind}"
        assert file.read_bytes().startswith(begins)
    with lab.browser(864, 726) as other:
        other.goto(file.as_uri())
        assert other.evaluate(CROSSED) == []
        other.screenshot(path=shots / "night-poster.png")


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


def test_who_likes_no_motion_waits_for_nothing_and_an_error_of_a_class_is_told(
    night: lab.Notebook, page: Page
) -> None:
    panel = page.locator(".learnkit-night")
    page.emulate_media(reduced_motion="reduce")
    button(panel, "todo").click()
    expect(panel.locator("li.ok")).to_have_count(0)  # another harness: nothing is known of it
    button(panel, "Play another night").click()
    said = "✗ At 00:00 the harness raised ZeroDivisionError: <b>no list</b>"
    expect(panel.locator(".head")).to_have_text(said, timeout=SOON)
    expect(panel.locator("li.lost")).to_have_count(1)
    expect(button(panel, "save as PNG")).to_be_hidden()
    button(panel, "todo").click()
    button(panel, "Play another night").click()
    expect(panel.locator(".head")).to_have_text(
        "4 of 12 hours survived, within the budget", timeout=SOON
    )
    assert page.errors == []  # type: ignore[attr-defined]
