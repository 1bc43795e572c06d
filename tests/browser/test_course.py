"""All twelve lessons in a real JupyterLab: run, looked at in every theme, narrow, and with axe.

Each lesson is opened once, as `learnkit lab` opens it, and its tests follow each other on that
page. Pictures go to the folder that LEARNKIT_SHOTS names.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import lab
import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect
from project import ROOT

from learnkit.course.content import Lesson, load

LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("s[0-9][0-9]_*.ipynb"))
#: JupyterLab's own: how it nests what a cell shows.
_OURS = ".jp-OutputArea-output"


class Open:
    """A lesson that has run in the browser, with every cell drawn."""

    def __init__(self, page: Page, course: str, file: str) -> None:
        page.set_viewport_size({"width": 1200, "height": 1000})
        self.page, self.name = page, file[:3]
        self.lesson: Lesson = load(self.name)
        self.committed = nbformat.read(ROOT / "notebooks" / file, as_version=4)
        self.notebook = lab.Notebook(page, course, file, again=page.url.startswith(course))
        # Nobody watches these pictures grow: test_lessons.py does, at the pace that a learner sees.
        self.notebook.environ("LEARNKIT_PACE", "0")
        # Drawn only now: while all cells are drawn, each new output is a new layout of all of them.
        self.notebook.run_all()
        self.notebook.draw_all()

    @property
    def sources(self) -> list[str]:
        """Of the code cells."""
        return [cell.source for cell in self.committed.cells if cell.cell_type == "code"]

    def cells(self, text: str) -> list[int]:
        """Numbers of the code cells that hold a text."""
        return [number for number, source in enumerate(self.sources) if text in source]

    def cell(self, number: int) -> Locator:
        found = self.page.locator(".jp-CodeCell").nth(number)
        found.scroll_into_view_if_needed()
        return found

    def select(self, number: int, source: str | None) -> None:
        self.page.evaluate(
            """([number, source]) => {
              const { content } = jupyterapp.shell.currentWidget;
              const code = content.widgets.filter((cell) => cell.model.type === 'code');
              content.activeCellIndex = content.widgets.indexOf(code[number]);
              content.mode = 'command';
              content.activate();
              if (source !== null) code[number].model.sharedModel.setSource(source);
            }""",
            [number, source],
        )

    def run(self, number: int, source: str | None = None) -> None:
        """Run one code cell, with another source if one is given."""
        self.select(number, source)
        self.notebook.run_cell()


@pytest.fixture(scope="module", params=LESSONS, ids=lambda name: name[:3])
def opened(request: pytest.FixtureRequest, page: Page, course: str) -> Open:
    return Open(page, course, request.param)


def test_only_the_tagged_cell_fails(opened: Open) -> None:
    meant = [
        cell
        for cell in opened.committed.cells
        if "raises-exception" in cell.metadata.get("tags", ())
    ]
    assert [tags for tags, _ in lab.failed(opened.page)] == [["raises-exception"]] * len(meant)
    # Neither Jupyter's question about news, nor anything else, is on top of the lesson.
    expect(opened.page.locator(".Toastify__toast")).to_have_count(0)
    assert opened.page.errors == []  # type: ignore[attr-defined]


def test_printed_text_breaks_between_words(opened: Open) -> None:
    breaks = opened.page.evaluate(
        """() => [...new Set([...document.querySelectorAll('.jp-OutputArea-output pre')]
          .map((pre) => getComputedStyle(pre).wordBreak))]"""
    )
    assert breaks == ["normal"], "JupyterLab's own is break-all"
    lines = opened.page.evaluate(
        """() => [...new Set([...document.querySelectorAll('.jp-RenderedMarkdown pre')]
          .map((pre) => getComputedStyle(pre.firstElementChild ?? pre).whiteSpace))]"""
    )
    assert lines in (["pre"], []), "JupyterLab's own is pre-wrap, which breaks drawn lines"


def test_every_view_that_grows_has_its_player(opened: Open) -> None:
    for number in opened.cells(".live()"):
        player = opened.cell(number).locator(".learnkit-player").first
        expect(player.locator("[aria-live]").first).not_to_be_empty()


def test_a_prediction_is_taken_by_keyboard_alone(opened: Open) -> None:
    number = opened.cells('lab.predict("p1")')[0]
    asked = opened.cell(number)
    right = opened.lesson.predictions["p1"].right
    wanted = asked.get_by_role("button", name=re.compile(f"^{right} "))
    opened.select(number, None)
    for _ in range(30):
        if wanted.evaluate("one => one.matches(':focus')"):
            break
        opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    expect(asked).to_contain_text(f"noted: {right}")
    chosen = asked.get_by_role("button", pressed=True)
    expect(chosen).to_be_focused()
    expect(chosen).to_contain_text("● your answer")


def test_every_card_has_the_edges_of_the_views(opened: Open) -> None:
    edges = opened.page.evaluate(
        """() => [...document.querySelectorAll('.lk-card, [class^=learnkit-]')]
          .filter((one) => !one.closest('.lk-race'))
          .map((one) => one.shadowRoot?.querySelector('.frame, .lk-card') ?? one)
          .map((one) => one.getBoundingClientRect())
          .map(({ left, right }) => `${Math.round(left)} to ${Math.round(right)}`)"""
    )
    assert len(edges) > 8
    assert len(set(edges)) == 1


def test_an_exercise_is_passed_by_its_solution(opened: Open) -> None:
    exercise = opened.lesson.exercises[0]
    check, *_ = opened.cells("lab.exercise(1)")
    expect(opened.cell(check)).to_contain_text("not yet")
    defines = rf"^(@.*\n)*(def|class) {exercise.name}\b"
    opened.run(check, re.sub(defines, r"@lab.exercise(1)\n\g<0>", exercise.solution, flags=re.M))
    expect(opened.cell(check)).to_contain_text("✓ exercise 1")


def test_a_quiz_is_answered(opened: Open) -> None:
    quiz = opened.cell(opened.cells("lab.quiz(")[0])
    expect(quiz.locator(".lk-card")).to_have_count(1)
    for number, question in enumerate(opened.lesson.quiz, start=1):
        box = quiz.locator("section[role=group]", has_text=f"{number} of ")
        box.get_by_role("button", name=re.compile(f"^{question.right} ")).click()
    number = len(opened.lesson.quiz)
    expect(quiz).to_contain_text(f"{number} of {number} right")


def test_every_game_can_be_played_after_run_all(opened: Open) -> None:
    assert bool(opened.cells("lab.be_the_model()")) == (opened.lesson.game is not None)
    for number in opened.cells("lab.be_the_model("):
        play(opened.cell(number).locator(".learnkit-session"))


def play(panel: Locator) -> None:
    """One move in the model's place, which ends the game."""
    head = panel.locator(".head")
    panel.get_by_role("button", name="Start").click()
    expect(head).to_contain_text("This is everything you see", timeout=20_000)
    panel.get_by_role("button", name="write text").click()
    panel.get_by_label("text of the reply").fill("I would rather not.")
    panel.get_by_role("button", name="send the reply").click()
    expect(panel.locator(".news .line")).to_contain_text(
        "The loop ends after 1 turn: the last reply called no tool.", timeout=20_000
    )
    if bad := panel.locator(".news .remark", has_text="✗").all_inner_texts():
        expect(head).to_have_text(re.sub(r"\s+", " ", bad[0]))


