"""The task board: tasks in files, shared by threads and processes.

What it refuses keeps one promise: a task that has begun has no open blocker, no matter which
process changes the board and when one of them is killed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from learnkit.backends.files.store import Counter, locked, recover, write_together
from learnkit.backends.files.task_folder import Folder
from learnkit.backends.interface import BoardBackend
from learnkit.backends.task import MAX_DESCRIPTION, Change, Status, Task, checked
from learnkit.core.readiness import is_ready, open_blockers
from learnkit.errors import ToolError

#: Which status may follow which. Any task may be deleted.
NEXT: dict[Status, tuple[Status, ...]] = {
    "pending": ("in_progress", "completed", "failed"),
    "in_progress": ("pending", "completed", "failed"),
    "failed": ("pending", "in_progress"),
    "completed": ("pending",),
}

_COUNTER = "board.json"
_BEGUN = ("in_progress", "completed")


class TaskBoard(BoardBackend):
    """Tasks in a folder, one file each, shared by threads and processes.

    Args:
        folder: such as ``.tasks``; is created with the first task.

    Raises:
        UsageError: if a file in it holds no task, or a newer version has written it.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._files = Folder(self.folder)
        self._counter = Counter(self.folder / _COUNTER)
        self._reported: dict[int, Task] | None = None
        if self.folder.is_dir():
            recover(self.folder)
            with locked(self.folder):
                self._counter.next(0)  # a newer version is refused before anything is read
                self._repair(self._files.tasks())

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        with locked(self.folder):
            id = self._counter.next(max(self._files.tasks(), default=0))
            task = checked(Task(id, subject, description, tags=tuple(tags)))
            changes = {_COUNTER: self._counter.after(id), task.file: task.to_json()}
            write_together(self.folder, changes)
            return task

    def get(self, id: int) -> Task:
        with self._open(id):
            return _find(self._files.tasks([id]) or self._files.tasks(), id)

    def tasks(self) -> list[Task]:
        if not self.folder.is_dir():
            return []
        with locked(self.folder):
            return list(self._files.tasks().values())

    def ready(self) -> list[Task]:
        tasks = {task.id: task for task in self.tasks()}
        return [task for task in tasks.values() if is_ready(task, tasks)]

    def update(
        self,
        id: int,
        status: Status | Literal["deleted"] | None = None,
        *,
        owner: str = "",
        add_blocked_by: Iterable[int] = (),
        add_blocks: Iterable[int] = (),
        remove_blocked_by: Iterable[int] = (),
        result_summary: str | None = None,
        worktree: str | None = None,
        by: str = "",
    ) -> Task | None:
        with self._open(id):
            old = self._files.tasks()
            tasks = dict(old)
            task = _find(tasks, id)
            if status is not None and by and not may_change(task, by):
                raise ToolError(
                    f"task {id} is in progress and owned by {task.owner}; only {task.owner} or "
                    f"the team's lead may set it to {status}"
                )
            for blocker in remove_blocked_by:
                _disconnect(tasks, blocker, id)
            for blocker in add_blocked_by:
                _connect(tasks, blocker, id)
            for blocked in add_blocks:
                _connect(tasks, id, blocked)
            if status == "deleted":
                _delete(tasks, id)
            elif status is not None:
                tasks[id] = _moved(tasks, tasks[id], status, owner)
            if result_summary is not None and len(result_summary) > MAX_DESCRIPTION:
                raise ToolError(
                    f"result_summary is too long; at most {MAX_DESCRIPTION:,} characters fit"
                )
            if result_summary is not None and id in tasks:
                tasks[id] = replace(tasks[id], result_summary=result_summary)
            if worktree is not None and id in tasks:
                tasks[id] = replace(tasks[id], worktree=worktree)
            try:
                self._write(old, tasks)
            except OSError:
                if status != "deleted":
                    raise
                # There is no room for what its neighbours would say. To remove a file takes none,
                # and what is not on the board blocks nothing; opening it puts the others right.
                (self.folder / old[id].file).unlink(missing_ok=True)
            return tasks.get(id)

    def claim(self, id: int, owner: str) -> Task:
        if not owner:
            raise ToolError("the owner is empty; name the agent that claims the task")
        with self._open(id):
            task = self.get(id)
            near = {id: task, **self._files.tasks(task.blocked_by)}
            if task.status != "pending":
                taken = f" by {task.owner}" if task.owner else ""
                raise ToolError(f"task {id} is {task.status}{taken}; claim one that is ready")
            claimed = _moved(near, task, "in_progress", owner)
            self._write({id: task}, {id: claimed})
            return claimed

    def open(self) -> None:
        if self._reported is not None:
            return
        if not self.folder.is_dir():
            self._reported = {}
            return
        with locked(self.folder):
            self._reported = self._files.tasks()

    def news(self) -> list[Change]:
        if not self.folder.is_dir():
            return []
        with locked(self.folder):
            before, now = self._reported or {}, self._files.tasks()
            self._reported = now
        ids = [id for id in sorted({*before, *now}) if before.get(id) is not now.get(id)]
        return [(before.get(id), now.get(id)) for id in ids if before.get(id) != now.get(id)]

    @contextmanager
    def _open(self, id: int) -> Iterator[None]:
        """Hold the board's lock, if there is a board: looking for a task does not make one."""
        if not self.folder.is_dir():
            _find({}, id)
        with locked(self.folder):
            yield

    def _write(self, old: dict[int, Task], new: dict[int, Task]) -> None:
        changes: dict[str, Any] = {
            new[id].file: new[id].to_json() for id in new if new[id] is not old.get(id)
        }
        changes.update({old[id].file: None for id in old if id not in new})
        if changes:
            write_together(self.folder, changes)

    def _repair(self, tasks: dict[int, Task]) -> None:
        """Make both directions agree after a file was edited by hand; blockedBy counts."""
        blocked: dict[int, list[int]] = {id: [] for id in tasks}
        for id, task in tasks.items():
            for blocker in dict.fromkeys(task.blocked_by):
                if blocker in blocked:
                    blocked[blocker].append(id)
        repaired = {
            id: _like(
                task,
                blocked_by=tuple(one for one in task.blocked_by if one in tasks),
                blocks=tuple(blocked[id]),
            )
            for id, task in tasks.items()
        }
        with contextlib.suppress(OSError):  # what can be read is read, on a full disk too
            self._write(tasks, repaired)


