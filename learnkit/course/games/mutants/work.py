"""Mutants of work that outlasts a conversation or runs beside it: lessons 7 and 8."""

from __future__ import annotations

from pathlib import Path

from learnkit.backends.files.board import TaskBoard
from learnkit.clients.scripted import reply, say, use
from learnkit.core.events import EventLog
from learnkit.course.games.mutants.mutant import Mutant, alone, choice
from learnkit.mechanisms.background import Background
from learnkit.mechanisms.tasks import Tasks


def _waiting(folder: Path) -> EventLog:
    """Task 2 waits for task 1. Beginning it too early is refused."""
    script = [
        use("task_create", subject="parser"),
        use("task_create", subject="tests"),
        use("task_update", task_id=2, addBlockedBy=[1]),
        use("task_update", task_id=2, status="in_progress"),
        say("That is as far as I get."),
    ]
    return alone(script, [Tasks(TaskBoard(folder / ".tasks"))], "Begin with the tests.")


def _two_blockers(folder: Path) -> EventLog:
    """Task 3 waits for 1 and 2. Beginning it is refused before 1 is completed, and after that."""
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


def _looked_at(folder: Path) -> EventLog:
    """A job ends while the model thinks. The model asks for the result, and gets it once."""
    script = [
        use("background_run", command="sleep 3; echo built"),
        reply(use("check_background"), latency=9.0),
        say("It is built."),
    ]
    return alone(script, [Background(workspace=folder)], "Build it.")


def _waited_for(folder: Path) -> EventLog:
    """A job is running when the model has nothing left to do. Its result takes another turn."""
    script = [
        use("background_run", command="sleep 3; echo built"),
        say("I have nothing else to do."),
        say("It is built."),
    ]
    return alone(script, [Background(workspace=folder)], "Build it.")


MUTANTS = (
    Mutant(
        "m16",
        "learnkit.backends.files.board",
        "if status in _BEGUN and (waits := open_blockers(task, tasks)):",
        'if status == "completed" and (waits := open_blockers(task, tasks)):',
        _waiting,
        "Tasks",
        choice(
            ("The tasks have no connection.", "The arrow from 1 to 2 is there."),
            ("Task 1 counts as completed.", "It is ready, and no agent has begun it."),
            (
                "A task can begin while it waits for another.",
                "Right: 2 is in progress, but task 1, which it needs, is not done.",
            ),
            (
                "The arrow points the wrong way: 1 waits for 2.",
                "Task 2 waits for task 1, as it should.",
            ),
        ),
        "c",
    ),
    Mutant(
        "m17",
        "learnkit.core.readiness",
        'return [id for id in task.blocked_by if id in tasks and tasks[id].status != "completed"]',
        "return [id for id in task.blocked_by[:1] if tasks[id].status != 'completed']",
        _two_blockers,
        "Tasks",
        choice(
            ("The harness checks no blocker.", "The first try was refused: task 1 was still open."),
            ("Task 2 was completed with task 1.", "Task 2 has not begun yet."),
            ("Task 3 waits for itself.", "Then it could never begin. It has."),
            (
                "Only the first blocker counts.",
                "Right: 1 is completed and 2 is not, and 3 has begun.",
            ),
        ),
        "d",
    ),
    Mutant(
        "m18",
        "learnkit.mechanisms.background",
        "self._due = [job for job in self._due if job not in ended]",
        "self._due = list(self._due)",
        _looked_at,
        "Messages",
        choice(
            (
                "A result that the model has read comes again.",
                "Right: the result is there twice, and the model may act on it twice.",
            ),
            ("The job runs twice.", "There is one id, and one start."),
            ("The model asks twice.", "It has called check_background once."),
            ("The result comes before the job has ended.", "Both texts say: completed."),
        ),
        "a",
    ),
    Mutant(
        "m19",
        "learnkit.mechanisms.background",
        "self._due.append(job)",
        "pass",
        _waited_for,
        "Timeline",
        choice(
            ("The job is ended too early.", "It takes its three seconds."),
            ("The model has to wait for the job.", "The model continues at once."),
            (
                "The result never reaches the model.",
                "Right: the job has ended, but no turn follows, and no mark.",
            ),
            (
                "The run ends at once, and does not wait for the job.",
                "It ends together with the job, at 4 s.",
            ),
        ),
        "c",
    ),
)
