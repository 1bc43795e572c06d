"""Edits that the text invites: the cells after them run on, and show the edited run."""

from __future__ import annotations

import ast
import contextlib
import io
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from IPython.utils.capture import capture_output

import learnkit as lk
from learnkit.clients.recordings.replay import Miss
from learnkit.course.lessons.s11.shown import claim_of

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"


class Edited(NamedTuple):
    """A cell with a recorded prompt.

    Attributes:
        notebook: its file.
        scenario: the recorded run.
        prompt: that was recorded.
        needs: how the cells begin that have to run before it.
        after: how many code cells after it show its run.
    """

    notebook: str
    scenario: str
    prompt: str
    needs: tuple[str, ...]
    after: int

    def run(self, prompt: str) -> tuple[dict[str, Any], str]:
        """Run the cells with another prompt, which the stand-in gets.

        Returns:
            The names that the cells have defined, and what they have printed and shown.
        """
        cells = [one.source for one in code_cells(self.notebook)]
        before = [next(one for one in cells if one.startswith(begin)) for begin in self.needs]
        recorded = f'scenario("{self.scenario}")'
        place = next(n for n, one in enumerate(cells) if recorded in one)
        first, *later = cells[place : place + 1 + self.after]
        assert first.count(self.prompt) == 1
        first = first.replace(self.prompt, prompt)
        first = first.replace(recorded, f"{recorded[:-1]}, script=lk.stand_in().source)")
        lab = lk.lesson(self.notebook[:3])
        names: dict[str, Any] = {"lk": lk, "lab": lab}
        said = io.StringIO()
        try:
            with capture_output(), contextlib.redirect_stdout(said):
                for source in (*before, first, *later):
                    if (shown := ran(source, names)) is not None:
                        print(shown)
        finally:
            lab.remove()
        return names, said.getvalue()


SETTLE = Edited(
    "s09_teams.ipynb",
    "settle",
    "Leave out rows with a faulty reading. Agree on what marks one, build it and test it.",
    (),
    3,
)
SHUTDOWN = Edited(
    "s10_protocols.ipynb",
    "refuse",
    "Have alice put all stations into one file. Stop her as soon as you can.",
    ("import shutil\n\nASKED = ", "def coders(run)"),
    2,
)
BOARD = Edited(
    "s11_autonomy.ipynb",
    "three",
    "There are three tasks on the board. See that they get done.",
    ("from learnkit.course.lessons.s11 import crew",),
    3,
)
#: The prompts that lesson 11 suggests.
ONE = "Start alice and have her do all of them."
THREE = "Start three coders. See that they get done."
TREES = Edited(
    "s12_worktrees.ipynb",
    "pair",
    "Do two tasks in two worktrees. Check both. Keep one, merge and remove the other.",
    (),
    3,
)
#: The prompt that lesson 9 suggests.
TALK = "Start alice and bob. Have alice ask bob what marks a fault. Have bob tell alice: -9999."
#: The prompt that lesson 12 suggests.
DOCS = "Make a worktree called docs, and write notes.md there."


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Ponder the weather.", "lead's system prompt:"),
        ("Ponder the weather.", '"name": "spawn_teammate"'),
        ("Have alice count the stations.", "alice's system prompt: You are alice"),
    ],
)
def test_the_cells_after_an_edit_show_who_is_there(prompt: str, shown: str) -> None:
    """One teammate, or none: no cell insists on two."""
    assert shown in SETTLE.run(prompt)[1]


@pytest.mark.slow
def test_a_teammate_that_was_not_asked_to_shut_down_is_named_as_such() -> None:
    names, said = SHUTDOWN.run("Have alice put all stations into all.csv.")
    assert names["lines"] == {"all.csv": 13}
    assert "In this run, no teammate got a shutdown_request." in said


@pytest.mark.slow
def test_the_lines_are_counted_in_the_file_that_the_edited_run_wrote() -> None:
    """Lesson 10 suggests this edit."""
    texts = "\n".join(one.source for one in nbformat.read(NOTEBOOKS / SHUTDOWN.notebook, 4).cells)
    assert "replace “as soon as you can” in `COLLECT` with “when she is done”" in texts
    assert "Look for one request instead of two." in texts
    names, said = SHUTDOWN.run(SHUTDOWN.prompt.replace("as soon as you can", "when she is done"))
    (count,) = names["lines"].values()
    assert count == 13
    assert "lines: {'" in said
    requests = [one.data["request"] for one in names["run"].events if "request" in one.data]
    # One request instead of two, as the lesson says.
    assert [one["state"] for one in requests] == ["pending", "approved"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        (
            "Have alice put all stations into all.csv. Shut her down at the end.",
            "tool_use | shutdown_response\n    request_id: r0000001\n    approve: True",
        ),
        ("Ponder the weather.", "no teammate got a shutdown_request"),
    ],
)
def test_what_a_shutdown_asks_is_shown_however_it_has_arrived(prompt: str, shown: str) -> None:
    """She may be idle, and then its text is all of the message; or nobody was started."""
    assert shown in SHUTDOWN.run(prompt)[1]


@pytest.mark.slow
def test_the_owners_of_the_tasks_are_those_of_the_edited_run() -> None:
    names, said = BOARD.run(ONE)
    assert set(names["owners"].values()) == {"alice"}
    assert "Done. " in said
    assert "bob" not in said


@pytest.mark.slow
def test_the_crew_that_lesson_11_suggests_shares_the_tasks() -> None:
    names, _ = BOARD.run(THREE)
    assert sorted(names["owners"].values()) == ["alice", "bob", "carol"]


