"""What lesson 7's model sees of its plan, and calls to change it: a todo list, or a board."""

from __future__ import annotations

import re
from typing import Any

import learnkit as lk

_STATUS = {" ": "pending", ">": "in_progress", "x": "completed"}


class TodoList:
    """A plan by lesson 3's tool, as a request shows it.

    Attributes:
        items: id -> subject and status.
        worked, begun, open: the ids of what a command was just run for, of what is in progress,
            and of what can be begun first; 0 if there is none.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        prompt, *rest = request["messages"]
        self._steps = re.findall(r"\w+", prompt["content"].partition(": ")[2])
        text = f"{request['system']} {rest}"
        lines = re.findall(r"\[([ >x])\] #(\d+): (\w+)", text)
        self.items = {int(id): (subject, _STATUS[mark]) for mark, id, subject in lines}
        ran = re.findall(r"echo (\w+) >", str(rest[-2:]))
        self.begun = self._first("in_progress")
        self.worked = self.begun if self.begun and self.items[self.begun][0] in ran else 0
        self.open = self._ready(text)

    def _first(self, status: str) -> int:
        return min((id for id in self.items if self.items[id][1] == status), default=0)

    def _ready(self, text: str) -> int:
        return self._first("pending")

    def make(self) -> lk.Reply:
        """The calls that put all steps into the plan."""
        self.items = {id: (step, "pending") for id, step in enumerate(self._steps, start=1)}
        return self.mark(1, "pending")

    def mark(self, id: int, status: str) -> lk.Reply:
        """The calls that give an item a status, and show the plan."""
        items = {**self.items, id: (self.items[id][0], status)}.items()
        return lk.use("todo", items=[{"id": str(n), "text": t, "status": s} for n, (t, s) in items])


class Board(TodoList):
    """A plan as tasks on disk."""

    def _ready(self, text: str) -> int:
        return int(["", *re.findall(r"ready: (\d*)", text)][-1] or 0)

    def make(self) -> lk.Reply:
        """The calls that put the goal on the board, and what it waits for; four are a diamond."""
        create = [lk.use("task_create", subject=step) for step in reversed(self._steps)]
        chain = {id: [id + 1] for id in range(1, len(create))}
        waits = {1: [2, 3], 2: [4], 3: [4]} if len(create) == 4 else chain
        wait = [lk.use("task_update", task_id=id, addBlockedBy=waits[id]) for id in waits]
        return lk.reply(*create, *wait, lk.use("task_list"))

    def mark(self, id: int, status: str) -> lk.Reply:
        """The calls that give a task a status, and show the plan."""
        return lk.reply(lk.use("task_update", task_id=id, status=status), lk.use("task_list"))
