"""Lesson 2's puzzle: the game has the lesson's tools, and the model's own calls reach them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

import learnkit as lk
from learnkit.course import files as course_files
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s02.game import mechanisms

CELLS = [cell.source for cell in nbformat.read(course_files.notebook("s02"), 4).cells]


@pytest.fixture
def tools() -> dict[str, Any]:
    """The three functions of the lesson's cells."""
    cells = AgentCells("s02", None)
    for source in CELLS:
        if source.startswith("%%agent"):
            cells.run("", source.removeprefix("%%agent\n"))
    names: dict[str, Any] = {"agent": cells.module}
    for source in CELLS:
        if "def station(" in source or "def get2(" in source:
            exec(compile(source, "<cell>", "exec", dont_inherit=True), names)
    return names


def workspace(folder: Path) -> Path:
    (folder / "outbox").mkdir(parents=True)
    (folder / "stations").symlink_to(EXAMPLE / "stations")
    return folder


def test_the_game_has_the_tools_that_the_lesson_shows(
    tools: dict[str, Any], tmp_path: Path
) -> None:
    lead = SimpleNamespace(folder=workspace(tmp_path / "lesson"))
    toolbox = mechanisms(workspace(tmp_path / "game"))[0]
    game = {tool.name: tool for tool in toolbox.tools}  # type: ignore[attr-defined]
    for name, given in (
        *((name, {"x": x}) for name in ("get", "get2") for x in ("Oslo", "oslo", "cairo")),
        ("put", {"x": "bob", "y": "It's colder."}),
    ):
        assert game[name].run(None, given) == tools[name](lead, **given)
        assert game[name].spec()["description"] == tools[name].__doc__
    mails = [(tmp_path / one / "outbox/1.txt").read_text() for one in ("lesson", "game")]
    assert mails == ["To: It's colder.\n\nbob\n"] * 2


@pytest.mark.parametrize("repaired", [False, True])
def test_the_models_own_calls_reach_bob_or_say_why_not(
    tools: dict[str, Any], repaired: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, put = (one for one in CELLS if "own_runs()" in one or 'lab.scenario("put"' in one)
    (folded,) = (one for one in CELLS if "<summary>One way" in one)
    if repaired:
        begin, end = put.index("    (lead.folder"), put.index("\n\n\nwith lab")
        put = put[:begin] + folded.split("```")[1].removeprefix("python\n").rstrip() + put[end:]
    tools["lab"] = lk.lesson("s02")
    for source in (runs, put):
        capsys.readouterr()
        exec(compile(source, "<cell>", "exec", dont_inherit=True), tools)
    tools["lab"].remove()
    said = [line.split(": ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    if repaired:
        assert all(one.startswith("ValueError: y is who gets it, alice or bob") for one in said[:3])
        assert said[3:] == ["Mailed to bob."] * 3
    else:
        assert said == ["ok"] * 6
