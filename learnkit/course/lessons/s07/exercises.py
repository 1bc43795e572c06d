"""Lesson 7's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Iterable
from typing import Any, cast

import learnkit as lk
from learnkit.backends.task import Status
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import is_mechanism
from learnkit.events.text import content_text


def _tasks(*rows: str) -> list[dict[str, Any]]:
    """Tasks as in their files, from lines like ``3 pending 1,2 alice``."""
    tasks = []
    for row in rows:
        id, status, blockers, owner = [*row.split(), "", ""][:4]
        waits = [int(one) for one in blockers.strip("-").split(",") if one]
        tasks.append({"id": int(id), "status": status, "blockedBy": waits, "owner": owner})
    return tasks


_DIAMOND = ("1 completed", "2 pending 1", "3 pending 1", "4 pending 2,3")


def _should(what: str, found: Any, wanted: Any, because: str) -> str:
    """What a check says to a wrong result, in terms of behaviour."""
    return f"For {what}, your function returned {found!r}. It should return {wanted}: {because}."


def check_startable(startable: Any) -> Verdict:
    """Check which tasks a worker could start now."""
    ready = "a pending task without blockers or owner can start"
    for rows, wanted, what, because in (
        (("1 pending",), [1], "one pending task without blockers", ready),
        ((), [], "an empty board", "there is nothing to start"),
        (
            _DIAMOND,
            [2, 3],
            "a diamond whose first task is completed",
            "task 1 is over, tasks 2 and 3 waited only for it, and task 4 still waits for them",
        ),
        (
            ("10 pending", "1 completed", "2 pending"),
            [2, 10],
            "tasks that come in no order",
            "the ids should be sorted, as numbers",
        ),
        (
            ("1 pending - alice", "2 pending"),
            [2],
            "a pending task that alice owns, and one without an owner",
            "an owned task is taken",
        ),
        (
            ("1 failed", "2 pending 1"),
            [],
            "a task whose blocker has failed",
            "a failed blocker is not completed",
        ),
        (
            ("1 in_progress", "2 pending 1"),
            [],
            "a task whose blocker is in progress",
            "the blocker is not completed yet",
        ),
    ):
        found = startable(_tasks(*rows))
        if not isinstance(found, Iterable) or isinstance(found, str):
            return _should(what, found, wanted, because)
        if (ids := list(found)) != wanted:
            return _should(what, ids, wanted, because)
    return None


READY_LOOP = """
def startable(tasks):
    status = {task["id"]: task["status"] for task in tasks}
    found = []
    for task in tasks:
        free = all(status[id] == "completed" for id in task["blockedBy"])
        if task["status"] == "pending" and task["owner"] == "" and free:
            found.append(task["id"])
    found.sort()
    return found
""".strip()


def check_hours(hours: Any) -> Verdict:
    """Check which tasks can be done in which hour, if there are enough workers."""
    for rows, wanted, what, because in (
        (
            ("1 pending", "2 pending"),
            [[1, 2]],
            "two tasks without blockers",
            "two workers do them in the same hour",
        ),
        (
            ("1 pending", "2 pending 1", "3 pending 2"),
            [[1], [2], [3]],
            "a chain of three",
            "each task has to wait for the one before",
        ),
        (
            ("1 pending", *_DIAMOND[1:]),
            [[1], [2, 3], [4]],
            "the diamond",
            "tasks 2 and 3 wait only for task 1, and task 4 waits for both",
        ),
        (
            ("1 pending 2", "2 pending 3", "3 pending"),
            [[3], [2], [1]],
            "a chain in which task 1 comes last",
            "the order is that of the blockers, not of the ids",
        ),
        (
            ("1 pending", "2 pending 1", "3 pending 1,2", "4 pending"),
            [[1, 4], [2], [3]],
            "a task with two blockers, where one waits for the other",
            "task 3 has to wait for the later of its two blockers",
        ),
        ((), [], "an empty board", "no hour is needed"),
    ):
        try:
            found = hours(_tasks(*rows))
        except RecursionError:
            return (
                f"For {what}, your function keeps calling itself. "
                "It should stop at a task without blockers."
            )
        try:
            same = [sorted(one) for one in found] == wanted
        except TypeError:
            return f"{_should(what, found, wanted, because)} Return a list of lists of ids."
        if not same:
            return _should(what, found, wanted, because)
    return None


HOURS_DEPTH = """
def hours(tasks):
    blockers = {task["id"]: task["blockedBy"] for task in tasks}

    def depth(id):
        return max((depth(one) + 1 for one in blockers[id]), default=0)

    found = {}
    for id in sorted(blockers):
        found.setdefault(depth(id), []).append(id)
    return [found[number] for number in sorted(found)]
