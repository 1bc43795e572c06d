"""What lesson 7's model sees of its plan, and calls to change it: a todo list, or a board."""

from __future__ import annotations

import re
from typing import Any

import learnkit as lk

_STATUS = {" ": "pending", ">": "in_progress", "x": "completed"}


class TodoList:
    """A plan by lesson 3's tool, as a conversation shows it.

    Attributes:
        seen: whether the model has looked for a plan.
        items: id -> subject and status.
        worked, begun, open: what a command was just run for, what is in progress, and the first
            item that can be begun; each is an id, and 0 if there is none.
    """

    look = (lk.use("bash", command="ls"),)

    def __init__(self, request: dict[str, Any]) -> None:
        prompt, *rest = request["messages"]
        self.seen, self._text = bool(rest), str(rest)
        self._steps = re.findall(r"\w+", prompt["content"].partition(": ")[2])
        lines = re.findall(r"\[([ >x])\] #(\d+): (\w+)", self._text)
        self.items = {int(id): (subject, _STATUS[mark]) for mark, id, subject in lines}
        ran = re.search(r"echo (\w+) >>", str(rest[-2:]))
        self.worked = next((id for id in self.items if ran and self.items[id][0] == ran[1]), 0)
        self.begun = next(iter(self._with("in_progress")), 0)
        self.open = next(iter(self._ready()), 0)

    def _with(self, status: str) -> list[int]:
        return [id for id in sorted(self.items) if self.items[id][1] == status]

    def _ready(self) -> list[int]:
        return self._with("pending")

    def make(self) -> lk.Reply:
        """The calls that put all steps into the plan."""
        self.items = {id: (step, "pending") for id, step in enumerate(self._steps, start=1)}
        return self.mark(0, "")

    def mark(self, changed: int, status: str) -> lk.Reply:
        """The calls that give an item a status."""
        items = {**self.items, changed: (self.items.get(changed, ("",))[0], status)}
        named = [
            {"id": str(id), "text": text, "status": now} for id, (text, now) in items.items() if id
        ]
        return lk.reply(lk.use("todo", items=named))


class Board(TodoList):
    """A plan as tasks on disk: the mail comes first, for it is the goal, and waits for the rest."""

    look = (*TodoList.look, lk.use("task_list"))

    def _ready(self) -> list[int]:
        shown = re.findall(r"ready: (none|[\d, ]+)", self._text)
        return [int(id) for id in re.findall(r"\d+", shown[-1])] if shown else []

    def make(self) -> lk.Reply:
        """The calls that put a diamond on the board."""
        create = [lk.use("task_create", subject=step) for step in reversed(self._steps)]
        waits = {1: [2, 3], 2: [4], 3: [4]}
        wait = [lk.use("task_update", task_id=id, addBlockedBy=waits[id]) for id in waits]
        return lk.reply(*create, *wait, lk.use("task_list"))

    def mark(self, changed: int, status: str) -> lk.Reply:
        """The calls that give a task a status, and show the board."""
        update = lk.use("task_update", task_id=changed, status=status)
        return lk.reply(update, lk.use("task_list"))