def test_lesson_11_suggests_the_prompts_that_are_tried_here() -> None:
    every = nbformat.read(NOTEBOOKS / BOARD.notebook, 4).cells
    text = "\n".join(cell.source for cell in every)
    assert ONE in text
    assert THREE in text


def test_without_a_teammate_the_cells_after_the_board_say_so() -> None:
    said = BOARD.run("Ponder the weather.")[1]
    assert "nobody was started" in said
    assert "message array" not in said


@pytest.mark.slow
@pytest.mark.parametrize(("prompt", "second"), [(ONE, True), (THREE, False)])
def test_the_cells_after_the_board_find_the_claims_of_the_edited_run(
    prompt: str, second: bool
) -> None:
    names, said = BOARD.run(prompt)
    assert "the harness claimed the first task of alice" in said
    begin, part = claim_of(names["alice"].messages, 1)
    assert str(part[-1]["content"]).startswith("<auto-claimed>Task #1")
    assert part == names["alice"].messages[begin : begin + len(part)]
    assert ("No second task was claimed" in said) is not second
    assert ("Task #2" in str(claim_of(names["alice"].messages, 2)[1])) is second


def test_the_claims_of_the_recorded_run_begin_with_the_first_attempt() -> None:
    def calls(*tools: str) -> dict[str, object]:
        made = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in tools]
        return {"role": "assistant", "content": made}

    def results(text: str) -> dict[str, object]:
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    frame = results("<auto-claimed>Task #2: check cairo</auto-claimed>")
    messages = [
        *(results("Begin."), calls("task_list"), results("#1, #2")),
        *(calls("claim_task"), results("taken"), calls("claim_task"), frame),
        *(calls("bash"), results("rows"), calls("task_update", "idle"), frame),
    ]
    assert claim_of(messages, 1) == (3, messages[3:7])
    assert claim_of(messages, 2) == (9, messages[9:11])
    assert claim_of(messages, 3) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prompt", "trees"),
    [
        (DOCS, ["docs"]),
        ("Do two tasks in two worktrees. Check both. Keep both.", ["task-1", "task-2"]),
        ("Ponder the weather.", []),
    ],
)
def test_an_edited_prompt_leaves_nothing_of_the_recorded_run(prompt: str, trees: list[str]) -> None:
    names, said = TREES.run(prompt)
    assert [tree["name"] for tree in names["index"]] == trees
    assert "parser" not in said


def test_lesson_12_suggests_the_prompt_that_is_tried_here() -> None:
    every = nbformat.read(NOTEBOOKS / TREES.notebook, 4).cells
    assert DOCS in "\n".join(cell.source for cell in every)


def test_lesson_9_suggests_an_edit_after_which_the_two_still_talk() -> None:
    texts = "\n".join(cell.source for cell in nbformat.read(NOTEBOOKS / SETTLE.notebook, 4).cells)
    assert f'SETTLE = "{TALK}"' in texts
    names, said = SETTLE.run(TALK)
    sent = [one.data["mail"] for one in names["run"].events if one.type == "mail.sent"]
    between = [(one["from"], one["to"]) for one in sent if "lead" not in (one["from"], one["to"])]
    assert between == [("alice", "bob"), ("bob", "alice")]
    assert "text | <inbox>" in said
    assert "what marks a fault?" in said
    assert "TeammateMessages: 2 tools" in said


@pytest.mark.parametrize(
    ("old", "new"), [("(1, 3, 6)", "(1, 4)"), ("json.dumps(child.messages)", "outcome.text")]
)
def test_an_experiment_with_subagents_ends_in_no_bare_error(old: str, new: str) -> None:
    """It runs in the cell that has the text, and in the one after it."""
    cells = [one.source for one in code_cells("s04_subagents.ipynb")]
    place = next(n for n, one in enumerate(cells) if old in one)
    before = [one for one in cells if one.startswith(("def child_of", "class MyTask"))]
    lab = lk.lesson("s04")
    names: dict[str, Any] = {"lk": lk, "lab": lab}
    try:
        with capture_output():
            for source in (*before, cells[place].replace(old, new), cells[place + 1]):
                if not source.startswith("lab."):
                    ran(source, names)
    finally:
        lab.remove()


@pytest.mark.parametrize(
    ("script", "errors"), [("", {Miss, NameError}), ("[lk.say('Done.')] * 2", set())]
)
def test_another_report_ends_in_no_bare_error(script: str, errors: set[type]) -> None:
    """Without a reply the cell has its panel, and of a missing name the kernel says what to run."""
    cells = [one.source for one in code_cells("s07_tasks.ipynb")]
    place = next(n for n, one in enumerate(cells) if one.startswith("REPORT = "))
    before = next(one for one in cells if one.startswith("PLAN = "))
    edited = cells[place].replace("parse, then transform and emit, then test.", "just do it.")
    if script:
        edited = edited.replace('scenario("night")', f'scenario("night", script={script})')
    lab, raised = lk.lesson("s07"), set[type]()
    names: dict[str, Any] = {"lk": lk, "lab": lab}
    try:
        with capture_output():
            for source in (before, edited, *cells[place + 1 : place + 4]):
                try:
                    ran(source, names)
                except Exception as error:
                    raised.add(type(error))
    finally:
        lab.remove()
    assert raised == errors


def ran(source: str, names: dict[str, Any]) -> object:
    """Run a cell, and return what it shows: the value of its last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(ast.unparse(last), names) if last else None


def code_cells(notebook: str) -> list[Any]:
    every = nbformat.read(NOTEBOOKS / notebook, 4).cells
    return [cell for cell in every if cell.cell_type == "code"]