def test_an_edited_prompt_gets_the_panel(opened: Open) -> None:
    """In each lesson: no red, and the difference; what its buttons do is in test_panel.py."""
    number, edited = recorded(opened)
    opened.run(opened.cells("lab = lesson(")[0])  # the last cell has closed the lab
    for part in opened.cells("%%agent"):
        if part < number:
            opened.run(part)
    opened.run(number, edited)
    panel = opened.cell(number).locator(".learnkit-edit")
    expect(panel.locator("ins").first).to_contain_text("Kindly", timeout=20_000)
    expect(panel.locator(".ways button")).to_have_count(2)
    assert opened.cell(number).locator("[data-mime-type$='jupyter.error']").count() == 0
    panel.get_by_role("button", name="Undo my change").click()
    expect(panel.locator(".more")).to_contain_text("as it was in the lesson")
    opened.run(number)
    expect(panel).to_have_count(0)


def recorded(opened: Open) -> tuple[int, str]:
    """The first code cell with a recorded scenario and its prompt, and its text with another."""
    for number, source in enumerate(opened.sources):
        if not re.search(r'lab\.scenario\("\w+"\)', source):
            continue
        tree = ast.parse(source)
        words = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) in words:  # a docstring
                continue
            if isinstance(node, ast.Constant) and re.match("[A-Z].{24}", str(node.value)):
                prompt = str(node.value)[:20]
                return number, source.replace(prompt, f"Kindly: {prompt}", 1)
        named = re.sub(r"\.run\(([A-Z]\w+)\)", r'.run("Kindly: " + \1)', source)
        if named != source:
            return number, named
    raise AssertionError("no prompt to edit")


