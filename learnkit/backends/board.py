"""What every board does with its tasks, wherever they are kept.

A change loads some of them, lets a rule change them, and stores those that are otherwise than
before. A subclass says how to load and to store, in one step that no other change comes into.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Literal

from learnkit.backends import rules
from learnkit.backends.interface import BoardBackend
from learnkit.backends.task import Change, Changes, Task

#: Changes tasks in place, at a time, and returns those that the caller asks about.
Rule = Callable[[dict[int, Task], datetime], list[Task]]

#: The tasks that a rule needs: one with all that it waits for and that wait for it (if there is
#: none with this number, all); those that are not done, with all that they wait for; or all.
Which = int | Literal["open", "all"]


class Board(BoardBackend):
    """A board that has the rules, and whose subclass has the tasks."""

    def __init__(self) -> None:
        self._reported: dict[int, Task] | None = None  # what ``news`` has told last
        self._guard = threading.Lock()

    @abstractmethod
    def _changed(self, which: Which, rule: Rule, *, repeatable: bool = False) -> list[Task]:
        """Let a rule change tasks, and return what it returns; it may be given more than those.

        Only what is ``repeatable`` may happen twice, if a connection breaks.
        """

    def _read(self, which: Which, rule: Rule) -> list[Task]:
        """Return what a rule returns that changes nothing."""
        return self._changed(which, rule)

    def get(self, id: int) -> Task:
        return self._read(id, lambda tasks, now: [rules.find(tasks, id)])[0]

    def tasks(self) -> list[Task]:
        return self._read("all", lambda tasks, now: list(tasks.values()))

    def ready(self) -> list[Task]:
        return self._read("open", rules.ready)

    def change(self, id: int, changes: Changes) -> Task | None:
        connects = changes.add_blocked_by or changes.add_blocks or changes.remove_blocked_by
        changed = self._changed(
            "all" if connects else id, lambda tasks, now: rules.change(tasks, id, changes)
        )
        return changed[0] if changed else None

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        claimed = self._changed(
            id, lambda tasks, now: rules.claim(tasks, id, owner, incarnation, lease, now)
        )
        return claimed[0]

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        renewed = self._changed(
            "open",
            lambda tasks, now: rules.renew(tasks, owner, incarnation, lease, now),
            repeatable=True,
        )
        return [task.id for task in renewed]

    def release(self, owner: str, incarnation: str) -> list[Task]:
        return self._changed("open", lambda tasks, now: rules.release(tasks, owner, incarnation))

    def open(self) -> None:
        with self._guard:
            if self._reported is None:
                self._reported = self._by_id()

    def news(self) -> list[Change]:
        with self._guard:
            before, now = self._reported or {}, self._by_id()
            self._reported = now
        pairs = [(before.get(id), now.get(id)) for id in sorted(before.keys() | now.keys())]
        return [(old, new) for old, new in pairs if old is not new and rules.differs(old, new)]

    def _by_id(self) -> dict[int, Task]:
        return {task.id: task for task in self.tasks()}
