"""The todo list: a row for each item, a column for each round, and the reminders between rounds.

A round is one reply with calls, and their results. A cell is filled where the state of an item
changes. Below, bars rise with the rounds in which the list was not updated, up to a reminder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded
from learnkit.events.text import blocks_of, count
from learnkit.events.todo import TodoItem, TodoRejected, TodoReminded, TodoUpdated
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width, wrapped

#: Status of an item, as the tool has it -> its mark.
_STATES = {"pending": theme.PENDING, "in_progress": theme.ACTIVE, "completed": theme.DONE}
_WORDS = {"": "off the list"} | {status: mark.word for status, mark in _STATES.items()}
_KINDS = {
    **{"list": "the list was updated", "same": "the same list again"},
    **{"refused": "an update was refused", "work": "other calls"},
}
_LEGEND = " · ".join([*(mark.label for mark in _STATES.values()), "✉\ufe0e\u00a0reminder"])
#: What the bars count.
_GAUGE = "rounds without an update"
#: In pixels: the height of a cell, from there to the next row, and the least width of a column.
_CELL, _APART, _COLUMN = 22, 8, 15


@dataclass(frozen=True, slots=True)
class Round:
    """One reply with calls, and its results: then ``since`` rounds had no update of ``items``."""

    kind: str
    reminded: bool
    since: int
    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class State:
    """The list, the rounds so far, and what has happened since the last round.

    Attributes:
        items: as the tool has them.
        rounds: those that are over.
        since: rounds without an update, with the one that a reminder ends.
        remind_after: rounds until a reminder; 0 for none.
        kind: of the round that goes on, as in ``_KINDS``.
        reminding: whether a reminder goes with the results of the round that goes on.
        problem: why the last update was refused; empty if it wasn't.
    """

    items: tuple[TodoItem, ...] = ()
    rounds: tuple[Round, ...] = ()
    since: int = 0
    remind_after: int = 3
    kind: str = "work"
    reminding: bool = False
    problem: str = ""


class Todo(Diagram[State]):
    """The list from round to round, and the reminders to keep it."""

    name = "todo list"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        match read(event):
            case TodoUpdated(items=items, remind_after=after):
                new = replace(state, items=items, remind_after=after, problem="")
                if items == state.items:
                    return replace(new, kind="list" if state.kind == "list" else "same")
                return replace(new, kind="list", since=0)
            case TodoRejected(problem=problem):
                return replace(state, kind="refused", problem=problem)
            case TodoReminded():
                return replace(state, reminding=True, since=state.since + 1)
            case MessageAdded(message=message) if _brings_results(message):
                since = 0 if state.reminding or state.kind == "list" else state.since + 1
                counted = state.since if state.reminding else since
                rounds = (*state.rounds, Round(state.kind, state.reminding, counted, state.items))
                over = replace(state, rounds=rounds, since=since, kind="work", reminding=False)
                return over if state.kind == "refused" else replace(over, problem="")
        return state

    def says(self, state: State) -> list[str]:
        number, items = len(state.rounds) + state.reminding, count(len(state.items), "item")
        rounds, bad = count(number, "round"), f"Refused: {state.problem}." if state.problem else ""
        if not state.items:
            return [f"No list after {rounds}." if number else "There is no list yet.", bad]
        done = sum(item.status == "completed" for item in state.items)
        reminded = [number for number, one in enumerate(state.rounds, start=1) if one.reminded]
        # Those that an update follows.
        heard = [n for n in reminded if any(one.kind == "list" for one in state.rounds[n : n + 1])]
        if state.reminding or reminded[-1:] == [number]:
            first = f"A reminder follows round {number}."
        elif len(reminded) == 1:
            does = "updated its list" if heard else "did not update its list"
            first = f"Reminded after round {reminded[0]}, the model {does} in the next round."
        elif reminded:
            first = f"{len(heard)} of {len(reminded)} reminders led to an update in the next round."
        elif state.since and done < len(state.items):
            first = f"The list has not been updated for {count(state.since, 'round')}."
        else:
            first = "The list is up to date, without a reminder."
        return [first, f"{done} of {items} completed after {rounds}.", bad]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        return _Grid(Canvas(width), state, rows).draw(rows)


def _brings_results(message: dict[str, Any]) -> bool:
    blocks = blocks_of(message.get("content"))
    return any(block.get("type") == "tool_result" for block in blocks)


def _text(item: TodoItem) -> str:
    return f"{item.text} ({item.note})" if item.note else item.text


class _Grid:
    """Items from top to bottom, rounds from left to right."""

    def __init__(self, canvas: Canvas, state: State, rows: int) -> None:
        self.canvas, self.state = canvas, state
        begun = state.kind != "work" or state.reminding
        now = Round(state.kind, state.reminding, state.since, state.items)
        columns = [*enumerate([*state.rounds, *[now] * begun], start=1)]
        #: Each item that was ever on the list, as it was last.
        self.items = {item.id: item for _, one in columns for item in one.items}
        longest = max(text_width(text) for text in [_GAUGE, *map(_text, self.items.values())])
        self.left = min(longest + 24, canvas.width * 0.36)
        self.room = canvas.width - 2 - self.left
        number = 12 + max(len(columns) - 1, 0) // 12 * 12  # room for more, so that columns stay
        number = min(number, int(self.room / _COLUMN), max(6, 2 * rows))
        self.each, self.columns = self.room / number, columns[-number:]
        self.earlier = len(columns) - len(self.columns)

    def x(self, number: int, part: float = 0) -> float:
        """Where the column of a round begins, or a place in it."""
        return self.left + self.each * (number - 1 - self.earlier + part)

    def draw(self, rows: int) -> Canvas:
        """Draw all of it, from above."""
        canvas, state, y = self.canvas, self.state, 30.0
        if not canvas.left_out("earlier", 2, 12, self.earlier, "round"):
            canvas.text("head", 2, 12, "round", "q")
        for number, one in self.columns:
            says = f"round {number}: {_KINDS[one.kind]}{'; a reminder followed' * one.reminded}"
            text = f"{number}" if self.each > 20 or number < 10 or number % 5 == 0 else "·"
            canvas.text(f"round {number}", self.x(number, 0.5), 12, text, "qc", says=says)
        for place, item in enumerate([*self.items.values()][:rows]):
            y = self.item(place, item, y) + _APART
        y += 20 * canvas.left_out("more", 2, y + 12, len(self.items) - rows, "more item")
        if state.remind_after:
            y = self.gauge(y + 32)
        for number, one in self.columns:
            if one.reminded:
                x, path = self.x(number + 1), f"M0 0V{y - 22:g}"
                canvas.edge(f"line {number}", path, "injected", "w", x=x, y=22)
                canvas.dot(f"reminder {number}", x, y + 9, 9, "injected", theme.INJECTED.glyph)
        lines = wrapped(_LEGEND, canvas.width - 4)
        canvas.height = canvas.rows("legend", 2, y + 36, lines, "q") - 10
        return canvas

    def item(self, place: int, item: TodoItem, y: float) -> float:
        """An item from round to round; returns where it ends."""
        canvas, said, status = self.canvas, list[str](), ""
        gone = item not in self.columns[-1][1].items
        lines = wrapped(_text(item) + " (off the list)" * gone, self.left - 12)
        end = y + max(16 * len(lines), _CELL)
        middle = (y + end) / 2
        canvas.edge(f"track {place}", f"M0 0H{self.room:g}", x=self.left, y=middle)
        for status, its in groupby(self.columns, lambda one: _status(one[1], item.id)):
            numbers = [number for number, _ in its]
            said.append(f"{_WORDS[status]} from round {numbers[0]}")
            if not status:
                continue
            mark, key, x = _STATES[status], f"{place} {numbers[0]}", self.x(numbers[0]) + 2
            wide = self.each * len(numbers) - 4
            canvas.edge(f"line {key}", f"M0 0H{wide:g}", mark.key, x=x, y=middle)
            center = x + self.each / 2 - 2
            if mark is theme.PENDING:
                canvas.dot(f"cell {key}", center, middle, 5, mark.key, style="cg")
                continue
            wide = wide if mark is theme.ACTIVE else self.each - 4
            canvas.box(f"cell {key}", x, middle - _CELL / 2, wide, _CELL, mark.key)
            canvas.text(f"glyph {key}", center, middle + 4, mark.glyph, "cn", mark.key)
        says = f"{_WORDS[status]}: {_text(item)}; {', '.join(said)}"
        canvas.rows(f"item {place}", 2, middle - 8 * len(lines) + 12, lines, "q" * gone, says=says)
        return end

    def gauge(self, low: float) -> float:
        """How near the next reminder was, round by round, as bars on a line; returns its end."""
        state, canvas = self.state, self.canvas
        now = [one.since for _, one in self.columns[-1:]] or [0]
        says = f"{now[0]} of {state.remind_after} {_GAUGE}"
        lines = wrapped(_GAUGE, self.left - 12)
        canvas.rows("gauge", 2, low + 12 - 16 * len(lines), lines, "q", says=says)
        canvas.edge("ground", f"M0 0H{self.room:g}", x=self.left, y=low)
        for number, one in self.columns:
            if one.since and any(item.status != "completed" for item in one.items):
                tall, x = 18 * min(1, one.since / state.remind_after), self.x(number, 0.1)
                canvas.bar(f"bar {number}", x, low - tall, 0.8 * self.each, tall, "injected", "p")
                above = self.x(number, 0.5), low - tall - 3
                mark = theme.ERROR.key * (one.kind == "refused")
                text = theme.ERROR.glyph if mark else f"{one.since}"
                canvas.text(f"since {number}", *above, text, "qc", mark)
        return low


def _status(one: Round, id: str) -> str:
    return next((item.status for item in one.items if item.id == id), "")
