"""What has changed on a board, whoever has changed it: the tasks as they were, and as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable

from learnkit.backends import rules
from learnkit.backends.task import Change, Task


class News:
    """The changes of a board since the last look, for one object in this process."""

    def __init__(self, tasks: Callable[[], list[Task]]) -> None:
        self._tasks = tasks
        self._reported: dict[int, Task] | None = None
        self._guard = threading.Lock()

    def open(self) -> None:
        """Take the board as it is for known, the first time."""
        with self._guard:
            if self._reported is None:
                self._reported = self._by_id()

    def since(self) -> list[Change]:
        """Return what has changed since the last call."""
        with self._guard:
            before, now = self._reported or {}, self._by_id()
            self._reported = now
        pairs = [(before.get(id), now.get(id)) for id in sorted(before.keys() | now.keys())]
        return [(old, new) for old, new in pairs if old is not new and rules.differs(old, new)]

    def _by_id(self) -> dict[int, Task]:
        return {task.id: task for task in self._tasks()}
