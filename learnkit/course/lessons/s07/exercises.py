"""Lesson 7's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

import tempfile
from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check


def _tasks(*rows: str) -> list[dict[str, Any]]:
    """Tasks as in their files, from lines like ``3 pending 1,2 alice``."""
    tasks = []
    for row in rows:
        id, status, blockers, owner = [*row.split(), "", ""][:4]
        waits = [int(one) for one in blockers.strip("-").split(",") if one]
        tasks.append({"id": int(id), "status": status, "blockedBy": waits, "owner": owner})
    return tasks


_DIAMOND = ("1 completed", "2 pending 1", "3 pending 1", "4 pending 2,3")


def check_startable(startable: Any) -> Verdict:
    """Check which tasks an agent could begin now.

    Args:
        startable: the learner's function of the tasks.
    """
    for rows, wanted, what in (
        ((), [], "an empty board"),
        (("1 pending",), [1], "one task that waits for nothing"),
        (_DIAMOND, [2, 3], "a diamond whose first task is completed"),
        (("10 pending", "1 completed", "2 pending"), [2, 10], "tasks in no order"),
        (("1 pending - alice", "2 pending"), [2], "a task that is alice's already"),
        (("1 failed", "2 pending 1"), [], "a task behind one that has failed"),
        (("1 in_progress", "2 pending 1"), [], "a task behind one that is still going on"),
    ):
        found = startable(_tasks(*rows))
        if list(found or []) != wanted:
            return f"{what}: it says {found!r}, and {wanted} is right"
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
    """Check which tasks can be done in which hour, if there are enough workers.

    Args:
        hours: the learner's function of the tasks.
    """
    for rows, wanted, what in (
        ((), [], "an empty board"),
        (("1 pending", "2 pending"), [[1, 2]], "two tasks that wait for nothing"),
        (("1 pending", "2 pending 1", "3 pending 2"), [[1], [2], [3]], "a chain"),
        (("1 pending", *_DIAMOND[1:]), [[1], [2, 3], [4]], "the diamond"),
        (("1 pending 2", "2 pending 3", "3 pending"), [[3], [2], [1]], "a chain backwards"),
        (
            ("1 pending", "2 pending 1", "3 pending 1,2", "4 pending"),
            [[1, 4], [2], [3]],
            "a task that waits for two, one of which waits for the other",
        ),
    ):
        try:
            found = hours(_tasks(*rows))
        except RecursionError:
            return f"{what}: it calls itself without an end"
        if [sorted(one) for one in found or []] != wanted:
            return f"{what}: it says {found!r}, and {wanted} is right"
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


def _is_mechanism(made: Any) -> bool:
    return isinstance(made, type) and issubclass(made, lk.Mechanism)


def _with(GoOn: Any, subjects: list[str], obeys: bool) -> tuple[lk.Outcome, list[str], list[str]]:
    """Run an agent on a board; return how it ended, what was injected, and the statuses."""
    with tempfile.TemporaryDirectory() as folder:
        board = lk.TaskBoard(folder)
        for subject in subjects:
            task = board.create(subject)
            if task.id > 1:
                board.update(task.id, add_blocked_by=[task.id - 1])

        def model(request: Any) -> Any:
            last = request["messages"][-1]["content"]
            if obeys and len(request["messages"]) > 1 and board.ready():
                board.update(board.ready()[0].id, "completed")
            return lk.say(f"Heard {len(str(last))} characters.")

        agent = lk.Agent(lk.scripted(model), [GoOn(board)], max_turns=12)
        outcome = agent.run("Begin.")
        added = [e for e in agent.events if e.type == "message.added" and e.data.get("injected")]
        told = [str(event.data["message"]["content"]) for event in added]
        return outcome, told, [task.status for task in board.tasks()]


def check_go_on(GoOn: Any) -> Verdict:
    """Check that an agent does not stop while a task is ready, and is asked about each only once.

    Args:
        GoOn: the learner's class; it takes the board.
    """
    if not _is_mechanism(GoOn):
        return "`GoOn` must be a class that is an lk.Mechanism"
    outcome, told, _ = _with(GoOn, [], obeys=True)
    if told:
        return f"the board is empty, and the model is told {told[0]!r}"
    outcome, told, statuses = _with(GoOn, ["parse", "emit"], obeys=True)
    if not told:
        return "a task is ready when the model stops, and nothing is said about it"
    if "parse" not in told[0] and "#1" not in told[0]:
        return f"the text must name the task that is ready; it is {told[0]!r}"
    if statuses != ["completed"] * 2:
        return f"a model that does what it is told should finish both tasks: {statuses}"
    if outcome.reason != "end_turn":
        return f"all is done, and the run should end by itself: {outcome.reason}"
    outcome, told, _ = _with(GoOn, ["parse"], obeys=False)
    if outcome.reason == "turn_limit" or len(told) > 3:
        return "a model that will not is told again and again: once for each task is enough"
    return None


GO_ON_LAST = '''
import learnkit as lk


class GoOn(lk.Mechanism):
    """When the model stops while a task is ready, it hears of that task, once."""

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


EXERCISES = {
    "startable": Check(
        check_startable,
        right=[READY_LOOP],
        wrong=[
            SOLUTION.replace('task["status"] == "pending" and ', ""),
            SOLUTION.replace(' and not task["owner"]', ""),
            SOLUTION.replace('== "completed"', 'in ("completed", "failed")'),
            SOLUTION.replace("sorted(", "list("),
        ],
    ),
    "hours": Check(
        check_hours,
        right=[HOURS_DEPTH],
        wrong=[
            'def hours(tasks):\n    return [[task["id"]] for task in tasks]',
            HOURS_DEPTH.replace("max((", "min(("),
        ],
    ),
    "GoOn": Check(
        check_go_on,
        right=[GO_ON_LAST],
        wrong=[
            SOLUTION.replace("                self.told.add(task.id)\n", ""),
            SOLUTION.replace("#{task.id} is ready: {task.subject}", "something is ready"),
            SOLUTION.replace("self.board.ready()", "self.board.tasks()[1:]"),
        ],
    ),
}
