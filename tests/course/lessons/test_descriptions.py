"""Lesson 2's two games differ in what a model reads, and in nothing else."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.core.tools import Tool
from learnkit.course.content import Game
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s02 import descriptions


def test_the_numbers_are_those_of_the_example() -> None:
    for station in descriptions.LAST:
        with (EXAMPLE / "stations" / f"{station}.csv").open(encoding="utf-8") as lines:
            celsius = {row["time"]: float(row["celsius"]) for row in csv.DictReader(lines)}
        assert descriptions.LAST[station] == celsius["Tue 14:00"]
        change = celsius["Tue 14:00"] - celsius["Mon 14:00"]
        assert descriptions.CHANGE[station] == pytest.approx(change)


@pytest.mark.parametrize("station", descriptions.LAST)
def test_both_sets_of_tools_give_the_same_numbers(station: str) -> None:
    poor, good = descriptions.poor_tools(), descriptions.good_tools()
    for bad, fine in zip(poor, good, strict=True):
        said = fine.run(None, {"station": station})
        assert isinstance(said, str)
        assert float(str(bad.run(None, {"x": station}))) == float(said.removesuffix(" °C"))


def test_only_the_good_ones_say_which_stations_there_are() -> None:
    for tool in descriptions.poor_tools():
        assert tool.run(None, {"x": "Oslo"}) == "error 2"
    for tool in descriptions.good_tools():
        with pytest.raises(lk.ToolError, match=r"no station 'Oslo'\. They are: beijing, oslo"):
            tool.run(None, {"station": "Oslo"})


@pytest.mark.parametrize(
    ("game", "tools"),
    [
        (descriptions.poor, descriptions.poor_tools),
        (descriptions.good, descriptions.good_tools),
    ],
)
def test_a_script_calls_only_tools_that_it_is_offered(
    game: Callable[[], Game], tools: Callable[[], list[Tool]], tmp_path: Path
) -> None:
    made = game()
    agent = lk.Agent(lk.scripted(list(made.script)), made.mechanisms(tmp_path))
    assert agent.run(made.prompt).reason == "end_turn"
    results = [message["content"][0] for message in agent.messages[2::2]]
    assert len(results) == len(made.script) - 1
    assert not any(result.get("is_error") for result in results)
    assert [tool.name for tool in tools()] == list(agent.tools)
