"""Tasks: what a model can do with a board, and what the log tells of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from logged import outputs

import learnkit as lk
from learnkit.mechanisms.tasks import Person, clicks, log_news


@pytest.fixture
def board(tmp_path: Path) -> lk.TaskBoard:
    return lk.TaskBoard(tmp_path / ".tasks")


def ran(board: lk.TaskBoard, *replies: Any, prompt: str = "go") -> lk.Agent:
    agent = lk.Agent(lk.scripted([*replies, lk.say("The end.")]), [lk.Tasks(board)])
    assert agent.run(prompt).reason == "end_turn"
    return agent


def told(agent: lk.Agent) -> list[tuple[str, Any]]:
    """The events of the board: type, and the task's number."""
    found = [e for e in agent.events if e.type.startswith(("task.", "board."))]
    return [(e.type, e.data.get("task", {}).get("id")) for e in found]


def chain(*edges: tuple[int, int]) -> list[Any]:
    return [lk.use("task_update", task_id=b, addBlockedBy=[a]) for a, b in edges]


def test_three_tasks_each_after_the_one_before(board: lk.TaskBoard) -> None:
    names = ("parse", "transform", "emit")
    create = lk.reply(*(lk.use("task_create", subject=name) for name in names))
    agent = ran(
        board,
        create,
        lk.reply(*chain((1, 2), (2, 3))),
        lk.use("task_list"),
        lk.use("task_update", task_id=1, status="in_progress"),
        lk.use("task_update", task_id=1, status="completed", result_summary="3 columns"),
        lk.use("task_list"),
    )
    said = outputs(agent)
    assert said[:3] == ["[ ] #1: parse", "[ ] #2: transform", "[ ] #3: emit"]
    assert said[5].splitlines() == [
        "[ ] #1: parse",
        "[ ] #2: transform (blocked by: [1])",
        "[ ] #3: emit (blocked by: [2])",
        "(0/3 completed)",
    ]
    assert said[6] == "[>] #1: parse @lead"
    assert said[7] == "[x] #1: parse @lead\nReady now: #2"
    assert said[8].splitlines() == [
        "[x] #1: parse @lead",
        "[ ] #2: transform",
        "[ ] #3: emit (blocked by: [2])",
        "(1/3 completed)",
    ]
    assert told(agent) == [
        *(("task.created", id) for id in (1, 2, 3)),
        *(("task.updated", id) for id in (1, 2, 2, 3)),
        ("task.started", 1),
        ("task.completed", 1),
    ]
    (completed,) = [e for e in agent.events if e.type == "task.completed"]
    assert completed.data["freed"] == [2]
    assert completed.data["task"]["result_summary"] == "3 columns"


def test_a_new_agent_finds_the_board_as_it_was(board: lk.TaskBoard) -> None:
    ran(board, lk.reply(*(lk.use("task_create", subject=s) for s in ("a", "b"))), *chain((1, 2)))
    again = ran(lk.TaskBoard(board.folder), lk.use("task_get", task_id=2))
    (shown,) = outputs(again)
    assert json.loads(shown)["blockedBy"] == [1]
    (opened,) = [e for e in again.events if e.type == "board.opened"]
    assert [task["subject"] for task in opened.data["tasks"]] == ["a", "b"]
    assert told(again) == [("board.opened", None)]


def test_what_is_refused_is_an_error_result_and_logged(board: lk.TaskBoard) -> None:
    agent = ran(
        board,
        lk.use("task_create", subject="a"),
        lk.use("task_update", task_id=1, addBlockedBy=[1]),
        lk.use("task_get", task_id=7),
        lk.use("task_update", task_id=1, status="done"),
        lk.use("task_create", subject="  "),
    )
    ended = [e.data for e in agent.events if e.type == "tool.ended"]
    assert [data["is_error"] for data in ended] == [False, True, True, True, True]
    assert [data["how"] for data in ended[1:]] == ["raised", "raised", "invalid", "raised"]
    refused = [e.data for e in agent.events if e.type == "task.refused"]
    assert [data["tool"] for data in refused] == ["task_update", "task_get", "task_create"]
    assert refused[0]["problem"] == "task 1 cannot wait for itself"


def test_a_run_that_starts_logs_what_others_have_changed_meanwhile(board: lk.TaskBoard) -> None:
    # A teammate that was between its claim and its log lost the claim to one that began.
    board.create("a")
    first = lk.Agent(lk.scripted([lk.say("ok")] * 2), [lk.Tasks(board)])
    first.run("go")
    assert told(first) == [("board.opened", None)]
    board.claim(1, "bob")
    board.create("b")
    first.run("go on")
    assert told(first)[1:] == [
        ("task.started", 1),
        ("task.created", 2),
        ("board.opened", None),
    ]


def test_a_task_that_was_begun_before_anybody_looked_is_new_and_begun(board: lk.TaskBoard) -> None:
    other = lk.TaskBoard(board.folder)
    other.claim(other.create("from another process").id, "bob")
    other.update(other.create("a second").id, "completed")
    log = lk.EventLog()
    log_news(board, Person(log))
    assert [event.type for event in log] == [
        *("task.created", "task.started", "task.created", "task.completed")
    ]


def test_deleting_and_failing_and_giving_back(board: lk.TaskBoard) -> None:
    agent = ran(
        board,
        lk.reply(*(lk.use("task_create", subject=s, tags=["docs"]) for s in "abc")),
        lk.use("task_update", task_id=1, status="in_progress"),
        lk.use("task_update", task_id=1, status="pending"),
        lk.use("task_update", task_id=2, status="failed"),
        lk.use("task_update", task_id=3, status="deleted"),
        lk.use("task_list"),
    )
    assert outputs(agent)[-2] == "Deleted #3."
    assert outputs(agent)[-1].splitlines() == [
        "[ ] #1: a {docs}",
        "[!] #2: b {docs}",
        "(0/2 completed)",
    ]
    kinds = [type for type, _ in told(agent)[3:]]
    assert kinds == ["task.started", "task.returned", "task.failed", "task.deleted"]


def test_what_survives_a_compaction_is_that_there_is_a_board(board: lk.TaskBoard) -> None:
    agent = ran(board)
    (tasks,) = agent.mechanisms
    assert tasks.carry(agent) is None
    board.create("a")
    assert (
        tasks.carry(agent)
        == "<tasks>Open tasks on the board: 1. Call task_list to see them.</tasks>"
    )
    board.update(1, "completed")
    assert tasks.carry(agent) is None


# Clicks


def test_a_click_completes_a_task_and_is_logged(board: lk.TaskBoard) -> None:
    log = lk.EventLog()
    log.append("run.started", time=4.5)
    board.create("a")
    board.create("b")
    board.update(2, add_blocked_by=[1])
    board.open()
    click = clicks(board, log)
    click({"complete": 2})
    click({"complete": 1})
    assert [(e.type, e.lane, e.time) for e in log][1:] == [
        ("task.refused", "person", 4.5),
        ("task.completed", "person", 4.5),
    ]
    assert log[1].data == {
        "tool": "click",
        "problem": "task 2 is blocked by 1; complete them first",
    }
    assert log[2].data["freed"] == [2]
    assert board.get(1).status == "completed"
