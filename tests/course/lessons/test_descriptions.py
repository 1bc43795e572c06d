"""Lesson 2's puzzle: the game has the lesson's tools, and what descriptions leave open."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from learnkit.course import files as course_files
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s02.descriptions import left_open
from learnkit.course.lessons.s02.game import mechanisms

CELLS = [cell.source for cell in nbformat.read(course_files.notebook("s02"), 4).cells]
GET = "The latest temperature in °C. x: the station in lower case."
GET2 = "How much warmer (+) or colder (-) it is than yesterday. x: as for get."
PUT = "Send an email. x: its text. y: who gets it."
GOOD = [GET, GET2, PUT]
RIGHT = "✓ Whoever reads these three can solve the puzzle."


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


def test_the_lessons_own_texts_leave_all_open_and_the_folded_ones_nothing(
    tools: dict[str, Any],
) -> None:
    three = [tools[name] for name in ("get", "get2", "put")]
    spec_of = tools["agent"].spec_of
    assert left_open([spec_of(one) for one in three]).startswith("not yet: nothing says that `get`")
    (folded,) = (source for source in CELLS if "Three that would do" in source)
    for function, text in zip(three, folded.split('"""')[1::2], strict=True):
        function.__doc__ = text
    assert left_open([spec_of(one) for one in three]).startswith(RIGHT)


@pytest.mark.parametrize(
    ("place", "text", "says"),
    [
        (0, "The latest value of a station in lower case.", "nothing says that `get` gives a"),
        (0, "The latest temperature of a station, in °C.", "nothing says how to write a station"),
        (1, "Yesterday's value of the station.", "from your `get2`, a model takes −1.4"),
        (1, "How much warmer it is than before.", "`get2` compares two temperatures, and nothing"),
        (1, "The difference to yesterday.", "nothing says which way round `get2` subtracts"),
        (2, "Write x down for y.", "nothing says that `put` sends an email"),
        (2, "Send an email. x is the text.", "nothing says which argument of `put` is the"),
        (2, "Send an email. x: the recipient. y: the text.", "your `put` sends the mail to x, but"),
        (2, "Send an email.\nx: whom to\ny: what", "your `put` sends the mail to x, but"),
        (0, "Degrees Celsius now. x: a station (cairo, oslo)", ""),
        (1, "The difference now - 24 hours before (°C).", ""),
        (1, "Change since this time yesterday; negative: it's colder.", ""),
        (2, "Mails the text x to y.", ""),
        (2, "x: message\ny: recipient", ""),
        (2, "Send a mail; y is the address and x the text", ""),
        (2, "Send an email.\n\nArgs:\n    x: text\n    y (str): name of a person", ""),
    ],
)
def test_a_description_that_leaves_something_open_is_told_what_comes_of_it(
    place: int, text: str, says: str
) -> None:
    texts = [*GOOD[:place], text, *GOOD[place + 1 :]]
    names = {"get": "x", "get2": "x", "put": "xy"}
    specs = [
        {"name": name, "description": one, "input_schema": {"properties": dict.fromkeys(given)}}
        for (name, given), one in zip(names.items(), texts, strict=True)
    ]
    assert left_open(specs).startswith(f"not yet: {says}" if says else RIGHT)
