"""A newcomer's first hour: clone, the README's first command, lesson 1 to the end of its quiz.

Only what the README and the pages say is used: the command as it stands there, the address that it
prints, the links on the start page, the cells in their order, the folded solutions. The journey is
recorded: a trace that playwright's viewer plays, in the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator

import lab
import pytest
from playwright.sync_api import Locator, Page, expect
from project import ROOT

README = (ROOT / "README.md").read_text("utf-8")
#: What the server needs because nobody sits here: no browser of its own, root, and a hook for
#: asking whether a cell is done.
CONFIG = {
    "ServerApp": {"open_browser": False, "allow_root": True},
    "LabApp": {"expose_app_in_browser": True, "open_browser": False},
}
#: Seconds that the installation and the start may take.
INSTALL = 300
#: What our learner believes before each run, right or wrong.
GUESSES = {"p1": "a", "p2": "b"}
#: What there is to do in a cell, and the question that it is about.
STATION = re.compile(r'\blab\.(be_the_model|predict|reveal|repaired|exercise|quiz)\("?(\w*)')
STATIONS = [
    *("be_the_model", "predict", "reveal", "repaired", "predict", "reveal", "repaired"),
    *("exercise", "exercise", "quiz"),
]
#: What our learner says in the model's place: a call in each reply, and then a text.
SAYS = (
    "python -m heatwatch latest beijing",
    'python -m heatwatch mail me "Beijing: 31.4 °C"',
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Clone, run the README's first command, and read the address that it prints."""
    home = tmp_path_factory.mktemp("newcomer")
    subprocess.run(["git", "clone", "-q", str(ROOT), str(home / "learnkit")], check=True)
    (command,) = re.findall(r"^```sh\n([^`]*learnkit lab)\n```$", README, re.MULTILINE)
    config = home / "config"
    config.mkdir()
    for name in ("jupyter_server_config.json", "jupyter_lab_config.json"):
        (config / name).write_text(json.dumps(CONFIG))
    # So that every cell is in the page, also those far away.
    tracker = home / "settings" / "@jupyterlab" / "notebook-extension"
    tracker.mkdir(parents=True)
    drawn = tracker / "tracker.jupyterlab-settings"
    drawn.write_text('{"windowingMode": "none"}')
    own = ("LEARNKIT_STATIC", "LEARNKIT_WORKBOOK", "PYTHONPATH", "VIRTUAL_ENV")
    env = {key: value for key, value in os.environ.items() if key not in own}
    env["PATH"] = os.pathsep.join(
        one for one in env["PATH"].split(os.pathsep) if not one.startswith(str(ROOT))
    )
    folders = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("DATA", "RUNTIME")}
    env |= {"JUPYTER_CONFIG_DIR": str(config), "IPYTHONDIR": str(home / "ipython"), **folders}
    env["JUPYTERLAB_SETTINGS_DIR"] = str(home / "settings")
    log = home / "log.txt"
    with lab.started(["bash", "-c", command], home / "learnkit", env, log) as running:
        end = time.monotonic() + INSTALL
        found = None
        while found is None and time.monotonic() < end and running.poll() is None:
            time.sleep(0.5)
            said = log.read_text(errors="replace")
            found = re.search(r"http://127\.0\.0\.1:\d+/lab/tree/\S+", said)
        assert found, f"no address was printed:\n{log.read_text(errors='replace')[-2000:]}"
        yield found[0]


def active(page: Page) -> tuple[int, str, str]:
    """Number, kind and text of the selected cell."""
    number, kind, text = page.evaluate(
        """() => {
          const { content } = jupyterapp.shell.currentWidget;
          const { model } = content.activeCell;
          return [content.activeCellIndex, model.type, model.sharedModel.getSource()];
        }"""
    )
    return number, kind, text


def shown(page: Page) -> Locator:
    """The selected cell on the page."""
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell.jp-mod-active")


def step(page: Page) -> None:
    """Shift+Enter, and wait until the cell has run."""
    number, kind, _ = active(page)
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        """([number, kind]) => {
          const panel = jupyterapp.shell.currentWidget;
          const cell = panel.content.widgets[number];
          return kind !== 'code' || (cell.model.executionCount !== null && cell.prompt !== '*'
            && panel.sessionContext.session?.kernel?.status === 'idle');
        }""",
        arg=[number, kind],
        timeout=90_000,
    )


def select(page: Page, number: int) -> None:
    """Click beside a cell, so that the keys go to the notebook."""
    page.evaluate(
        """async (number) => {
          const { content } = jupyterapp.shell.currentWidget;
          content.activeCellIndex = number;
          await content.scrollToItem(number, 'start');
          content.mode = 'command';
          content.activate();
        }""",
        number,
    )


def play(cell: Locator) -> None:
    """Be the model: two calls, then a text."""
    panel = cell.locator(".learnkit-session")
    head = panel.locator(".head")
    panel.get_by_role("button", name="Start").click()
    expect(head).to_contain_text("You are the model", timeout=30_000)
    for turn, command in enumerate(SAYS, start=1):
        panel.get_by_role("button", name="→ bash").click()
        panel.get_by_label("command").fill(command)
        panel.get_by_role("button", name="send the reply").click()
        result = panel.locator(f'[data-key="message {2 * turn}"]')
        expect(result).to_be_visible(timeout=30_000)
    panel.get_by_role("button", name="write text").click()
    panel.get_by_label("text of the reply").fill("It is 31.4 °C in Beijing; you have mail.")
    panel.get_by_role("button", name="send the reply").click()
    expect(head).to_contain_text("✓ The email is in the outbox", timeout=30_000)


