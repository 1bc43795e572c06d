"""The events of a todo list."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import detail, event, record
from learnkit.events.text import count, quoted


@record
class TodoItem:
    """One thing to do."""

    id: str = ""
    text: str = ""
    status: Literal["pending", "in_progress", "completed"] = "pending"
    note: str = detail(default="", sometimes=True)


def _listed(todo: TodoUpdated) -> str:
    current = [item.text for item in todo.items if item.status == "in_progress"]
    now = f"; in progress: {quoted(current[0])}" if current else ""
    return f"{todo.done} of {count(todo.total, 'item')} completed{now}."


@event("todo.updated", lesson="s03", sentence=_listed)
class TodoUpdated:
    """The model has written its list anew, or an item of it."""

    items: tuple[TodoItem, ...] = ()
    done: int = 0
    total: int = 0
    remind_after: int = 3


@event("todo.rejected", lesson="s03", sentence="An update of the list is refused: {problem}.")
class TodoRejected:
    """The model's update breaks a rule of the list, which stays as it was."""

    problem: str = ""


@event(
    "todo.reminded",
    lesson="s03",
    sentence="After {rounds:round} without an update of the list, a reminder follows the results.",
)
class TodoReminded:
    """The model has not looked at its open list for so long that it is reminded."""

    rounds: int = 0
    text: str = ""
