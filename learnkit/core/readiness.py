"""Whether a task can begin: one rule for the board that grants it and the view that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class TaskState(Protocol):
    """What the rule needs to know of a task."""

    @property
    def status(self) -> str:
        """Its status: pending, in_progress, completed or failed."""

    @property
    def owner(self) -> str:
        """Name of the agent that works on it; empty for none."""

    @property
    def blocked_by(self) -> Sequence[int]:
        """Ids of the tasks that have to be completed first."""


def is_ready(task: TaskState, tasks: Mapping[int, TaskState]) -> bool:
    """Whether a task is pending, unowned and not blocked."""
    return task.status == "pending" and not task.owner and not open_blockers(task, tasks)


def open_blockers(task: TaskState, tasks: Mapping[int, TaskState]) -> list[int]:
    """The ids of the tasks that a task still waits for, in order.

    A failed task blocks until it is done again; one that is not on the board blocks nothing.
    """
    return [id for id in task.blocked_by if id in tasks and tasks[id].status != "completed"]
