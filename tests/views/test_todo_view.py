"""The todo view: the list as it stands, the rounds without a look at it, and the reminders."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.views import Todo
from learnkit.views.drawing.display import WIDE


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


WORK = lk.use("work")


def test_each_item_has_the_mark_of_its_state_and_what_is_gone_has_no_row() -> None:
    view = ran(listed("completed", "in_progress", "pending"))
    frame = view.frame(view.at())
    rows = [html for key, html in frame.items() if key.startswith("list/") and "item" in html]
    assert ["completed" in row for row in rows[:3]] == [True, False, False]
    assert "in progress" in rows[1]
    assert "1 of 3 items completed" in frame["list/count"]
    view = ran(listed("pending", "pending"), listed("completed"))
    assert (
        len([key for key in view.frame(view.at()) if key[:5] == "list/" and key[5:6] == "0"]) == 1
    )


def test_rounds_are_counted_and_a_reminder_stands_behind_its_round() -> None:
    view = ran(listed("pending"), WORK, WORK, WORK, WORK)
    state = view.at()
    assert [one.kind for one in state.rounds] == ["list", "work", "work", "work", "work"]
    assert [one.reminded for one in state.rounds] == [False, False, False, True, False]
    assert state.since == 1
    assert "1 of 3 rounds without a look at the list" in view.frame(state)["rounds/gauge"]
    assert view.finding(state) == (
        "0 of 1 item completed after 5 rounds: a reminder followed round 4, "
        "and no update came in the next."
    )


def test_the_gauge_is_full_when_the_title_says_that_a_reminder_follows() -> None:
    view = ran(listed("pending"), WORK, WORK, WORK, listed("completed"))
    event = next(event for event in view.events if event.type == "todo.reminded")
    old, state = view.at(event.seq), view.at(event.seq + 1)
    assert view.told(state, old, event).startswith("After 3 rounds without a look at the list")
    assert "3 of 3 rounds without a look at the list" in view.frame(state)["rounds/gauge"]
    assert view.frame(state)["rounds/gauge"].count('class="full"') == 3
    canvas = view.draw(state, WIDE, 20)
    assert [canvas[f"gauge {n}"].mark for n in range(3)] == ["call"] * 3
    over = view.at(event.seq + 2)
    assert view.told(over, state, view.events[event.seq + 1]) == (
        "Round 4 is over: other calls, and a reminder went with the results."
    )
    assert "0 of 3 rounds" in view.frame(over)["rounds/gauge"]
    assert view.finding(view.at()) == (
        "1 of 1 item completed after 5 rounds: a reminder followed round 4, "
        "and round 5 updated the list."
    )


def test_several_calls_in_one_reply_are_one_round() -> None:
    view = ran(lk.reply(listed("pending"), WORK, WORK), lk.reply(WORK, WORK))
    assert [one.kind for one in view.at().rounds] == ["list", "work"]


def test_a_refused_update_is_told_for_one_step() -> None:
    view = ran(listed("in_progress", "in_progress"), WORK)
    k = next(e.seq for e in view.events if e.type == "todo.rejected")
    told = view.at(k if view.events[k - 1].type == "todo.rejected" else k + 1)
    assert "only one may be" in view.frame(told)["list/count"]
    assert "only one may be" not in view.frame(view.at())["list/count"]
    assert view.at().rounds[0].kind == "refused"


def test_the_gauge_knows_the_interval() -> None:
    view = ran(listed("pending"), WORK, todo=lk.Todo(remind_after=10))
    assert "1 of 10 rounds" in view.frame(view.at())["rounds/gauge"]
    view = ran(listed("pending"), WORK, todo=lk.Todo(remind_after=0))
    assert "no reminders" in view.frame(view.at())["rounds/gauge"]


def test_the_static_form_says_it_in_tables_too() -> None:
    html = ran(listed("completed", "pending"), WORK, WORK, WORK).html()
    assert "✉ after its results" in html
    assert "other calls" in html
    assert html.count("<tr>") == 2 + 2 + 4
