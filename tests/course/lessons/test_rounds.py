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


def svg(card: Card) -> str:
    (data,) = re.findall(r"base64,([^\"]+)", card.html)
    return base64.b64decode(data).decode()
