"""Todo: a list that is checked before it counts, and a reminder that comes when it should."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.mechanisms.todo import MAX_ITEMS, MAX_TEXT

STATUSES = ("pending", "in_progress", "completed")


def item(id: str, status: str = "pending", text: str = "", **more: str) -> dict[str, str]:
    return {"id": id, "text": text or f"thing {id}", "status": status, **more}


def called(todo: lk.Todo, items: Any) -> str:
    (tool,) = todo.tools
    return str(tool.run(None, {"items": items}))


@lk.tool
def work(step: str = "") -> str:
    """Do something."""
    return "done"


def ran(todo: lk.Todo, *replies: Any) -> lk.Agent:
    script = [*replies, lk.say("The end.")]
    agent = lk.Agent(lk.scripted(script), [lk.Toolbox(work), todo])
    assert agent.run("go").reason == "end_turn"
    return agent


def notes(agent: lk.Agent) -> list[tuple[int, str]]:
    """The texts that stand after results: which user message they are in, and what they say."""
    found = []
    users = [m for m in agent.messages if m["role"] == "user" and not isinstance(m["content"], str)]
    for number, message in enumerate(users, start=1):
        kinds = [block["type"] for block in message["content"]]
        assert kinds == sorted(kinds, reverse=True), "results come first, texts after them"
        found += [(number, b["text"]) for b in message["content"] if b["type"] == "text"]
    return found


# The list


def test_the_list_is_shown_with_marks_and_a_count() -> None:
    todo = lk.Todo()
    items = [item("1", "completed"), item("2", "in_progress"), item("3", note="later")]
    assert called(todo, items).splitlines() == [
        "[x] #1: thing 1",
        "[>] #2: thing 2",
        "[ ] #3: thing 3 (later)",
        "(1/3 completed)",
    ]
    assert [one["id"] for one in todo.open] == ["2", "3"]


def test_an_update_replaces_the_whole_list() -> None:
    todo = lk.Todo()
    called(todo, [item("1", "completed"), item("2")])
    called(todo, [item("2", "completed"), item("3", "completed")])
    assert [one["id"] for one in todo.items] == ["2", "3"]
    assert called(todo, []) == "The list is empty."


def test_an_update_may_leave_out_what_is_completed_but_nothing_that_is_open() -> None:
    todo = lk.Todo()
    called(todo, [item("1", "completed"), item("2", "in_progress"), item("3")])
    with pytest.raises(lk.ToolError, match="missing in your list: thing 2, thing 3"):
        called(todo, [item("4")])
    assert [one["id"] for one in todo.items] == ["1", "2", "3"]
    called(todo, [item("2", "completed"), item("3", text="reworded")])
    assert [one["text"] for one in todo.open] == ["reworded"]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([item("1"), item("1")], "item 2: another item already has the id '1'"),
        ([item(" ")], "item 1 has no id"),
        ([item("1", text=" \n")], "item '1' has no text"),
        ([item("1", "in_progress"), item("2", "in_progress")], "items 1, 2 are in_progress"),
        (
            [item(str(n)) for n in range(MAX_ITEMS + 1)],
            "21 items are too many, at most 20 fit",
        ),
        ([item("1", text="x" * (MAX_TEXT + 1))], "the text has 501 characters; at most 500"),
        ([item("1", "started")], "items.0.status"),
        ([{"id": "1", "status": "pending"}], "'items.0.text' is missing"),
        ([{**item("1"), "owner": "me"}], "items.0.owner"),
        ("[{", "argument 'items'"),
        ("__import__('os').remove('x')", "argument 'items'"),
        (7, "argument 'items'"),
    ],
)
def test_an_invalid_update_is_refused_and_changes_nothing(items: Any, words: str) -> None:
    todo = lk.Todo()
    called(todo, [item("1", "in_progress"), item("2")])
    before = todo.items
    with pytest.raises(lk.ToolError) as caught:
        called(todo, items)
    assert words in str(caught.value)
    assert todo.items == before


def test_a_text_with_line_breaks_cannot_look_like_another_item() -> None:
    todo = lk.Todo()
    shown = called(todo, [item("1", text="harmless\n[x] #2: all tests pass")])
    assert len(shown.splitlines()) == 2
    assert not todo.items[0]["text"].startswith("[")


def test_the_list_cannot_be_changed_from_outside() -> None:
    todo = lk.Todo()
    called(todo, [item("1")])
    todo.items.clear()
    todo.items[0]["text"] = "changed"
    assert todo.items == [item("1")]


ITEMS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["1", "2", "3", ""]),
            "text": st.sampled_from(["a", "b", " ", "c\nd"]),
            "status": st.sampled_from([*STATUSES, "done"]),
        },
        optional={"note": st.text(max_size=5), "owner": st.just("me")},
    ),
    max_size=4,
)


@given(st.lists(st.one_of(ITEMS, ITEMS.map(json.dumps), st.text(max_size=9)), max_size=6))
def test_whatever_is_sent_the_list_is_always_a_valid_one(updates: list[Any]) -> None:
    todo, events = lk.Todo(), lk.EventLog()
    agent = lk.Agent(lk.scripted([]), [todo], events=events)
    for update in updates:
        before = todo.items
        try:
            agent.tools["todo"].run(agent, {"items": update})
        except lk.ToolError:
            assert todo.items == before
        else:
            assert events[-1].type == "todo.updated"
            assert events[-1].data["items"] == todo.items
        ids = [one["id"] for one in todo.items]
        assert len(set(ids)) == len(ids)
        assert all(one["id"] and one["text"] and "\n" not in one["text"] for one in todo.items)
        assert sum(one["status"] == "in_progress" for one in todo.items) <= 1
        assert len(todo.render().splitlines()) == len(ids) + bool(ids) or not ids


# The reminder


def lists(*statuses: str) -> Any:
    return lk.use("todo", items=[item(str(n), status) for n, status in enumerate(statuses)])


def test_a_reminder_follows_the_results_after_three_rounds_and_counting_starts_again() -> None:
    agent = ran(lk.Todo(), lists("pending"), *[lk.use("work")] * 7)
    assert [number for number, _ in notes(agent)] == [4, 7]
    assert all("todo list" in text for _, text in notes(agent))
    reminded = [event.data for event in agent.events if event.type == "todo.reminded"]
    assert [one["rounds"] for one in reminded] == [3, 3]
    assert [one["text"] for one in reminded] == [text for _, text in notes(agent)]


def test_an_update_starts_the_count_again() -> None:
    work = lk.use("work")
    agent = ran(lk.Todo(), lists("pending"), work, work, lists("in_progress"), work, work, work)
    assert [number for number, _ in notes(agent)] == [7]


@given(st.lists(st.sampled_from(["todo", "todo done", "work", "bad"]), max_size=14))
def test_reminders_come_after_exactly_so_many_rounds_without_a_change(rounds: list[str]) -> None:
    replies = {
        "todo": lists("pending"),
        "todo done": lists("completed"),
        "work": lk.use("work"),
        "bad": lk.use("no_such_tool"),
    }
    agent = ran(lk.Todo(), *(replies[name] for name in rounds))
    expected, since, last = [], 0, ""
    for number, name in enumerate(rounds, start=1):
        changed = name.startswith("todo") and name != last
        last, since = (name, 0) if changed else (last, since + 1)
        if since >= 3 and last == "todo":
            expected.append(number)
            since = 0
    assert [number for number, _ in notes(agent)] == expected


# What others see


def test_the_open_list_is_what_must_survive_a_compaction() -> None:
    todo = lk.Todo()
    agent = lk.Agent(lk.scripted([]), [todo])
    assert todo.carry(agent) is None
    called(todo, [item("1", "completed"), item("2")])
    assert "[ ] #2: thing 2" in str(todo.carry(agent))
    called(todo, [item("2", "completed")])
    assert todo.carry(agent) is None


def test_updates_and_refusals_are_events() -> None:
    agent = ran(lk.Todo(), lists("in_progress", "in_progress"), lists("completed", "pending"))
    told = [(e.type, e.data) for e in agent.events if e.type.startswith("todo.")]
    assert [kind for kind, _ in told] == ["todo.rejected", "todo.updated"]
    assert "only one" in told[0][1]["problem"]
    assert (told[1][1]["done"], told[1][1]["total"]) == (1, 2)
    (refused,) = [e for e in agent.events if e.type == "tool.ended" and e.data["is_error"]]
    assert "The list is unchanged." in refused.data["output"]
