"""Lesson 3's picture of runs: what it says of each round, and which runs a model made."""

from __future__ import annotations

import base64
import re

import learnkit as lk
from learnkit.course.display.card import Card
from learnkit.course.lessons.s03 import rounds


def test_a_picture_tells_lists_files_and_reminders_apart() -> None:
    item = {"id": "1", "text": "test", "status": "in_progress"}
    look = lk.use("bash", command="true")
    edit = lk.use("write_file", path="heatwatch/__main__.py", content="")
    test = lk.use("write_file", path="tests/test_new.py", content="")
    lists = [lk.use("todo", items=[item]), lk.use("todo", items=[{**item, "text": " "}])]
    both = lk.reply(edit, test, lists[0], lists[0])
    script = [lk.reply(lists[0], look), edit, test, look, lists[1], both, lk.say("Done.")]
    lab = lk.lesson("s03")
    with lab.scenario("script", script=script) as run:
        agent = run.agent([lk.CodingTools(run.workspace), lk.Todo()])
        agent.run("Go.")
    lab.remove()
    card = rounds.rounds({"this": agent.messages, "none": agent.messages[:1]})
    first, second = str(card).split("\n")
    assert first == (
        "this: 6 rounds, 1 reminder: list 0/1 + bash; main; tests/; bash + a reminder; "
        "list refused; 2 edits + list 2× 0/1."
    )
    assert second == "none: 0 rounds: ."
    assert ">a reminder<" in svg(card)
    ordered = rounds.rounds({"this": agent.messages[-4:]}, in_order=True)
    assert str(ordered) == "this: 1 round: main + tests/ + list 0/1 + list 0/1."
    assert ">a reminder<" not in svg(ordered), "a legend of what isn't drawn"


def test_a_run_without_its_lists_has_no_call_result_or_reminder_of_them() -> None:
    look, todo = lk.use("bash", command="true"), lk.use("todo", items=[])
    lab = lk.lesson("s03")
    with lab.scenario("script", script=[lk.reply(todo, look), todo, lk.say("Done.")]) as run:
        agent = run.agent([lk.CodingTools(run.workspace), lk.Todo()])
        agent.run("Go.")
    lab.remove()
    left = rounds.without_list(agent.messages)
    assert [message["role"] for message in left] == ["user", "assistant", "user", "assistant"]
    assert [len(message["content"]) for message in left] == [1] * 4
    assert left[1]["content"][0]["id"] == left[2]["content"][0]["tool_use_id"]


def test_the_runs_of_a_model_are_there_in_order_and_whole() -> None:
    runs = rounds.own_runs()
    assert list(runs) == [f"own/{number}" for number in range(1, len(runs) + 1)]
    for run in runs.values():
        assert run[0] == runs["own/1"][0]
        assert run[-1]["role"] == "assistant"
        assert all(block["type"] == "text" for block in run[-1]["content"]), "it has ended"
    listed = ["list" in line for line in str(rounds.rounds(runs)).splitlines()]
    assert listed == [True] * 5 + [False] * 4, "own/6 to own/9 have no list"


def svg(card: Card) -> str:
    (data,) = re.findall(r"base64,([^\"]+)", card.html)
    return base64.b64decode(data).decode()
