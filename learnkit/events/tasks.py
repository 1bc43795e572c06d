"""The events of a board of tasks."""

from __future__ import annotations

from typing import Any, Literal

from learnkit.events.declaration import detail, event, record
from learnkit.events.text import listed, one_line


@record
class TaskData:
    """A task as it is after the event; a board may keep more of it."""

    id: int
    status: Literal["pending", "in_progress", "completed", "failed"]
    subject: str = ""
    description: str = ""
    blocked_by: tuple[int, ...] = detail(default=(), key="blockedBy")
    blocks: tuple[int, ...] = ()
    owner: str = ""
    tags: tuple[str, ...] = ()
    result_summary: str = detail(default="", sometimes=True)
    worktree: str = detail(default="", sometimes=True)
    whole: dict[str, Any] | None = detail(default=None, whole=True)

    @property
    def about(self) -> str:
        """Its number and subject, in a sentence."""
        return f"#{self.id} ({one_line(self.subject, 60)})"


@event("board.opened", lesson="s07", sentence="The board is as it was left: {tasks:task}.")
class BoardOpened:
    """A run begins with tasks on the board."""

    tasks: tuple[TaskData, ...]


@record
class TaskEvent:
    """What has happened to a task of the board."""

    task: TaskData


@event("task.created", lesson="s07", sentence="Task {task.about} is on the board.")
class TaskCreated(TaskEvent):
    """A task is new."""


@event("task.updated", lesson="s07", sentence="Task {task.about} is changed.")
class TaskUpdated(TaskEvent):
    """A task has been changed, and its status has not."""


@event(
    "task.started",
    lesson="s07",
    sentence=lambda started: (
        f"{started.task.owner} begins task {started.task.about}."
        if started.task.owner
        else f"Task {started.task.about} begins."
    ),
)
class TaskStarted(TaskEvent):
    """A task is in progress."""


def _completed(done: TaskCompleted) -> str:
    ids = [f"#{id}" for id in done.freed]
    after = f"; {listed(ids)} {'is' if len(ids) == 1 else 'are'} ready now" if ids else ""
    return f"Task {done.task.about} is completed{after}."


@event("task.completed", lesson="s07", sentence=_completed)
class TaskCompleted(TaskEvent):
    """A task is done; the tasks in ``freed`` have nothing more to wait for."""

    freed: tuple[int, ...] = ()


@event(
    "task.returned", lesson="s07", sentence="Task {task.about} is given back, and is unowned again."
)
class TaskReturned(TaskEvent):
    """A task that was in progress is pending again."""


@event("task.failed", lesson="s07", sentence="Task {task.about} has failed.")
class TaskFailed(TaskEvent):
    """A task has failed."""


@event("task.deleted", lesson="s07", sentence="Task {task.about} is deleted.")
class TaskDeleted(TaskEvent):
    """A task is gone from the board; this is how it was."""


@event("task.refused", lesson="s07", sentence="The board refuses: {problem}.")
class TaskRefused:
    """A call, or a click, would break a rule of the board."""

    tool: str = "?"
    problem: str = ""
