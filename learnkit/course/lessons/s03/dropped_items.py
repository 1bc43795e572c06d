"""Lesson 3's trial of a todo list: updates that leave items out, and updates that may not fail."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.exercise_checks import judge

Items = list[dict[str, str]]


def leave_out(todo_list: type) -> str:
    """Send updates to a learner's list: some leave an open item out, and some only look like it."""
    wrong = judge(_wrong, todo_list)
    right = "It rejected each update that left out an open item, and no other."
    return f"✗ {wrong}" if wrong else f"✓ {right}"


def _wrong(todo_list: Any) -> str | None:
    steps = [_item("5a", "the function", "completed")]
    phases = [_item("5", "implement", "in_progress"), _item("6", "review")]
    for update, lost, named in (
        (steps, "two open items", ("implement", "review")),
        (phases[:1], "an open item", ("review",)),
        (phases[1:], "the item in progress", ("implement",)),
        ([], "all", ("implement", "review")),
    ):
        mine = todo_list()
        if (error := _send(mine, phases)) is not None:
            return f"it rejected a first list, of two open items: {error}"
        if mine.items != phases:
            return "after a first update, its items aren't those of the update"
        if (error := _send(mine, update)) is None:
            if mine.items == phases:
                return f"it refused an update that left out {lost}, but raised no lk.ToolError"
            return f"it accepted an update that left out {lost}"
        if mine.items != phases:
            return f"it rejected an update that left out {lost}, but the list changed"
        if unnamed := [name for name in named if name not in error]:
            return f"its error doesn't name {unnamed[0]!r}, so the model can't add it: {error}"
        if any(one["text"] in error for one in update if one in phases):
            return f"its error names an item that is there: {error}"
    done = [_item("5", "implement", "completed"), _item("6", "review", "in_progress")]
    renamed = [_item("5", "implement", "in_progress"), _item("6", "Review and test")]
    for first, update, what in (
        (phases, [phases[1], phases[0]], "that only moved an item"),
        (phases, done, "that completed an item"),
        (done, done[1:], "that left out a completed item"),
        (phases, renamed, "in which an item has its id and another text"),
    ):
        mine = todo_list()
        _send(mine, first)
        if (error := _send(mine, update)) is not None:
            return f"it rejected an update {what}: {error}"
        if mine.items != update:
            return f"it accepted an update {what}, but its list isn't that update"
    twice = [_item("1", "implement", "in_progress"), _item("2", "review", "in_progress")]
    if _send(todo_list(), twice) is None:
        return "it accepted two items in progress: `checked` is gone"
    return None


def _send(mine: Any, items: Items) -> str | None:
    """The error with which a list rejects an update."""
    try:
        mine.todo.run(None, {"items": [dict(one) for one in items]})
    except lk.ToolError as error:
        return str(error)
    return None


def _item(id: str, text: str, status: str = "pending") -> dict[str, str]:
    return {"id": id, "text": text, "status": status}
