"""The todo list: its items, their progress, and the rounds since the model last updated it.

Beside the list is a track of rounds. A round is one reply with calls, and their results. The track
shows in which rounds the list was updated, and after which ones a reminder was sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from learnkit.events.log import Event
from learnkit.events.loop import MessageAdded
from learnkit.events.text import blocks_of, count, listed
from learnkit.events.todo import TodoItem, TodoRejected, TodoReminded, TodoUpdated
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, wrapped

Kind = Literal["work", "list", "same", "refused"]

#: Status of an item, as the tool has it -> its mark.
_STATES = {"pending": theme.PENDING, "in_progress": theme.ACTIVE, "completed": theme.DONE}
_KINDS = {
    "list": (theme.DONE, "the list was updated"),
    "same": (theme.PLAIN, "the same list again"),
    "refused": (theme.ERROR, "an update was refused"),
    "work": (theme.CALL, "other calls"),
}


@dataclass(frozen=True, slots=True)
class Round:
    """One reply with calls, and its results."""

    kind: Kind
    reminded: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The list, the rounds so far, and what has happened since the last round.

    Attributes:
        items: as the tool has them.
        rounds: those that are over.
        since: rounds without an update, with the one that a reminder ends.
        remind_after: rounds until a reminder; 0 for none.
        kind: of the round that goes on.
        reminding: whether a reminder goes with the results of the round that goes on.
        problem: why the last update was refused; empty if it wasn't.
    """

    items: tuple[TodoItem, ...] = ()
    rounds: tuple[Round, ...] = ()
    since: int = 0
    remind_after: int = 3
    kind: Kind = "work"
    reminding: bool = False
    problem: str = ""

    @property
    def done(self) -> int:
        """How many items are completed."""
        return sum(item.status == "completed" for item in self.items)


class Todo(Diagram[State]):
    """The list, a gauge of rounds without an update, and the reminders."""

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
                rounds = (*state.rounds, Round(state.kind, state.reminding))
                since = 0 if state.reminding or state.kind == "list" else state.since + 1
                over = replace(state, rounds=rounds, since=since, kind="work", reminding=False)
                return over if state.kind == "refused" else replace(over, problem="")
        return state

    def says(self, state: State) -> list[str]:
        rounds = count(len(state.rounds), "round")
        if not state.items:
            return [f"No list after {rounds}." if state.rounds else "There is no list yet."]
        reminded = [number for number, one in enumerate(state.rounds, start=1) if one.reminded]
        # Those that an update follows.
        heard = [n for n in reminded if any(one.kind == "list" for one in state.rounds[n : n + 1])]
        said = ", without a reminder"
        if reminded:
            after = listed([f"round {number}" for number in reminded])
            next = "no update came in the next"
            if heard:
                next = f"{listed([f'round {number + 1}' for number in heard])} updated the list"
            said = f": a reminder followed {after}, and {next}"
        first = f"{state.done} of {count(len(state.items), 'item')} completed."
        return [first, f"After {rounds}{said}."]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, y = Canvas(width), 2.0
        for place, item in enumerate(state.items[:rows]):
            mark, text = _STATES[item.status], _text(item)
            lines = wrapped(text, width - 126, most=2)
            tall = 8 + 16 * len(lines)
            says = f"{mark.word}: {text}"
            key = "" if mark is theme.DONE else mark.key  # what is left to do stands out
            canvas.box(f"item {place}", 2, y, width - 4, tall, key, [mark.label], says=says)
            canvas.rows(f"text {place}", 116, y + 17, lines, "n", mark.key)
            y += tall + 4
        y += 24 * canvas.left_out("items", 10, y + 14, len(state.items) - rows, "more item")
        said = [(state.problem and f"{theme.ERROR.glyph} refused: {state.problem}", "", "error")]
        said += [("" if state.items else "The list is empty.", "q", "")]
        said += [(f"rounds of calls: {_legend(state)}", "q", "")]
        for number, (text, style, key) in enumerate(said):
            lines = wrapped(text, width - 4)
            y = canvas.rows(f"said {number}", 2, y + 16, lines, style, key, 18) - 16
        y, x, earlier = y + 8, 2.0, len(state.rounds) - 2 * rows
        if canvas.left_out("rounds", x, y + 16, earlier, "earlier round"):
            x += 150
        for number, one in list(enumerate(state.rounds, start=1))[-2 * rows :]:
            mark, what = _KINDS[one.kind]
            if x > width - 80:
                x, y = 2.0, y + 30
            says = f"round {number}: {what}{'; a reminder followed' if one.reminded else ''}"
            label = [f"{mark.glyph}{number}"]
            canvas.box(f"round {number}", x, y, 42, 24, mark.key, label, "m", says=says)
            x += 46
            if one.reminded:
                glyph = [theme.INJECTED.glyph]
                canvas.box(f"reminder {number}", x, y, 30, 24, "injected", glyph)
                x += 34
        y += 36
        if state.done < len(state.items):
            y = _gauge(canvas, state, y)
        canvas.height = y + 2
        return canvas


def _brings_results(message: dict[str, Any]) -> bool:
    blocks = blocks_of(message.get("content"))
    return any(block.get("type") == "tool_result" for block in blocks)


def _text(item: TodoItem) -> str:
    return f"{item.text} ({item.note})" if item.note else item.text


def _gauge(canvas: Canvas, state: State, y: float) -> float:
    """How near the next reminder is, drawn from y downwards; returns where it ends."""
    each = min(26, (canvas.width - 4) / 20)
    for place in range(min(state.remind_after, 20)):
        shape, key = (canvas.bar, "call") if place < state.since else (canvas.box, "")
        shape(f"gauge {place}", 2 + each * place, y, each - 4, 10, key)
    follows = ": a reminder follows" if state.reminding else ""
    rounds = count(state.remind_after, "round")
    says = f"{state.since} of {rounds} without an update of the list{follows}"
    lines = wrapped(says if state.remind_after else "no reminders", canvas.width - 4)
    return canvas.rows("gauge is", 2, y + 28, lines, "q", each=18) - 10


def _legend(state: State) -> str:
    used = [kind for kind in _KINDS if any(one.kind == kind for one in state.rounds)]
    parts = [f"{_KINDS[kind][0].glyph} {_KINDS[kind][1]}" for kind in used]
    if any(one.reminded for one in state.rounds):
        parts.append(f"{theme.INJECTED.glyph} a reminder followed the results")
    return " · ".join(parts) or "none yet"
