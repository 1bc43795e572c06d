"""The todo view: the list as it stands, the rounds without a look at it, and the reminders."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import drawn, said

import learnkit as lk
from learnkit.views import Todo
from learnkit.views.drawing.display import NARROW, WIDE, WIDEST
from learnkit.views.todo import State


@lk.tool
def work() -> str:
    """Work."""
    return "done"


def item(id: str, status: str, text: str = "a thing") -> dict[str, str]:
    return {"id": id, "text": text, "status": status}


def ran(*replies: Any, todo: lk.Todo | None = None) -> Todo:
    script = [*replies, lk.say("The end.")]
    agent = lk.Agent(lk.scripted(script), [lk.Toolbox(work), todo or lk.Todo()])
    agent.run("go")
    return Todo(agent.events)


def listed(*statuses: str) -> Any:
    return lk.use("todo", items=[item(str(n), status) for n, status in enumerate(statuses, 1)])


def gauge(view: Todo, state: State) -> str:
    return view.draw(state, WIDE, 20)["gauge 0"].says


WORK = lk.use("work")


def test_a_cell_is_filled_where_an_item_changes_its_state() -> None:
    view = ran(listed("in_progress", "pending"), WORK, listed("completed", "in_progress"))
    canvas = drawn(view)
    cells = {shape.key: shape.mark for shape in canvas.shapes if shape.key.startswith("cell")}
    assert cells == {
        **{"cell 0 1": "active", "cell 0 3": "done"},
        **{"cell 1 1": "pending", "cell 1 3": "active"},
    }
    works, done = canvas["cell 0 1"], canvas["cell 0 3"]
    assert works.width > 2 * done.width - 4, "it was in progress for two rounds"
    columns = [canvas[f"round {number}"].x for number in (1, 2, 3)]
    assert works.x < columns[0] < columns[1] < works.x + works.width < done.x < columns[2]
    assert canvas["item 0 0"].says == (
        "completed: a thing; in progress from round 1, completed from round 3"
    )
    assert said(view) == (
        "The list is up to date, without a reminder. 1 of 2 items completed after 3 rounds."
    )


def test_what_is_no_longer_listed_stays_where_it_was() -> None:
    canvas = drawn(ran(listed("pending", "completed"), listed("pending")))
    assert canvas["item 0 0"].lines == ("a thing",)
    gone, line = canvas["item 1 0"], canvas["line 1 1"]
    assert gone.lines == ("a thing (off the list)",)
    assert gone.says == "off the list: a thing; completed from round 1, off the list from round 2"
    assert line.x + float(line.path.removeprefix("M0 0H")) < canvas["round 2"].x


def test_rounds_are_counted_and_a_reminder_stands_behind_its_round() -> None:
    view = ran(listed("pending"), WORK, WORK, WORK, WORK)
    state = view.at()
    assert [one.kind for one in state.rounds] == ["list", "work", "work", "work", "work"]
    assert [one.reminded for one in state.rounds] == [False, False, False, True, False]
    assert [one.since for one in state.rounds] == [0, 1, 2, 3, 1]
    assert state.since == 1
    assert gauge(view, state) == "1 of 3 rounds without an update"
    canvas = drawn(view)
    assert canvas["round 4"].x < canvas["reminder 4"].x < canvas["round 5"].x
    assert canvas["line 4"].x == canvas["reminder 4"].x
    assert "reminder 5" not in canvas
    heights = [canvas[f"bar {number}"].height for number in (2, 3, 4, 5)]
    assert heights == [6, 12, 18, 6], "a full bar is followed by the reminder"
    assert said(view, state) == (
        "Reminded after round 4, the model did not update its list in the next round. "
        "0 of 1 item completed after 5 rounds."
    )
    assert said(view, view.at(event_of(view, "todo.reminded") - 1)) == (
        "The list has not been updated for 2 rounds. 0 of 1 item completed after 3 rounds."
    )


def event_of(view: Todo, type: str) -> int:
    return next(n for n, event in enumerate(view.events, start=1) if event.type == type)


def test_the_gauge_is_full_when_a_reminder_follows() -> None:
    view = ran(listed("pending"), WORK, WORK, WORK, listed("completed"))
    k = event_of(view, "todo.reminded")
    now, over = view.at(k), view.at(k + 1)
    assert (now.since, over.since) == (3, 0)
    assert view.frame(now) == view.frame(over), "no step of the player"
    for state in (now, over):
        assert gauge(view, state) == "3 of 3 rounds without an update"
        assert view.finding(state) == "A reminder follows round 4."
        assert view.draw(state, WIDE, 20)["bar 4"].height == 18
    assert said(view) == (
        "Reminded after round 4, the model updated its list in the next round. "
        "1 of 1 item completed after 5 rounds."
    )


@pytest.mark.parametrize("width", [WIDEST, WIDE, NARROW])
def test_columns_keep_their_places_until_there_is_no_room(width: float) -> None:
    view = ran(listed("pending"), *[WORK] * 12)
    ends = [n for n, e in enumerate(view.events, start=1) if e.type == "message.added"]
    at = [drawn(view, k, width) for k in ends]
    places = [{c["round 1"].x for c in at if "round 12" not in c and "round 1" in c}]
    assert [len(one) for one in places] == [1]
    last = at[-1]
    assert "round 13" in last
    assert ("round 1" in last) == (width > NARROW or "earlier" not in last)
    for canvas in at:
        for shape in canvas.shapes:
            assert 0 <= shape.x <= width
            if shape.kind in ("box", "bar"):
                assert shape.x + shape.width <= width - 2


def test_a_refused_update_is_told_for_one_step_and_stays_marked() -> None:
    view = ran(listed("in_progress", "in_progress"), WORK)
    k = event_of(view, "todo.rejected")
    assert "only one item may be" in view.because(view.at(k)) + view.because(view.at(k + 1))
    assert "only one item may be" not in view.because(view.at())
    assert view.at().rounds[0].kind == "refused"
    assert drawn(view)["round 1"].says == "round 1: an update was refused"
    view = ran(listed("pending"), listed("in_progress", "in_progress"))
    mark = drawn(view)["since 2"]
    assert (mark.lines, mark.mark) == (("✗",), "error")
