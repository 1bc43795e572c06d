"""Todo: a written plan, and a reminder when the model stops updating it.

A plan that was made in one reply gets lost in the conversation. Here it is a list that the model
keeps with a tool: replaced whole, checked before it counts, so that no open item is lost, and shown
again with every update. After
some rounds without an update one reminder follows the results. The list lives as long as the agent;
what has to outlive it is a task (lesson 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from learnkit.core.frames import REMINDER, TODO_LIST, defused
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool, tool
from learnkit.errors import ToolError, UsageError
from learnkit.events.todo import TodoItem, TodoRejected, TodoReminded, TodoUpdated

if TYPE_CHECKING:
    from learnkit.core.agent import Agent

Status = Literal["pending", "in_progress", "completed"]

#: How many items a list may have, and characters the text of one.
MAX_ITEMS, MAX_TEXT = 20, 500

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_HOW = (
    "For work with several steps, keep a list with the tool todo. Write down the steps first, set "
    "one to in_progress before you start it, and to completed as soon as it is done."
)


class Item(TypedDict):
    """One thing to do; the id is a short number or word, the note what came up on the way."""

    id: str
    text: str
    status: Status
    note: NotRequired[str]


# Models write 1 as well as "1".
Item.__pydantic_config__ = {"coerce_numbers_to_str": True, "extra": "forbid"}  # type: ignore[attr-defined]


class Todo(Mechanism):
    """Offers the tool ``todo``, and reminds the model of an open list.

    Emits ``todo.updated`` with ``items``, ``done``, ``total`` and ``remind_after``;
    ``todo.rejected`` with ``problem``; and ``todo.reminded`` with ``rounds`` and ``text``.

    Args:
        remind_after: rounds of tool calls that leave the list as it is after which a reminder
            follows the results; 0 never reminds. A call that is refused, or sends the same list
            again, changes nothing.
        incremental: offer ``todo_add``, ``todo_update`` and ``todo_delete`` in place of ``todo``,
            so that an update is short and items may have notes.
        show_list: the reminder repeats the list.

    Raises:
        UsageError: if ``remind_after`` is below 0.
    """

    def __init__(
        self, remind_after: int = 3, *, incremental: bool = False, show_list: bool = False
    ) -> None:
        if remind_after < 0:
            raise UsageError(f"remind_after is {remind_after}; give rounds from 0 up")
        self.remind_after, self.show_list = remind_after, show_list
        self.incremental = incremental
        self._items: list[Item] = []
        self._seen = self._items  # as it was after the last round
        self._rounds = 0

    @property
    def items(self) -> list[Item]:
        """The list, in order; changing this copy changes nothing."""
        return [item.copy() for item in self._items]

    @property
    def open(self) -> list[Item]:
        """What is not completed."""
        return [item for item in self.items if item["status"] != "completed"]

    @property
    def tools(self) -> Sequence[Tool]:
        """``todo``, or the three tools of the incremental form."""
        three = (self.todo_add, self.todo_update, self.todo_delete)
        return three if self.incremental else (self.todo,)

    def system(self, agent: Agent) -> str | None:
        """When to keep a list, and how."""
        return _HOW.replace("the tool todo", "todo_add") if self.incremental else _HOW

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """One reminder after some rounds without a change, then counting starts again."""
        if self._items != self._seen:
            self._seen, self._rounds = self._items, 0
            return None
        self._rounds += 1
        if not self.remind_after or self._rounds < self.remind_after or not self.open:
            return None
        rounds, self._rounds = self._rounds, 0
        since = f"You have not updated your todo list for {rounds} rounds"
        text = f"<{REMINDER}>{since}. Update it now.</{REMINDER}>"
        if self.show_list:
            text += f"\n{defused(self.render())}"
        agent.emit(TodoReminded(rounds=rounds, text=text))
        return text

    def carry(self, agent: Agent) -> str | None:
        """The list, as long as something on it is open."""
        return f"<{TODO_LIST}>\n{defused(self.render())}\n</{TODO_LIST}>" if self.open else None

    def render(self) -> str:
        """The list as the model reads it."""
        if not self._items:
            return "The list is empty."
        done = len(self._items) - len(self.open)
        lines = [_line(item) for item in self._items]
        return "\n".join([*lines, f"({done}/{len(lines)} completed)"])

    @tool(read_only=True, group="todo", holds="last")
    def todo(self, items: list[Item]) -> str:
        """Replace your todo list. Send all items, including completed ones.

        Args:
            items: At most 20, in the order in which you will do them. Only one may be in_progress.
        """
        given = [item["id"].strip() for item in items]
        lost = [item["text"] for item in self.open if item["id"] not in given]
        if lost and not _problem(items):
            raise self._rejected(f"still open, and missing in your list: {', '.join(lost)}")
        return self._replace(items)

    @tool(read_only=True, group="todo", holds="last")
    def todo_add(self, text: str, note: str = "") -> str:
        """Add an item at the end of your todo list. Its id is the next number.

        Args:
            text: Text of the item.
            note: Note on the item, e.g. what came up along the way.
        """
        taken = [int(item["id"]) for item in self._items if item["id"].isdecimal()]
        new: Item = {"id": str(max(taken, default=0) + 1), "text": text, "status": "pending"}
        if note:
            new["note"] = note
        return self._replace([*self._items, new])

    @tool(read_only=True, group="todo", holds="last")
    def todo_update(self, id: str, status: Status | None = None, note: str | None = None) -> str:
        """Change the status or the note of an item on your todo list.

        Args:
            id: Id of the item.
            status: New status. Only one item may be in_progress.
            note: New note.
        """
        changed = self._find(id).copy()
        if status is not None:
            changed["status"] = status
        if note is not None:
            changed["note"] = note
        return self._replace([changed if i["id"] == id else i for i in self._items])

    @tool(read_only=True, group="todo", holds="last")
    def todo_delete(self, id: str) -> str:
        """Remove an item from your todo list.

        Args:
            id: Id of the item.
        """
        gone = self._find(id)
        return self._replace([item for item in self._items if item is not gone])

    def _find(self, id: str) -> Item:
        for item in self._items:
            if item["id"] == id:
                return item
        known = ", ".join(item["id"] for item in self._items) or "none"
        raise self._rejected(f"there is no item {id!r}; the ids are: {known}")

    def _replace(self, new: Sequence[Item]) -> str:
        """Put a new list in place of the old one, if it holds what a list must."""
        if problem := _problem(new):
            raise self._rejected(problem)
        self._items = [_tidy(item) for item in new]
        done, total = len(self._items) - len(self.open), len(self._items)
        items = tuple(TodoItem(**item) for item in self._items)
        remind_after = self.remind_after
        self.emit(TodoUpdated(items=items, done=done, total=total, remind_after=remind_after))
        return self.render()

    def _rejected(self, problem: str) -> ToolError:
        self.emit(TodoRejected(problem=problem))
        return ToolError(f"{problem}. The list is unchanged.")


def _problem(items: Sequence[Item]) -> str | None:
    """What keeps items from being a list, if anything does."""
    if len(items) > MAX_ITEMS:
        return f"{len(items)} items are too many, at most {MAX_ITEMS} fit; combine small steps"
    ids = [item["id"].strip() for item in items]
    for place, (id, item) in enumerate(zip(ids, items, strict=True), start=1):
        if not id:
            return f"item {place} has no id"
        if ids.index(id) < place - 1:
            return f"item {place}: another item already has the id {id!r}"
        if not item["text"].strip():
            return f"item {id!r} has no text"
        if len(item["text"]) > MAX_TEXT:
            return (
                f"item {id!r}: the text has {len(item['text'])} characters; at most {MAX_TEXT} fit"
            )
    current = [id for id, item in zip(ids, items, strict=True) if item["status"] == "in_progress"]
    if len(current) > 1:
        return f"items {', '.join(current)} are in_progress; only one item may be"
    return None


def _tidy(item: Item) -> Item:
    """An item with its texts on one line each, so that none can look like another item."""
    tidy: Item = {"id": item["id"].strip(), "text": _flat(item["text"]), "status": item["status"]}
    if note := _flat(item.get("note", "")):
        tidy["note"] = note
    return tidy


def _flat(text: str) -> str:
    return " ".join(text.split())


def _line(item: Item) -> str:
    note = f" ({item['note']})" if item.get("note") else ""
    return f"{_MARKS[item['status']]} #{item['id']}: {item['text']}{note}"
