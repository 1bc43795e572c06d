"""A board as one run of a worker uses it: each claim is a lease, and each change names its token.

The worker's mechanisms use it like any other board. It holds the fencing tokens, so no model ever
sees one, and what a worker says about a task that it has lost meanwhile is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from learnkit.backends import rules
from learnkit.backends.interface import BoardBackend
from learnkit.backends.task import Change, Changes, Task
from learnkit.errors import ToolError


class LeasedBoard(BoardBackend):
    """A team's board, for one run of one worker.

    Its leases are prolonged by :meth:`renew`, which the worker's heartbeat calls.
    """

    def __init__(self, board: BoardBackend, owner: str, incarnation: str, lease: float) -> None:
        rules.check_lease(lease)
        self._board, self._owner = board, owner
        self._incarnation, self._lease = incarnation, lease
        self._tokens: dict[int, int] = {}  # of what it has claimed and not given back, by id

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        """Claim a task under this worker's lease; the other arguments have no effect."""
        task = self._board.claim(id, self._owner, incarnation=self._incarnation, lease=self._lease)
        self._tokens[id] = task.token
        return task

    def change(self, id: int, changes: Changes) -> Task | None:
        """Change a task. To begin one is to claim it; what an earlier run holds is not changed."""
        new, status = False, changes.status
        if status is not None:
            task = self._board.get(id)
            mine = rules.holds(task, self._owner, self._incarnation)
            if status == "in_progress" and not mine:
                self.claim(id, self._owner)
                new = True
            # Where there is a token, the board itself refuses what this run has lost.
            elif (task.status, task.owner) == ("in_progress", self._owner) and not (
                mine or id in self._tokens
            ):
                earlier = f"an earlier run of {self._owner}"
                raise ToolError(f"{earlier} has begun task {id}; claim it before you go on")
        try:
            owner = self._owner if status == "in_progress" else ""
            left = None if new else status
            fenced = replace(changes, status=left, owner=owner, token=self._tokens.get(id))
            changed = self._board.change(id, fenced)
        except ToolError:
            if new:  # all of it, or nothing
                self.update(id, "pending")
            raise
        if changed is None or changed.status == "pending":
            self._tokens.pop(id, None)
        return changed

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        return self._board.renew(owner, incarnation, lease)

    def release(self, owner: str, incarnation: str) -> list[Task]:
        return self._board.release(owner, incarnation)

    # What needs no token

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        return self._board.create(subject, description, tags=tags)

    def get(self, id: int) -> Task:
        return self._board.get(id)

    def tasks(self) -> list[Task]:
        return self._board.tasks()

    def ready(self) -> list[Task]:
        return self._board.ready()

    def open(self) -> None:
        self._board.open()

    def news(self) -> list[Change]:
        return self._board.news()
