"""The task board: tasks in files, shared by threads and processes.

What it refuses keeps one promise: a task that has begun has no open blocker, no matter which
process changes the board and when one of them is killed.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from learnkit.backends import rules
from learnkit.backends.board import Board, Rule, Which
from learnkit.backends.files.store import counted, locked, next_number, recover, write_together
from learnkit.backends.files.task_folder import Folder
from learnkit.backends.task import Task, checked


class TaskBoard(Board):
    """Tasks in a folder, one file each, shared by threads and processes.

    Args:
        folder: such as ``.tasks``; is created with the first task.
        now: the date and time, for leases; by default the machine's.

    Raises:
        UsageError: if a file in it holds no task, or a newer version has written it.
    """

    def __init__(self, folder: str | Path, now: Callable[[], datetime] | None = None) -> None:
        super().__init__()
        self.folder = Path(folder)
        self._now = now or _utc
        self._files = Folder(self.folder)
        self._counter = self.folder / "board.json"
        if self.folder.is_dir():
            recover(self.folder)
            with locked(self.folder):
                next_number(self._counter)  # a newer version is refused before anything is read
                self._repair(self._files.tasks())

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        with locked(self.folder):
            id = self._next_id()
            task = checked(Task(id, subject, description, tags=tuple(tags)))
            changes = {self._counter.name: counted(id), task.file: task.to_json()}
            write_together(self.folder, changes)
            return task

    def _changed(self, which: Which, rule: Rule, *, repeatable: bool = False) -> list[Task]:
        if not self._files.there:  # looking for a task does not make a board
            return rule({}, self._now())
        with locked(self.folder):
            old = self._load(which)
            tasks = dict(old)
            result = rule(tasks, self._now())
            self._write(old, tasks)
            return result

    def _next_id(self) -> int:
        """The number of a new task: what the counter says, unless a file contradicts it."""
        id = next_number(self._counter)
        if id > 1 and not self._files.tasks([id]):
            return id
        return next_number(self._counter, max(self._files.tasks(), default=0))

    def _load(self, which: Which) -> dict[int, Task]:
        if isinstance(which, int) and (task := self._files.tasks([which]).get(which)):
            return self._files.tasks([which, *task.blocked_by, *task.blocks])
        return self._files.tasks()

    def _write(self, old: dict[int, Task], new: dict[int, Task]) -> None:
        changes: dict[str, Any] = {
            new[id].file: new[id].to_json() for id in new if new[id] is not old.get(id)
        }
        changes.update({old[id].file: None for id in old if id not in new})
        if changes:
            write_together(self.folder, changes)

    def _repair(self, tasks: dict[int, Task]) -> None:
        """Make both directions agree after a file was edited by hand; blockedBy counts."""
        blocks = defaultdict(list)
        for id, task in tasks.items():
            for blocker in dict.fromkeys(task.blocked_by):
                blocks[blocker].append(id)
        repaired = {
            id: rules.like(
                task,
                blocked_by=tuple(one for one in task.blocked_by if one in tasks),
                blocks=tuple(blocks[id]),
            )
            for id, task in tasks.items()
        }
        with contextlib.suppress(OSError):  # what can be read is read, on a full disk too
            self._write(tasks, repaired)


def _utc() -> datetime:
    return datetime.now(UTC)
