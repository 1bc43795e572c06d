"""A folder of tasks: one file each, read again only where it changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from learnkit.backends.files.store import Document
from learnkit.backends.task import Task
from learnkit.errors import UsageError

_FILE = re.compile(r"task_([1-9][0-9]{0,8})\.json")


class Folder:
    """The tasks of a folder. A file is read again only when it has changed.

    The caller holds the folder's lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[int, tuple[tuple[int, ...], Task]] = {}

    @property
    def there(self) -> bool:
        """Whether the folder exists: without it there are no tasks yet."""
        if self._path.is_dir():
            return True
        if self._known:
            raise OSError(
                f"the tasks in {self._path} were there, and the folder is gone; put it back, or "
                "make an empty one to begin a new board"
            )
        return False

    def tasks(self, ids: Iterable[int] | None = None) -> dict[int, Task]:
        """Return the tasks by number: these, or all."""
        if ids is None:
            files = (_FILE.fullmatch(path.name) for path in self._path.iterdir())
            ids = {int(match[1]) for match in files if match}
            self._known = {id: one for id, one in self._known.items() if id in ids}
        signs = {id: _sign(f"{self._path}/task_{id}.json") for id in sorted(ids)}
        return {id: self._task(id, sign) for id, sign in signs.items() if sign}

    def _task(self, id: int, sign: tuple[int, ...]) -> Task:
        known = self._known.get(id)
        if known and known[0] == sign:
            return known[1]
        document = Document(self._path / f"task_{id}.json")
        try:
            task = Task.from_json(document.read())
            if task.id != id:
                raise ValueError(f"its id is {task.id}")
        except ValueError as error:
            if isinstance(error, UsageError):
                raise
            problem = f"{document.path} is no task: {error}"
            raise UsageError(f"{problem}. Mend it or remove it.") from None
        if known and known[1] == task:
            task = known[1]
        self._known[id] = sign, task
        return task


def _sign(path: str) -> tuple[int, ...]:
    """What tells one version of a file from another; empty if there is none."""
    try:
        stat = os.stat(path)  # noqa: PTH116  # for each file at every look; a Path costs twice that
    except FileNotFoundError:
        return ()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
