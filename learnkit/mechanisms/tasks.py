"""Tasks: goals that outlive a conversation, on a board of files.

A todo list dies with its session. A task is a file: it says what has to be done, what it waits for
and who is at it, and it is there after a restart and for every other worker. The board behind the
tools is :class:`learnkit.TaskBoard`, or another ``BoardBackend``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.rules import may_change
from learnkit.backends.task import Status, Task
from learnkit.core.frames import TASKS
from learnkit.core.mechanism import Mechanism, refusals_logged
from learnkit.core.readiness import is_ready, open_blockers
from learnkit.core.tools import tool
from learnkit.errors import ToolError
from learnkit.events.declaration import part
from learnkit.events.tasks import (
    BoardOpened,
    TaskCompleted,
    TaskCreated,
    TaskData,
    TaskDeleted,
    TaskEvent,
    TaskFailed,
    TaskRefused,
    TaskReturned,
    TaskStarted,
    TaskUpdated,
)

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.core.agent import Agent
    from learnkit.core.interface import AgentLike
    from learnkit.events.log import Event, EventLog

__all__ = ["TaskBoard", "Tasks", "clicks", "log_news", "render"]

_HOW = (
    "Goals that outlast this conversation are tasks on a board. Create them with task_create, and "
    "their dependencies with task_update (addBlockedBy, addBlocks). Set a task to in_progress when "
    "you start it, and to completed when it is done. After a restart, call task_list first."
)


class Tasks(Mechanism):
    """Offers a board to the model.

    Emits ``board.opened`` with ``tasks`` when a run starts on a board that is not empty; for every
    change, no matter who made it, ``task.created``, ``task.started``, ``task.completed`` (with
    ``freed``: the ids that became ready), ``task.failed``, ``task.returned`` (it has no owner any
    more), ``task.updated`` or ``task.deleted``, each with ``task``; and ``task.refused`` with
    ``tool`` and ``problem``.

    Args:
        board: where the tasks are.
    """

    def __init__(self, board: BoardBackend) -> None:
        self.board = board

    def system(self, agent: Agent) -> str | None:
        """When to use the board, and how."""
        log_board(self.board, agent)
        return _HOW

    def carry(self, agent: Agent) -> str | None:
        """That there is a board, as long as something on it is open."""
        left = sum(task.status != "completed" for task in self.board.tasks())
        return (
            f"<{TASKS}>Open tasks on the board: {left}. Call task_list to see them.</{TASKS}>"
            if left
            else None
        )

    @tool(internal=True)
    def task_create(
        self,
        subject: str,
        description: str = "",
        tags: Sequence[str] = (),
    ) -> str:
        """Create a task on the board. Returns it with its id.

        Args:
            subject: Title of the task, in a few words.
            description: Details, for an agent that has not seen this conversation.
            tags: Roles that the task suits, e.g. tests or docs.
        """
        with self._logged("task_create"):
            return _line(self.board.create(subject, description, tags=tags))

    @tool(internal=True)
    def task_update(
        self,
        task_id: int,
        status: Status | Literal["deleted"] | None = None,
        addBlockedBy: Sequence[int] = (),  # the names that models know
        addBlocks: Sequence[int] = (),
        removeBlockedBy: Sequence[int] = (),
        result_summary: str | None = None,
    ) -> str:
        """Update a task on the board. Makes all changes of the call, or none.

        Args:
            task_id: Id of the task.
            status: in_progress before you start it, completed or failed afterwards, pending to
                give it back, deleted to remove it.
            addBlockedBy: Ids of tasks that must be completed before this one can start.
            addBlocks: Ids of tasks that must wait for this one.
            removeBlockedBy: Ids of tasks that this one no longer waits for.
            result_summary: Outcome, for those who build on it.
        """
        with self._logged("task_update"):
            before = _ready_ids(self.board)
            name = self._agent.name if self._agent else ""
            overruled = status is not None and self._overruled(task_id)
            task = self.board.update(
                task_id,
                status,
                owner=name if status == "in_progress" else "",
                by=asking(self._agent),
                add_blocked_by=addBlockedBy,
                add_blocks=addBlocks,
                remove_blocked_by=removeBlockedBy,
                result_summary=result_summary,
            )
            said = f"Deleted #{task_id}." if task is None else self._shown(task)
            if overruled:
                said += f"\n{overruled} had it in progress. You changed it as the lead; mention it."
            freed = [f"#{id}" for id in _ready_ids(self.board) if id not in before]
            freed = [one for one in freed if one != f"#{task_id}"]
            return f"{said}\nReady now: {', '.join(freed)}" if freed else said

    @tool(read_only=True)
    def task_list(self) -> str:
        """List the tasks: [ ] pending, [>] in progress, [x] completed, [!] failed."""
        with self._logged("task_list"):
            return render(self.board.tasks())

    @tool(read_only=True)
    def task_get(self, task_id: int) -> Any:
        """Return all fields of one task, as JSON.

        Args:
            task_id: Id of the task.
        """
        with self._logged("task_get"):
            task = self.board.get(task_id)
        # What fences a claim is the harness's, and says nothing here.
        return replace(task, token=0, incarnation="", lease_until="").to_json()

    def _overruled(self, id: int) -> str:
        """Who has a task in progress that this agent may change only because it leads the team."""
        agent, task = self._agent, self.board.get(id)
        return "" if agent is None or may_change(task, agent.name) else task.owner

    def _shown(self, task: Task) -> str:
        return _line(task, {one.id: one for one in self.board.tasks()})

    @contextmanager
    def _logged(self, name: str) -> Iterator[None]:
        """Log what a call has changed, or why it was refused."""
        by_hand = self._agent is None
        with (
            nullcontext() if by_hand else logged(self.board, self.agent),
            refusals_logged(self.emit, partial(TaskRefused, tool=name)),
        ):
            yield


def clicks(board: BoardBackend, events: EventLog) -> Callable[[dict[str, Any]], None]:
    """Return what a view does when a task in it is clicked: complete it on the board, and log it.

    Example: ``lk.views.Tasks(log, on_intent=clicks(board, log))``.
    """

    person = Person(events)

    def clicked(intent: dict[str, Any]) -> None:
        with logged(board, person):
            try:
                board.update(int(intent.get("complete", 0)), "completed")
            except (ToolError, ValueError) as error:
                person.emit(TaskRefused(tool="click", problem=str(error)))

    return clicked


def asking(agent: AgentLike | None) -> str:
    """Return whose right counts when an agent changes a task, as ``update(by=…)`` takes it."""
    if agent is None or any(one.leads for one in agent.mechanisms):
        return ""
    return agent.name


class Logs(Protocol):
    """What changes a board and logs it: an agent, or a :class:`Person`."""

    @property
    def events(self) -> EventLog:
        """The log that it writes to."""

    def emit(self, event: object, /) -> Event:
        """Append an event in its own lane."""


@dataclass(frozen=True)
class Person:
    """The user who clicks in a view; logs at the time of the last event.

    Attributes:
        events: the log of the view.
    """

    events: EventLog

    def emit(self, event: object, /) -> Event:
        """Append an event in the lane ``person``."""
        now = self.events[-1].time if len(self.events) else 0.0
        return self.events.append(event, lane="person", time=now)


def log_board(board: BoardBackend, by: Logs) -> None:
    """Log what is on a board when a run starts: all that is there, after what has changed.

    Others may be at work on it already, so a change that they have made and not logged yet is
    logged here; it would be missing otherwise.
    """
    with by.events.ordered():
        board.open()
        log_news(board, by)
        if tasks := board.tasks():
            by.emit(BoardOpened(tasks=tuple(map(_data, tasks))))


@contextmanager
def logged(board: BoardBackend, by: Logs) -> Iterator[None]:
    """Change a board and log it, before another thread builds on it and logs that."""
    with by.events.ordered():
        try:
            yield
        finally:
            log_news(board, by)


def log_news(board: BoardBackend, by: Logs) -> None:
    """Log every change of a board that was not logged yet."""
    with by.events.ordered(), ExitStack() as stack:  # all of them, also when a listener fails
        for event in reversed(list(_news(board))):
            stack.callback(by.emit, event)


def _news(board: BoardBackend) -> Iterator[TaskEvent]:
    """The events for what has changed."""
    changes = board.news()
    if not changes:
        return
    now = {task.id: task for task in board.tasks()}
    for old, new in changes:
        if new is None:
            if old is not None:
                yield TaskDeleted(task=_data(old))
            continue
        happened: type[TaskEvent] = TaskUpdated
        if old is None:  # it may have been begun before it was first seen here
            yield TaskCreated(task=_data(new))
            if new.status not in _EVENTS:
                continue
            happened = _EVENTS[new.status]
        elif new.status != old.status:
            returned = (old.status, new.status) == ("in_progress", "pending")
            happened = TaskReturned if returned else _EVENTS.get(new.status, happened)
        if happened is TaskCompleted:
            freed = tuple(id for id in new.blocks if id in now and is_ready(now[id], now))
            yield TaskCompleted(task=_data(new), freed=freed)
        else:
            yield happened(task=_data(new))


_EVENTS = {"in_progress": TaskStarted, "completed": TaskCompleted, "failed": TaskFailed}


def _data(task: Task) -> TaskData:
    return part(TaskData, task.to_json())


def render(tasks: Sequence[Task]) -> str:
    """Return the board as the model reads it."""
    if not tasks:
        return "The board is empty."
    known = {task.id: task for task in tasks}
    done = sum(task.status == "completed" for task in tasks)
    lines = [_line(task, known) for task in tasks]
    return "\n".join([*lines, f"({done}/{len(tasks)} completed)"])


def _line(task: Task, tasks: dict[int, Task] | None = None) -> str:
    waits = open_blockers(task, tasks or {})
    owner = f" @{task.owner}" if task.owner else ""
    tags = f" {{{', '.join(task.tags)}}}" if task.tags else ""
    tags += f" in {task.worktree}" if task.worktree else ""
    blocked = f" (blocked by: {waits})" if waits and task.status != "completed" else ""
    return f"{task.mark} #{task.id}: {task.subject}{tags}{owner}{blocked}"


def _ready_ids(board: BoardBackend) -> list[int]:
    tasks = {task.id: task for task in board.tasks()}
    return [id for id, task in tasks.items() if is_ready(task, tasks)]
