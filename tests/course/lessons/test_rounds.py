"""Lesson 3's table of runs: what it says of each round, and which runs a model made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import learnkit as lk
from learnkit.course.lessons.s03 import rounds


def played(*script: lk.Reply) -> list[Any]:
    """The messages of an agent with files, bash and a list that follows a script."""
    lab = lk.lesson("s03")
    with lab.scenario("script", script=script) as run:
        agent = run.agent([lk.CodingTools(run.workspace), lk.Todo()])
        agent.run("Go.")
    lab.remove()
    return agent.messages


def test_a_table_tells_lists_files_and_reminders_apart() -> None:
    item = {"id": "1", "text": "test", "status": "in_progress"}
    look = lk.use("bash", command="true")
    edit = lk.use("write_file", path="heatwatch/__main__.py", content="")
    test = lk.use("write_file", path="tests/test_new.py", content="")
    lists = [lk.use("todo", items=[item]), lk.use("todo", items=[{**item, "text": " "}])]
    both = lk.reply(edit, test, lists[0], lists[0])
    script = [lk.reply(lists[0], look), edit, test, look, lists[1], both, lk.say("Done.")]
    messages = played(*script)
    said = rounds.rounds({"this": messages, "none": messages[:1]}).splitlines()
    assert said[:2] == ["this  0$  e  T  $*  !  eT00", "none"]
    assert said[-1].startswith("A column is a round.   n list")
    assert "* reminder" in said[-1]
    assert "r read" not in said[-1]


def test_the_runs_of_a_model_are_there_in_order_and_whole() -> None:
    lab = lk.lesson("s03")
    runs = lab.own_runs()
    lab.remove()
    assert list(runs) == [f"own/{number}" for number in range(1, len(runs) + 1)]
    for run in runs.values():
        assert run[0] == runs["own/1"][0]
        assert run[-1]["role"] == "assistant"
        assert all(block["type"] == "text" for block in run[-1]["content"]), "it has ended"
    listed = ["list:" in rounds.rounds({"": run}) for run in runs.values()]
    assert listed == [True] * 5 + [False] * 4, "own/6 to own/9 have no list"


def test_tests_that_pass_are_seen_and_all_requests_are_counted() -> None:
    call = {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "pytest"}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "3 passed in 0.1s"}
    asked, said = {"role": "user", "content": "Go."}, {"role": "assistant", "content": [call]}
    done = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    messages = [asked, said, {"role": "user", "content": [result]}, done]
    assert rounds.rounds({"this": messages}).startswith("this  p\n")
    agent = SimpleNamespace(system="Act.", specs=[])
    head = lk.estimate_tokens([agent.system, agent.specs])
    both = lk.estimate_tokens(messages[:1]) + lk.estimate_tokens(messages[:3])
    assert rounds.tokens(agent, messages) == 2 * head + both
