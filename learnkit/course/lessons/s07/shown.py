"""Lesson 7's pictures: the board of ``agent.py``, as the package's view draws it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from learnkit.course.exercise_checks import judge
from learnkit.events.log import EventLog
from learnkit.events.tasks import (
    BoardOpened,
    TaskCompleted,
    TaskCreated,
    TaskData,
    TaskFailed,
    TaskRefused,
    TaskStarted,
    TaskUpdated,
)

_EVENTS = {"in_progress": TaskStarted, "completed": TaskCompleted, "failed": TaskFailed}


def board_log(folder: Path) -> EventLog:
    """What is on a board, as a log."""
    log = EventLog()
    files = sorted(folder.glob("task_*.json"))
    tasks = [_data(json.loads(path.read_text("utf-8"))) for path in files]
    log.append(BoardOpened(tasks=tuple(tasks)))
    return log


def completes(agent: Any, log: EventLog) -> Callable[[dict[str, Any]], None]:
    """What a click does: it completes a task, if the learner's ``ready`` lists it.

    Args:
        agent: the module; its folder now is that of the board.
        log: of the picture.
    """
    root = agent.ROOT

    def clicked(intent: dict[str, Any]) -> None:
        before, agent.ROOT = agent.ROOT, root
        try:
            id, tasks = int(intent.get("complete", 0)), agent.load_tasks()
            if why := judge(lambda ready: _refusal(ready(tasks), id), agent.ready):
                log.append(TaskRefused(tool="click", problem=why.rstrip(".")))
            elif id in tasks:
                agent.save_task(done := {**tasks[id], "status": "completed"})
                log.append(TaskCompleted(task=_data(done)))
        finally:
            agent.ROOT = before

    return clicked


def _refusal(ready: Iterable[dict[str, Any]], id: int) -> str | None:
    listed = [one["id"] for one in ready]
    named = ", ".join(f"#{one}" for one in listed) or "nothing"
    return None if id in listed else f"your ready lists {named}, and not #{id}"


def night_log(requests: Iterable[dict[str, Any]]) -> EventLog:
    """What the requests of several runs say about one board; a reply or a restart counts 1 s."""
    log, tasks, time = EventLog(), dict[int, dict[str, Any]](), 0.0
    runs = list[list[dict[str, Any]]]()
    for request in requests:  # the last one of each run holds all of it
        if len(request["messages"]) == 1:
            runs.append([])
        runs[-1:] = [request["messages"]]
    for messages in runs:
        if tasks:
            opened = tuple(map(_data, tasks.values()))
            time += 1  # the restart: what was completed by then isn't in progress
            log.append(BoardOpened(tasks=opened), time=time)
        for said, answer in zip(messages[1::2], messages[2::2], strict=False):
            time += 1
            failed = {one["tool_use_id"] for one in answer["content"] if one.get("is_error")}
            for call in said["content"]:
                if call["type"] == "tool_use" and call["id"] not in failed:
                    _change(log, tasks, call["name"], call["input"], time)
    return log


def _change(
    log: EventLog, tasks: dict[int, dict[str, Any]], name: str, given: dict[str, Any], time: float
) -> None:
    happened: type[Any] = TaskUpdated
    if name == "task_create":
        happened = TaskCreated
        task = {"id": len(tasks) + 1, "status": "pending", "blockedBy": [], **given}
    elif name == "task_update":
        task = {**tasks[given["task_id"]]}
        task["blockedBy"] = [*task["blockedBy"], *given.get("addBlockedBy", [])]
        task["status"] = given.get("status", task["status"])
        happened = _EVENTS.get(given.get("status", ""), TaskUpdated)
    else:
        return
    tasks[task["id"]] = task
    log.append(happened(task=_data(task)), time=time)


def _data(task: dict[str, Any]) -> TaskData:
    return TaskData(
        id=task["id"],
        status=task["status"],
        subject=task["subject"],
        blocked_by=tuple(task["blockedBy"]),
        owner=task.get("owner") or "",
    )