""".strip()


def _with(GoOn: Any, tasks: str, obeys: bool) -> tuple[lk.Outcome, list[str], list[str]]:
    """Run an agent on a board."""
    with tempfile.TemporaryDirectory() as folder:
        board = lk.TaskBoard(folder)
        for number, status in enumerate(tasks.split(), start=1):
            board.create(_SUBJECTS[number])
            if number > 1:
                board.update(number, add_blocked_by=[number - 1])
            board.update(number, cast(Status, status))

        def model(request: Any) -> Any:
            if obeys and len(request["messages"]) > 1 and board.ready():
                board.update(board.ready()[0].id, "completed")
            return lk.say("I see.")

        agent = lk.Agent(lk.scripted(model), [GoOn(board)], max_turns=12)
        outcome = agent.run("Begin.")
        added = [e for e in agent.events if e.type == "message.added" and e.data.get("injected")]
        told = [content_text(event.data["message"]["content"]) for event in added]
        return outcome, told, [task.status for task in board.tasks()]


def check_go_on(GoOn: Any) -> Verdict:
    """Check that an agent doesn't stop while a task is ready, and is asked about each once."""
    if not is_mechanism(GoOn):
        return "`GoOn` should be a class that derives from lk.Mechanism, as in the stub."
    try:
        inspect.signature(GoOn).bind(None)
    except TypeError as error:
        return f"GoOn(board) fails: {error}. Its __init__ should take the board, as in the stub."
    outcome, told, statuses = _with(GoOn, "completed pending pending", obeys=True)
    if not told:
        return (
            "The model stopped while task 2 was ready, and your mechanism told it nothing. "
            "on_stop should return a text that names the task."
        )
    if "emit" not in told[0] and not re.search(r"\b2\b", told[0]):
        return f"The text should name task 2, which is ready. Yours is {told[0]!r}."
    for tasks, what in (
        ("", "The board is empty"),
        ("completed", "Its only task is completed"),
        ("failed pending", "Task 1 has failed, so task 2 is blocked"),
    ):
        _, needless, _ = _with(GoOn, tasks, obeys=True)
        if needless:
            return f"{what}, and nothing is ready. Your mechanism told the model {needless[0]!r}."
    if statuses != ["completed"] * 3:
        return (
            f"A model that does what it is told should complete all tasks. They are {statuses}: "
            "a task that becomes ready later should be named, too."
        )
    if outcome.reason != "end_turn":
        return (
            "All tasks were completed, but your mechanism kept the model from stopping. "
            "on_stop should return None when no task is ready."
        )
    _, told, _ = _with(GoOn, "pending", obeys=False)
    if len(told) > 1:
        return (
            f"A model that refuses was told about the same task {len(told)} times. "
            "Name each task once."
        )
    return None


_SUBJECTS = ("", "parse", "emit", "test")


GO_ON_LAST = '''
import learnkit as lk


class GoOn(lk.Mechanism):
    """Names a ready task to the model when it stops, once for each task."""

    def __init__(self, board):
        self.board = board
        self.last = None

    def on_stop(self, agent):
        ids = [task.id for task in self.board.ready()]
        if ids == self.last:
            return None
        self.last = ids
        return "Ready now: " + ", ".join(f"#{id}" for id in ids) if ids else None
'''.strip()


#: Names the task by its subject.
GO_ON_SUBJECT = GO_ON_LAST.replace(
    "[task.id for task in self.board.ready()]", "[task.subject for task in self.board.ready()]"
)
#: Returns a tuple.
READY_TUPLE = READY_LOOP.replace("return found", "return tuple(found)")


EXERCISES = {
    "startable": Check(check_startable, [READY_LOOP, READY_TUPLE]),
    "hours": Check(check_hours, [HOURS_DEPTH]),
    "GoOn": Check(check_go_on, [GO_ON_LAST, GO_ON_SUBJECT]),
}
