"""Lesson 6's picture of what survives a summary: real runs, and a picture that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.core.mechanism import Mechanism
from learnkit.course.lab import Lab
from learnkit.course.lessons.s06.survivors import SIGNS, Survivors, survivors
from learnkit.views.drawing.display import NARROW
from learnkit.views.drawing.text import esc
from learnkit.views.words import TITLE

CARRIED = {"your request", "the newest result", "the plan"}


class Forgets(Mechanism):
    """Keeps nothing, not even the request."""

    def before_model(self, agent: lk.Agent) -> None:
        """Replace the messages once the third log is there."""
        if len(agent.messages) > 8:
            agent.rewrite([{"role": "user", "content": "Go on."}], "forgotten")


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    made = lk.lesson("s06")
    yield made
    made.remove()


@pytest.fixture(scope="module")
def found(lab: Lab) -> Survivors:
    def package(folder: Path) -> Mechanism:
        return lk.Compaction(2_100, transcripts=folder)

    ways = {"Naive": lambda _: Forgets(), "none": lambda _: lk.Toolbox(), "lk.Compaction": package}
    return survivors(lab, ways, (40, 160))


@pytest.mark.slow
def test_what_code_carries_survives_any_summary_and_the_rest_a_long_one(found: Survivors) -> None:
    short, long = found.left["lk.Compaction"].values()
    assert short == CARRIED
    assert long == CARRIED | {"the reason for °C", "what was done"}


def test_without_a_rewrite_all_is_left_and_without_messages_nothing(found: Survivors) -> None:
    assert [*found.left["none"].values()] == [frozenset(SIGNS)] * 2
    assert [*found.left["Naive"].values()] == [frozenset()] * 2


def test_the_picture_and_its_sentence_say_what_is_left(found: Survivors) -> None:
    canvas = found.draw()
    marks = [one for one in canvas.shapes if one.says]
    assert len({(one.x, one.y) for one in marks}) == len(marks)
    assert NARROW <= max(one.x for one in marks) + 10 <= canvas.width
    for name, lengths in found.left.items():
        for keep, left in lengths.items():
            for what in SIGNS:
                assert canvas[f"{name} {keep} {what}"].lines == ("✓" if what in left else "✗",)
    drawn = {line for shape in canvas.shapes for line in shape.lines}
    assert {*SIGNS, *found.left, "characters kept"} <= drawn  # whole, not cut
    assert (
        "lk.Compaction always keeps your request, the newest result and the plan, and always loses "
        "older results."
    ) in str(found)
    shown = found._repr_mimebundle_()["text/html"]
    assert f"<strong>{esc(found.title)}</strong></p><p>{esc(str(found))}</p>" in shown
    assert found.title.endswith("3 with lk.Compaction.")
    assert len(found.title) <= TITLE
    for what in SIGNS:  # as a table, too
        (row,) = re.findall(rf"<tr><td>{re.escape(esc(what))}</td>(.*?)</tr>", found.facts())
        kept = [what in left for lengths in found.left.values() for left in lengths.values()]
        assert re.findall("kept|lost", row) == ["kept" if one else "lost" for one in kept]
