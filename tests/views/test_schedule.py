"""The schedule view: steps in the columns of who took them, and the message that is lost."""

from __future__ import annotations

import itertools
import re

import pytest
from canvases import drawn, inside
from static_page import Page
from workday import RACING, Step, log_of, race

from learnkit.views.drawing import static
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape
from learnkit.views.schedule import COLUMNS, Schedule

STARTED, LOST = RACING[0], RACING[5]
STORY = [*RACING[:6], RACING[-1]]


def some(canvas: Canvas, kind: str) -> list[Shape]:
    """The shapes of a kind: ``arrow``, ``label``, ``in``, ``lost``, ``open``."""
    return [one for one in canvas.shapes if one.key.split()[0] == kind]


def test_the_title_says_who_lost_what_and_why() -> None:
    why = "arrived between reading and emptying the file."
    view = Schedule(log_of(STORY))
    assert view.finding(view.at()) == f"carol 1 is lost: it {why}"
    assert not view.because(view.at()), "the title names the only one"
    assert view.finding(view.at(3)) == "1 message sent, none lost."
    bob = race("bob", "wrote", ["bob 2"], ["bob 1", "carol 1", "bob 2"])
    also: Step = ("alice", "race.lost", {"text": "bob 2"})
    two = Schedule(log_of([*STORY[:4], bob, STORY[4], LOST, also]))
    assert two.finding(two.at()) == f"2 of 3 messages are lost: they {why}"
    assert two.because(two.at()) == "Lost of 3 messages: carol 1 and bob 2."
    safe = Schedule(log_of([*STORY[:3], STORY[4]]))
    assert safe.finding(safe.at()) == "1 message sent, none lost."
    assert safe.because(safe.at()) == "No message arrives between the two steps of alice."


def test_a_message_is_an_arrow_from_its_writer_into_the_file_and_reading_one_out_of_it() -> None:
    for width in (WIDE, NARROW):
        canvas = drawn(Schedule(log_of(STORY)), width=width)
        x = {name: canvas[f"life {name}"].x for name in ("of bob", "of carol", "file", "of alice")}
        x = {name.removeprefix("of "): at for name, at in x.items()}
        assert x["bob"] < x["carol"] < x["file"] < x["alice"]
        ends = []
        for arrow in some(canvas, "arrow"):
            reach = re.match(r"M0 0H(-?[\d.]+)", arrow.path)
            assert reach
            ends.append((arrow.x, arrow.x + float(reach[1])))
        near = pytest.approx
        assert ends == [
            near((x["bob"], x["file"] - 2), abs=0.2),
            near((x["file"] + 2, x["alice"]), abs=0.2),
            near((x["carol"], x["file"] - 2), abs=0.2),
            near((x["alice"], x["file"] + 2), abs=0.2),
        ]
        assert [one.lines[0] for one in some(canvas, "label")] == (
            ["bob 1", "reads bob 1", "✗ carol 1", "empties"]
            if width == WIDE  # elsewhere there is no room for each name
            else ["bob 1", "reads b1", "✗ c1", "empties"]
        )


def test_a_lost_message_is_marked_by_glyph_word_and_colour_where_it_was_written_and_lost() -> None:
    view = Schedule(log_of(STORY))
    assert "error" not in {one.mark for one in drawn(view, 5).shapes}
    after = drawn(view)
    assert [one.key for one in after.shapes if one.mark == "error"] == [
        *("arrow 2", "label 2", "in 2 1", "arrow 3", "label 3", "lost 3")
    ]
    assert after["lost 3"].lines == ("✗ lost: carol 1",)
    assert Page(view.html()).text.count("✗ lost: carol 1") == 1


@pytest.mark.parametrize("width", [WIDE, 700, 500, NARROW])
def test_what_is_lost_is_within_the_picture_and_said_in_full(width: float) -> None:
    canvas = drawn(Schedule(log_of(STORY)), width=width)
    assert inside(canvas["lost 3"], canvas)
    assert not canvas["lost 3"].lines[0].endswith("…")


def test_nothing_is_written_over_something_else() -> None:
    many = [(name, n) for n in (1, 2) for name in ("bob", "carol", "dan")]
    start = {"reader": "alice", "writers": ["bob", "carol", "dan"], "seed": 1}
    messages = [f"{name} {n}" for name, n in many]
    steps = [
        race(one.split()[0], "wrote", [one], messages[: n + 1]) for n, one in enumerate(messages)
    ]
    read = race("alice", "read", messages, messages)
    view = Schedule(log_of([("alice", "race.started", start), *steps, read]))
    for width in (WIDE, 500, NARROW):
        canvas = drawn(view, width=width)
        heads = sorted(some(canvas, "head"), key=lambda one: one.x)
        assert [one.lines[0] for one in heads] == ["bob", "carol", "dan", "file", "alice"]
        chips = [one for one in some(canvas, "in") if one.key.split()[1] == "6"]
        each = chips[1].x - chips[0].x
        assert all(b.x - a.x >= 15 for a, b in itertools.pairwise(chips))
        assert chips[-1].x + each <= width + 4
        assert len(chips) == 6
        assert canvas["label 6"].lines == ("reads 6",)


@pytest.mark.slow
@pytest.mark.parametrize(("writers", "steps"), [(1, 0), (1, 200), (30, 200)])
def test_it_stays_small_however_long_the_run_and_many_its_people(writers: int, steps: int) -> None:
    many = [f"w{number % writers} {number}" for number in range(steps)]
    events = [race(one.split()[0], "wrote", [one], many[: at + 1]) for at, one in enumerate(many)]
    view = Schedule(log_of([STARTED, *events]))
    assert len(view.html().encode()) < static.LIMIT
    assert bool(re.search(r"1\d\d earlier steps left out", view.html())) == (steps == 200)
    assert len(view.at().people) == min(COLUMNS, 3 + writers * (steps > 0))
