"""Lesson 12's last picture: which mechanism an event tells about, and what the whole shows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from learnkit.course.lessons.s12.twelve import MECHANISMS, Twelve, mechanism
from learnkit.events import vocabulary
from learnkit.events.log import Event, EventLog
from learnkit.views.drawing.display import NARROW, WIDE

#: One type of event for each mechanism, in the order of the lessons.
TYPES = (
    *("model.replied", "tool.started", "todo.updated", "subagent.started", "skill.loaded"),
    *("compaction.summarised", "task.created", "job.started", "team.spawned", "request.opened"),
    *("task.started", "worktree.create"),
)


def logged(*events: tuple[float, str, str]) -> EventLog:
    """A log of events with a time, a lane and a type."""
    log = EventLog()
    for time, lane, type in events:
        log.append(type, lane, time)
    return log


def only(lane: str, type: str) -> Event:
    """One event."""
    return logged((0.0, lane, type))[0]


def a_day(agents: tuple[str, ...] = ("lead", "alice", "bob")) -> EventLog:
    """All twelve mechanisms act for every agent, one a second."""
    events = [(float(second), agent, type) for second, type in enumerate(TYPES) for agent in agents]
    return logged(*events)


@pytest.mark.parametrize(("row", "type"), list(enumerate(TYPES)))
def test_each_mechanism_has_events_that_tell_about_it(row: int, type: str) -> None:
    assert mechanism(only("lead", type)) == row


@pytest.mark.parametrize(
    "type", ["board.opened", "skills.listed", "tokens.estimated", "worktree.commits", "my.own"]
)
def test_what_only_says_how_things_are_is_no_act(type: str) -> None:
    event = only("lead", type)
    assert mechanism(event) is None
    assert Twelve([event]).at() == Twelve.start


def test_every_type_of_the_lessons_has_a_row_or_is_quiet() -> None:
    for known in vocabulary.declarations():
        row = mechanism(only("lead", known.name))
        assert row is None or 0 <= row < len(MECHANISMS)


def test_the_finding_names_what_is_missing_and_then_which_began_last() -> None:
    view = Twelve(a_day(("lead",)))
    assert view.finding(view.at(0)) == "No mechanism has acted so far."
    assert "1 of 12 mechanisms have acted in one run of 1 agent. Not yet: 11 others." in view.line(
        view.at(1)
    )
    assert "of 1 agent. Not yet: autonomy and worktrees." in view.line(view.at(10))
    assert view.line(view.at()) == (
        "twelve mechanisms: All twelve mechanisms acted in one run of 1 agent. "
        "Protocols, autonomy and worktrees began last, at 9 s."
    )


def test_a_subagent_counts_as_the_agent_that_started_it() -> None:
    view = Twelve(logged((0.0, "lead", "model.replied"), (1.0, "lead.toolu_1", "model.replied")))
    assert view.at().agents == ("lead",)


def test_the_same_act_again_is_no_new_mark() -> None:
    view = Twelve(logged((2.0, "lead", "tool.started"), (2.0, "lead", "tool.ended")))
    assert view.at(1) is not view.at(2)
    assert view.at(1) == view.at(2)


def test_what_just_changed_is_said_with_its_mechanism_and_agent() -> None:
    event = only("alice", "task.returned")
    view = Twelve([event])
    said = view.told(view.at(), view.at(0), event)
    assert said.startswith("Autonomy, alice: ")


@pytest.mark.parametrize("width", [WIDE, 480, NARROW])
def test_nothing_is_cut_or_outside_and_no_mark_covers_another(width: float) -> None:
    view = Twelve(a_day())
    canvas = view.draw(view.at(), width, 60)
    marks: list[Any] = [one for one in canvas.shapes if one.key.startswith("act ")]
    assert len(marks) == 3 * len(MECHANISMS)
    for shape in canvas.shapes:
        assert shape.x + shape.width <= width
        assert shape.y + shape.height <= canvas.height
        assert not any("…" in line for line in shape.lines), shape.lines
    places = sorted((one.x, one.y, one.y + one.height) for one in marks)
    for (x, _, low), (other, top, _) in pairwise(places):
        assert x != other or low <= top + 0.2


def test_the_static_form_has_the_same_as_a_table() -> None:
    html = Twelve(a_day()).html()
    assert html.count("<tr>") == 1 + len(MECHANISMS)
    assert html.count("<td>3 times, at ") == len(MECHANISMS)
    assert "lead, alice and bob" in html
    assert len(html.encode()) < 20_000