# Dark comes first, because the pictures were taken in it, and light last, for the tests after this.
@pytest.mark.parametrize("theme", [*lab.THEMES[1:], lab.THEMES[0]])
def test_axe_finds_nothing_serious(opened: Open, shots: Path, theme: str) -> None:
    opened.notebook.theme(theme)
    kind = theme.removeprefix("JupyterLab ").lower().replace(" ", "-")
    opened.page.locator(".jp-Cell").first.scroll_into_view_if_needed()
    opened.notebook.screenshot(shots / f"{opened.name}-{kind}.png")
    assert lab.faults(opened.page, _OURS, colours=theme != lab.THEMES[0]) == []


@pytest.mark.parametrize("opened", LESSONS[:1], indirect=True, ids=["s01"])
def test_axe_would_find_a_fault_inside_a_player(opened: Open) -> None:
    spoil = """(spoil) => {
      const { shadowRoot } = document.querySelector('.learnkit-player');
      if (spoil) shadowRoot.querySelector('.controls').insertAdjacentHTML(
        'beforeend', '<button class="spoilt">\u00a0</button>'
          + '<b class="spoilt" style="color: #999; background: #aaa">faint</b>');
      else for (const one of shadowRoot.querySelectorAll('.spoilt')) one.remove();
    }"""
    opened.page.evaluate(spoil, True)
    found = [lab.faults(opened.page, _OURS, colours=only) for only in (False, True)]
    opened.page.evaluate(spoil, False)
    rules = [sorted(one.partition(":")[0] for one in each) for each in found]
    assert rules == [["button-name", "color-contrast"], ["color-contrast"]]


def test_a_narrow_window_cuts_nothing_off(opened: Open, shots: Path) -> None:
    opened.page.set_viewport_size({"width": 640, "height": 900})
    opened.notebook.side_bar(False)
    opened.page.wait_for_timeout(300)
    wide = opened.page.evaluate(
        """() => [...document.querySelectorAll('.jp-OutputArea-output')]
          .filter((one) => one.querySelector('[class^=learnkit-], .lk-card'))
          .filter((one) => one.scrollWidth > one.clientWidth + 1)
          .map((one) => [one.scrollWidth, one.clientWidth, one.innerHTML.slice(0, 120)])"""
    )
    opened.notebook.screenshot(shots / f"{opened.name}-narrow.png")
    opened.page.set_viewport_size({"width": 1200, "height": 1000})
    opened.notebook.side_bar(True)  # or the pictures of the lessons after this one are wider
    assert wide == []


# The last one: what the tests before have answered is gone after it.
@pytest.mark.parametrize("opened", LESSONS[:1], indirect=True, ids=["s01"])
def test_run_all_twice_and_a_restart_in_the_middle(opened: Open) -> None:
    opened.notebook.run_all()
    test_only_the_tagged_cell_fails(opened)
    expect(opened.cell(1)).to_contain_text("without a guess")
    opened.page.evaluate(
        "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    opened.page.wait_for_function(lab._READY, timeout=90_000)
    middle = opened.cells("lab.show(lead.messages, lead)")[0]
    opened.select(middle, None)
    opened.notebook.run_cell_only()
    said = opened.cell(middle).locator(
        "[data-mime-type$='jupyter.error'], [data-mime-type$=stderr]"
    )
    expect(said).to_have_count(1)
    assert re.fullmatch(
        r"NameError: '\w+' is made by a cell under “.+” that has not run. Run it first, or all of "
        r"them up to here: Run → Run All Above Selected Cell\.",
        said.inner_text().strip(),
    )
    opened.notebook.command("notebook:run-all-above")
    opened.select(middle, None)
    opened.notebook.run_cell_only()
    expect(opened.cell(middle).locator(".learnkit-player")).to_be_visible(timeout=60_000)
    assert opened.page.errors == []  # type: ignore[attr-defined]
