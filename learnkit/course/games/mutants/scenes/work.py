"""Runs of work that outlasts a conversation or runs beside it: lessons 7 and 8."""

from __future__ import annotations

from pathlib import Path

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.scripted import reply, say, use
from learnkit.core.events import EventLog
from learnkit.course.games.mutants.mutant import alone
from learnkit.mechanisms.background import Background
from learnkit.mechanisms.tasks import Tasks


def waiting(folder: Path) -> EventLog:
    """Play a task that begins before its blocker is completed.

    Args:
        folder: an empty folder.
    """
    script = [
        use("task_create", subject="parser"),
        use("task_create", subject="tests"),
        use("task_update", task_id=2, addBlockedBy=[1]),
        use("task_update", task_id=2, status="in_progress"),
        say("That is as far as I get."),
    ]
    return alone(script, [Tasks(TaskBoard(folder / ".tasks"))], "Begin with the tests.")


def two_blockers(folder: Path) -> EventLog:
    """Play a task with two blockers, of which one is completed.

    Args:
        folder: an empty folder.
    """
    begin = use("task_update", task_id=3, status="in_progress")
    script = [
        *(use("task_create", subject=name) for name in ("parser", "manual", "release")),
        use("task_update", task_id=3, addBlockedBy=[1, 2]),
        begin,
        use("task_update", task_id=1, status="completed"),
        begin,
        say("That is as far as I get."),
    ]
    return alone(script, [Tasks(TaskBoard(folder / ".tasks"))], "Make the release.")


def looked_at(folder: Path) -> EventLog:
    """Play a job that ends before the model asks for its result.

    Args:
        folder: an empty folder.
    """
    script = [
        use("background_run", command="sleep 3; echo built"),
        reply(use("check_background"), latency=9.0),
        say("It is built."),
    ]
    return alone(script, [Background(workspace=folder)], "Build it.")


def waited_for(folder: Path) -> EventLog:
    """Play a job that is still running when the model has nothing left to do.

    Args:
        folder: an empty folder.
    """
    script = [
        use("background_run", command="sleep 3; echo built"),
        say("I have nothing else to do."),
        say("It is built."),
    ]
    return alone(script, [Background(workspace=folder)], "Build it.")
