"""The task board: tasks in files, shared by threads and processes.

What it refuses keeps one promise: a task that has begun has no open blocker, no matter which
process changes the board and when one of them is killed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from learnkit.backends import rules
from learnkit.backends.files.store import Counter, locked, recover, write_together
from learnkit.backends.files.task_folder import Folder
from learnkit.backends.interface import BoardBackend
from learnkit.backends.news import News
from learnkit.backends.task import Change, Changes, Task, checked

_COUNTER = "board.json"


class TaskBoard(BoardBackend):
    """Tasks in a folder, one file each, shared by threads and processes.

    Args:
        folder: such as ``.tasks``; is created with the first task.
        now: the date and time, for leases; by default the machine's.

    Raises:
        UsageError: if a file in it holds no task, or a newer version has written it.
    """

    def __init__(self, folder: str | Path, now: Callable[[], datetime] | None = None) -> None:
        self.folder = Path(folder)
        self._now = now or _utc
        self._files = Folder(self.folder)
        self._counter = Counter(self.folder / _COUNTER)
        self._news = News(self.tasks)
        if self.folder.is_dir():
            recover(self.folder)
            with locked(self.folder):
                self._counter.next()  # a newer version is refused before anything is read
                self._repair(self._files.tasks())

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        with locked(self.folder):
            id = self._next_id()
            task = checked(Task(id, subject, description, tags=tuple(tags)))
            changes = {_COUNTER: self._counter.after(id), task.file: task.to_json()}
            write_together(self.folder, changes)
            return task

    def get(self, id: int) -> Task:
        with self._open(id):
            return rules.find(self._files.tasks([id]) or self._files.tasks(), id)

    def tasks(self) -> list[Task]:
        if not self._files.there:
            return []
        with locked(self.folder):
            return list(self._files.tasks().values())

    def ready(self) -> list[Task]:
        tasks = {task.id: task for task in self.tasks()}
        now = self._now()
        return [task for task in tasks.values() if rules.can_be_claimed(task, tasks, now)]

    def change(self, id: int, changes: Changes) -> Task | None:
        with self._open(id):
            connects = changes.add_blocked_by or changes.add_blocks or changes.remove_blocked_by
            old = self._files.tasks() if connects else self._near(id)
            tasks = dict(old)
            rules.change(tasks, id, changes)
            self._write(old, tasks)
            return tasks.get(id)

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        rules.check_owner(owner)
        rules.check_lease(lease)
        with self._open(id):
            task = self.get(id)
            near = {id: task, **self._files.tasks(task.blocked_by)}
            claimed = rules.claimed(near, task, owner, incarnation, lease, self._now())
            self._write({id: task}, {id: claimed})
            return claimed

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        rules.check_lease(lease)
        renewed = self._change_all(
            lambda tasks: rules.renewed(tasks, owner, incarnation, lease, self._now())
        )
        return [task.id for task in renewed]

    def release(self, owner: str, incarnation: str) -> list[Task]:
        return self._change_all(lambda tasks: rules.released(tasks, owner, incarnation))

    def open(self) -> None:
        self._news.open()

    def news(self) -> list[Change]:
        return self._news.since()

    @contextmanager
    def _open(self, id: int) -> Iterator[None]:
        """Hold the board's lock, if there is a board: looking for a task does not make one."""
        if not self._files.there:
            rules.find({}, id)
        with locked(self.folder):
            yield

    def _next_id(self) -> int:
        """The number of a new task: what the counter says, unless a file contradicts it."""
        id = self._counter.next()
        if id > 1 and not self._files.tasks([id]):
            return id
        return self._counter.next(max(self._files.tasks(), default=0))

    def _near(self, id: int) -> dict[int, Task]:
        """A task with all that it waits for and that wait for it; all tasks if it is not there."""
        if task := self._files.tasks([id]).get(id):
            return self._files.tasks([id, *task.blocked_by, *task.blocks])
        return self._files.tasks()

    def _change_all(self, change: Callable[[Iterable[Task]], list[Task]]) -> list[Task]:
        """Replace what ``change`` returns of all tasks, and return that."""
        if not self._files.there:
            return []
        with locked(self.folder):
            old = self._files.tasks()
            changed = change(old.values())
            self._write(old, {**old, **{task.id: task for task in changed}})
            return changed

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
            id: rules.like(
                task,
                blocked_by=tuple(one for one in task.blocked_by if one in tasks),
                blocks=tuple(blocked[id]),
            )
            for id, task in tasks.items()
        }
        with contextlib.suppress(OSError):  # what can be read is read, on a full disk too
            self._write(tasks, repaired)


def _utc() -> datetime:
    return datetime.now(UTC)
