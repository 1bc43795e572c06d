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
from learnkit.core.tools import tool
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

    Raises:
        UsageError: if ``remind_after`` is below 0.
    """

    def __init__(self, remind_after: int = 3) -> None:
        if remind_after < 0:
            raise UsageError(f"remind_after is {remind_after}; give rounds from 0 up")
        self.remind_after = remind_after
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

    def restore(self, items: Sequence[Item]) -> None:
        """Put back a list that an earlier process had; it was checked then.

        Args:
            items: as ``todo.updated`` has them.
        """
        self._items = self._seen = [item.copy() for item in items]

    def system(self, agent: Agent) -> str | None:
        """When to keep a list, and how."""
        return _HOW

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

    @tool(read_only=True, holds="last")
    def todo(self, items: list[Item]) -> str:
        """Replace your todo list. Send all items, including completed ones.

        Args:
            items: At most 20, in the order in which you will do them. Only one may be in_progress.
        """
        given = [item["id"].strip() for item in items]
        lost = [item["text"] for item in self.open if item["id"] not in given]
        problem = _problem(items)
        if lost and not problem:
            problem = f"still open, and missing in your list: {', '.join(lost)}"
        if problem:
            self.emit(TodoRejected(problem=problem))
            raise ToolError(f"{problem}. The list is unchanged.")
        self._items = [_tidy(item) for item in items]
        done, total = len(self._items) - len(self.open), len(self._items)
        logged = tuple(TodoItem(**item) for item in self._items)
        remind_after = self.remind_after
        self.emit(TodoUpdated(items=logged, done=done, total=total, remind_after=remind_after))
        return self.render()


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