def may_change(task: Task, by: str) -> bool:
    """Whether an agent may complete, release or delete a task: nobody else has it in progress.

    Args:
        task: the one in question.
        by: name of the agent. A subagent, whose name begins with its parent's, acts for that one.
    """
    owner = task.owner if task.status == "in_progress" else ""
    return not owner or by == owner or by.startswith(f"{owner}.")


def _find(tasks: dict[int, Task], id: int) -> Task:
    if id not in tasks:
        known = ", ".join(map(str, list(tasks)[:20])) + (", …" if len(tasks) > 20 else "")
        raise ToolError(f"there is no task {id}; the board has: {known or 'none'}")
    return tasks[id]


def _moved(tasks: dict[int, Task], task: Task, status: Status, owner: str) -> Task:
    """A task with another status, if it may have it."""
    if status in _BEGUN and (waits := open_blockers(task, tasks)):
        blockers = ", ".join(map(str, waits))
        raise ToolError(f"task {task.id} is blocked by {blockers}; complete them first")
    taken = task.status == "in_progress" and task.owner
    if status == "in_progress" and taken and owner and owner != task.owner:
        raise ToolError(f"task {task.id} is in progress and owned by {task.owner}")
    if status == task.status:
        return task
    if status not in NEXT[task.status]:
        allowed = ", ".join(NEXT[task.status])
        raise ToolError(f"task {task.id} is {task.status}; it can only become: {allowed}")
    if task.status == "completed":
        begun = [id for id in task.blocks if id in tasks and tasks[id].status in _BEGUN]
        if begun:
            after = ", ".join(map(str, begun))
            raise ToolError(f"task {task.id} cannot be reopened: {after} already built on it")
    if status == "in_progress":
        return replace(task, status=status, owner=owner)
    return replace(task, status=status, owner="" if status == "pending" else task.owner)


def _connect(tasks: dict[int, Task], blocker: int, blocked: int) -> None:
    """Make one task wait for another, if that can be."""
    first, then = _find(tasks, blocker), _find(tasks, blocked)
    if blocker in then.blocked_by:
        return
    if blocker == blocked:
        raise ToolError(f"task {blocker} cannot wait for itself")
    if way := _way(tasks, blocked, blocker):
        cycle = " → ".join(f"#{id}" for id in [*way, blocked])
        raise ToolError(f"task {blocked} cannot wait for {blocker}: that would be a cycle, {cycle}")
    if then.status in _BEGUN and first.status != "completed":
        raise ToolError(f"task {blocked} is {then.status}; it can no longer wait for {blocker}")
    tasks[blocker] = replace(first, blocks=tuple(sorted({*first.blocks, blocked})))
    tasks[blocked] = replace(then, blocked_by=tuple(sorted({*then.blocked_by, blocker})))


def _disconnect(tasks: dict[int, Task], blocker: int, blocked: int) -> None:
    then = _find(tasks, blocked)
    if blocker not in then.blocked_by:
        waits = ", ".join(map(str, then.blocked_by)) or "nothing"
        raise ToolError(f"task {blocked} does not wait for {blocker}; it waits for {waits}")
    first = tasks[blocker]
    tasks[blocker] = replace(first, blocks=tuple(id for id in first.blocks if id != blocked))
    left = tuple(id for id in then.blocked_by if id != blocker)
    tasks[blocked] = replace(then, blocked_by=left)


def _delete(tasks: dict[int, Task], id: int) -> None:
    gone = tasks.pop(id)  # a neighbour may be missing, or know nothing of it: files are edited
    for other in {*gone.blocks, *gone.blocked_by} & tasks.keys():
        tasks[other] = _like(
            tasks[other],
            blocked_by=tuple(one for one in tasks[other].blocked_by if one != id),
            blocks=tuple(one for one in tasks[other].blocks if one != id),
        )


def _way(tasks: dict[int, Task], start: int, goal: int) -> list[int]:
    """A way along blocks from one task to another; empty if there is none."""
    before = {start: start}
    queue = [start]
    for id in queue:
        if id == goal:
            way = [id]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for after in tasks[id].blocks:
            if after not in before and after in tasks:
                before[after] = id
                queue.append(after)
    return []


def _like(task: Task, **fields: Any) -> Task:
    """The task with these fields: the same object if nothing differs."""
    changed = replace(task, **fields)
    return task if changed == task else changed