def solve(page: Page, check: int, stub: str) -> None:
    """The stub is refused; type the folded solution below the decorator."""
    cell = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").nth(check)
    expect(cell).to_contain_text("not yet")
    (number,) = re.findall(r"lab\.exercise\((\d)\)", stub)
    (name,) = re.findall(r"^(?:def|class) (\w+)", stub, re.MULTILINE)
    solution = cell.locator("details pre").text_content() or ""
    above = rf"^(def|class) {name}\b"
    edit(page, check, re.sub(above, rf"@lab.exercise({number})\n\g<0>", solution, flags=re.M))
    expect(cell).to_contain_text(f"✓ exercise {number}")


def repair(page: Page, check: int) -> None:
    """Type what is folded below into the function's cell, and run all again from there."""
    cell = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").nth(check)
    expect(cell).to_contain_text("not yet")
    sources = page.evaluate(
        """() => jupyterapp.shell.currentWidget.content.widgets
          .map((cell) => cell.model.sharedModel.getSource())"""
    )
    (fixed,) = re.findall(r"```python\n(.*?)```", sources[check + 1], re.DOTALL)
    head = fixed.partition("(")[0] + "("
    naive = max(
        number
        for number, text in enumerate(sources[:check])
        if text.startswith("%%agent") and head in text
    )
    blocks = sources[naive].split("\n\n\n")
    kept = "%%agent\n" if head in blocks[0] else ""
    blocks = [kept + fixed.rstrip() if head in block else block for block in blocks]
    edit(page, naive, "\n\n\n".join(blocks))
    for number in range(naive + 1, check + 1):
        select(page, number)
        step(page)
    expect(cell).to_contain_text("✓")


def edit(page: Page, number: int, source: str) -> None:
    """Write a cell anew, and run it."""
    select(page, number)
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    step(page)


def test_from_the_readme_to_the_end_of_lesson_1(
    address: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    trace = lab.pictures(tmp_path_factory) / "journey-trace.zip"
    with lab.browser(1280, 1000) as page:
        page.context.tracing.start(screenshots=True)
        try:
            stations = travel(page, address)
        finally:
            page.context.tracing.stop(path=trace)
        assert page.errors == []  # type: ignore[attr-defined]
        assert stations == STATIONS, "a station was passed by"


def travel(page: Page, address: str) -> list[str]:
    """Go through lesson 1; returns what there was to do, in order."""
    page.goto(address)
    page.wait_for_function(lab._READY, timeout=90_000)
    contents = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(contents).to_contain_text("12 lessons, about 10 hours and the exercises. Begin with")
    contents.get_by_role("link", name="lesson 1", exact=True).click()
    page.wait_for_function(
        "() => jupyterapp.shell.currentWidget?.title.label.startsWith('s01')", timeout=30_000
    )
    page.wait_for_function(lab._READY, timeout=90_000)
    select(page, 0)
    last = page.evaluate("() => jupyterapp.shell.currentWidget.content.widgets.length") - 1
    here, stations = -1, list[str]()
    while here < last:
        here, kind, text = active(page)
        if kind == "code" and "lab.close()" in text:
            finish(page)
            select(page, here)
        step(page)
        if kind != "code":
            continue
        if found := STATION.search(text):
            stations.append(found[1])
            do(page, here, text, found)
        if here < last:
            select(page, here + 1)
    return stations


def do(page: Page, here: int, text: str, station: re.Match[str]) -> None:
    """What there is to do in a cell that has run."""
    cell = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell").nth(here)
    match station[1]:
        case "be_the_model":
            play(cell)
        case "predict":
            guess = GUESSES[station[2]]
            cell.get_by_role("button", name=re.compile(f"^{guess} ")).click()
            expect(cell).to_contain_text(f"noted: {guess}")
        case "reveal":
            expect(cell).to_contain_text(f"You said {GUESSES[station[2]]}")
        case "repaired":
            repair(page, here)
        case "exercise":
            solve(page, here, text)
        case "quiz":
            answer(cell)


def answer(quiz: Locator) -> None:
    """Choose the first option of each question, and read what is explained."""
    for number in range(1, 4):
        box = quiz.locator("section[role=group]", has_text=f"{number} of 3")
        box.get_by_role("button", name=re.compile("^a ")).click()
        expect(box).to_contain_text(re.compile("✓ right|✗ it is"))
    expect(quiz.get_by_text(re.compile(r"^\d of 3 right$"))).to_be_visible()


def finish(page: Page) -> None:
    """Before the lesson is closed: what failed has been repaired."""
    assert lab.failed(page) == []
    page.get_by_role("tab", name="start.ipynb").click()
    select(page, 1)
    step(page)
    contents = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(contents).to_contain_text("1 of 12 lessons finished")
    expect(contents).to_contain_text("next comes lesson 2, Tools.")
    row = contents.get_by_role("row", name="✓ 1 · The agent loop")
    expect(row).to_contain_text("✓✓")
    expect(row).to_contain_text("1 of 3")
    page.get_by_role("tab", name="s01_agent_loop.ipynb").click()
