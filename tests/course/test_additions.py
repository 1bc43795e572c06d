"""What a lesson adds, as the code has it and as ``learnkit diff`` prints it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from learnkit.course.additions import NAMES, Addition, addition, between, code_lines
from learnkit.errors import UsageError
from learnkit.events.vocabulary import declarations
from learnkit.harness import PARTS
from learnkit.terminal.cli import app
from learnkit.terminal.lesson_diff import as_text


def test_compaction_adds_one_tool_two_hooks_and_no_prompt() -> None:
    found = addition("s06")
    assert found.mechanisms == ("Compaction",)
    assert list(found.tools) == ["compact"]
    assert found.hooks == ("tools", "before_model")
    assert "compaction.summarised" in found.events
    assert found.prompt == ""
    assert "mechanisms/compaction/policies.py" in found.files


def test_the_loop_is_lesson_1_and_adds_no_mechanism() -> None:
    found = addition("s01")
    assert (found.mechanisms, found.tools, found.hooks, found.tokens) == ((), {}, (), 0)
    assert found.files == ("core/agent.py",)
    assert "model.requested" in found.events


def test_a_tool_that_only_an_option_adds_is_no_tool_of_the_agent() -> None:
    found = addition("s03")
    assert list(found.tools) == ["todo"]
    assert "todo_update" in found.more_tools


@pytest.mark.slow
def test_every_part_of_the_harness_is_a_lesson_and_every_event_of_a_lesson_is_named() -> None:
    every = [addition(name) for name in NAMES]
    assert len(every) == 2 + len(PARTS) == 12
    assert all(one.mechanisms and one.tools and one.lines > 60 for one in every[1:])
    named = [event for one in every for event in one.events]
    assert sorted(named) == sorted(one.name for one in declarations() if one.lesson)
    tools = [name for one in every for name in one.tools]
    assert len(set(tools)) == len(tools)


@pytest.mark.slow
def test_between_two_lessons_are_all_that_follow_the_first() -> None:
    assert [one.lesson for one in between("s05", "s08")] == ["s06", "s07", "s08"]
    assert [one.lesson for one in between("s05")] == ["s05"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["s06", "s05"], "s05 does not come after s06; give the earlier lesson first: s05 s06"),
        (["s05", "s05"], "both lessons are s05"),
        (["s77"], "there is no lesson 's77'; there are: s01, s02"),
        (["s01", "s77"], "there is no lesson 's77'"),
    ],
)
def test_lessons_that_cannot_be_compared_are_a_sentence(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        between(*words)
    assert CliRunner().invoke(app, ["diff", *words]).exit_code != 0


def test_lines_of_code_are_those_that_do_something() -> None:
    source = '''
"""A docstring
of two lines."""

# a comment

def f():
    "Another."
    text = """one
    two"""

    return text  # said at the end
'''
    assert code_lines(source) == 4


@pytest.mark.slow
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_it_fits_the_terminal_and_leaves_nothing_out(width: int) -> None:
    shown = as_text(between("s08", "s10"), width)
    assert max(map(len, shown.splitlines())) <= max(30, min(width, 100))
    whole = " ".join(shown.split())
    for one in between("s08", "s10"):
        for name in (*one.mechanisms, *one.tools, *one.hooks, *one.events):
            assert name in "".join(whole.split()), name
        assert f"{one.lines:,} of code" in whole
    assert "The loop did not change." in whole


def test_the_command_shows_one_lesson_or_json() -> None:
    shown = CliRunner().invoke(app, ["diff", "s06"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    assert shown.output.startswith("Lesson 6, Compaction, adds to lesson 5:\n")
    assert "hook    + tools: compact\n        + before_model: make it shorter\n" in shown.output
    (found,) = json.loads(CliRunner().invoke(app, ["diff", "s05", "s06", "--json"]).output)
    assert found["tools"] == addition("s06").tools
    assert set(found) == set(Addition.__dataclass_fields__)


def test_a_long_prompt_is_cut_and_a_short_one_is_not() -> None:
    long, short = as_text([addition("s05")], 80), as_text([addition("s03")], 80)
    assert "--json has all of it" in " ".join(long.split())
    assert len(long.splitlines()) < 30
    assert addition("s03").prompt in " ".join(short.split())
