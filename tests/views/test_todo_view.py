"""The todo view: the list as it stands, the rounds without a look at it, and the reminders."""

from __future__ import annotations

from typing import Any

from canvases import said

import learnkit as lk
from learnkit.views import Todo
from learnkit.views.drawing.display import WIDE
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
    return "".join(view.draw(state, WIDE, 20)["gauge is 0"].lines)


WORK = lk.use("work")


def test_each_item_has_the_mark_of_its_state_and_what_is_gone_has_no_row() -> None:
    view = ran(listed("completed", "in_progress", "pending"))
    canvas = view.draw(view.at(), WIDE, 20)
    assert [canvas[f"text {n} 0"].mark for n in range(3)] == ["done", "active", "pending"]
    assert canvas["item 1"].says == "in progress: a thing"
    assert said(view).startswith("1 of 3 items completed")
    view = ran(listed("pending", "completed"), listed("completed"))
    canvas = view.draw(view.at(), WIDE, 20)
    assert [f"item {n}" in canvas for n in range(2)] == [True, False]


def test_rounds_are_counted_and_a_reminder_stands_behind_its_round() -> None:
    view = ran(listed("pending"), WORK, WORK, WORK, WORK)
    state = view.at()
    assert [one.kind for one in state.rounds] == ["list", "work", "work", "work", "work"]
    assert [one.reminded for one in state.rounds] == [False, False, False, True, False]
    assert state.since == 1
    assert gauge(view, state) == "1 of 3 rounds without an update of the list"
    canvas = view.draw(state, WIDE, 20)
    assert canvas["round 4"].x < canvas["reminder 4"].x < canvas["round 5"].x
    assert "reminder 5" not in canvas
    assert said(view, state) == (
        "0 of 1 item completed. After 5 rounds: a reminder followed round 4, "
        "and no update came in the next."
    )


def test_the_gauge_is_full_when_a_reminder_follows() -> None:
    view = ran(listed("pending"), WORK, WORK, WORK, listed("completed"))
    event = next(event for event in view.events if event.type == "todo.reminded")
    state = view.at(event.seq + 1)
    assert gauge(view, state).startswith("3 of 3 rounds without an update of the list")
    canvas = view.draw(state, WIDE, 20)
    assert [canvas[f"gauge {n}"].mark for n in range(3)] == ["call"] * 3
    over = view.at(event.seq + 2)
    assert gauge(view, over).startswith("0 of 3 rounds")
    assert said(view) == (
        "1 of 1 item completed. After 5 rounds: a reminder followed round 4, "
        "and round 5 updated the list."
    )


def test_a_refused_update_is_told_for_one_step() -> None:
    view = ran(listed("in_progress", "in_progress"), WORK)
    k = next(e.seq for e in view.events if e.type == "todo.rejected")
    told = view.at(k if view.events[k - 1].type == "todo.rejected" else k + 1)
    assert "only one item may be" in str(view.draw(told, WIDE, 20).shapes)
    assert "only one item may be" not in str(view.draw(view.at(), WIDE, 20).shapes)
    assert view.at().rounds[0].kind == "refused"
