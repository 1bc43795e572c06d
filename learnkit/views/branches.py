"""Two runs with the same beginning: what they share, where they part, and how each ended.

What both runs share stands once across the page, and below it each run has a column for what is its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from learnkit.events.log import Event, EventLog
from learnkit.events.loop import MessagesRewritten
from learnkit.events.sentences import ended
from learnkit.events.text import count, listed, one_line, quoted
from learnkit.views.drawing import blocks, static, theme
from learnkit.views.drawing.array import Array, MessageCard, grow
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, wrapped
from learnkit.views.drawing.text import esc
from learnkit.views.words import below, describe

#: Names of the two lanes: the run as it was, and the one that was forked from it.
WAS, FORK = "as it was", "forked"
#: Height of a row in the static picture, in pixels.
_ROW = 24


@dataclass(frozen=True, slots=True)
class State:
    """Both arrays, and how each run ended."""

    arrays: dict[str, Array] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)

    @property
    def shared(self) -> int:
        """How many messages are the same in both, counted from the start."""
        if len(self.arrays) < 2:
            return 0
        return _common(*(array.cards for array in self.arrays.values()))

    @property
    def both(self) -> tuple[MessageCard, ...]:
        """The messages that are the same in both, from the start."""
        return next(iter(self.arrays.values())).cards[: self.shared] if self.arrays else ()


class Branches(Diagram[State]):
    """Two message arrays with a common beginning: the first two lanes of a log.

    ``Branches.of(was, fork)`` makes that log from two runs.
    """

    name = "two runs compared"
    start = State()

    @classmethod
    def of(cls, was: Any, fork: Any, *, lane: str = "lead") -> Branches:
        """The view of two runs.

        Args:
            was: the original run: its events, or an object that has them as ``events``.
            fork: the run that was forked from it, given in the same way.
            lane: the agent whose arrays are compared.
        """
        return cls(merged(getattr(was, "events", was), getattr(fork, "events", fork), lane))

    def fold(self, state: State, event: Event) -> State:
        if event.lane not in state.arrays and len(state.arrays) == 2:
            return state  # there is no third column
        array = grow(state.arrays.get(event.lane) or Array(event.lane), event)
        new = replace(state, arrays={**state.arrays, event.lane: array})
        if event.type == "run.ended":
            return replace(new, ended={**state.ended, event.lane: describe(event)})
        return new

    def finding(self, state: State) -> str:
        return _parting(state)

    def because(self, state: State) -> str:
        said = []
        for lane, array in state.arrays.items():
            if own := array.cards[state.shared :]:
                lines = [line for card in own for line in blocks.lines(card.message)]
                names = [one_line(line.name, 30) for line in lines if line.mark is theme.CALL]
                does = f"it calls {listed(names)}" if names else "no further call"
                last = quoted(own[-1].gist)
                said.append(f"{_name(lane)}: {does}, and its last message is {last}.")
        return below(*map(ended, said))

    def told(self, state: State, old: State, event: Event) -> str:
        if event.type == "messages.rewritten" and len(state.arrays) == 2:
            return _parting(state)
        return f"{_name(event.lane)}: {describe(event)}"

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, y = Canvas(width), 22.0
        canvas.text("both", 2, 14, f"In both: {count(state.shared, 'message')}", "b")
        for one in static.cut(state.both, max(rows // 6, 3)):
            if isinstance(one, static.Gap):
                canvas.left_out("gap", 46, y + 16, one, "message")
                y += _ROW
            else:
                y = _draw(canvas, "both", one, 2, y, width - 4, 1)
        top, column = y + 24, (width - 28) / 2
        if state.both and len(state.arrays) == 2:
            fork = f"M0 0v6M0 6H{-column / 2:g}v6M0 6H{column / 2:g}v6"
            canvas.edge("fork", fork, x=width / 2, y=top - 26)
        lows = [top]
        for place, (lane, array) in enumerate(state.arrays.items()):
            x, y = 2 + place * (column + 24), top + 10
            own = array.cards[state.shared :]
            head = f"{_name(lane)}: {len(own)} more"
            canvas.text(f"{lane} title", x, top, head, "b", width=column)
            for card in own[:rows]:
                y = _draw(canvas, lane, card, x, y, column, 1 + min(3, rows // 5))
            hidden = len(own) - rows
            y += _ROW * canvas.left_out(f"{lane} more", x, y + 16, hidden, "more message")
            lows.append(y)
        canvas.height = max(lows) + 6
        return canvas

    def facts(self, state: State, rows: int) -> str:
        longest = max((len(array.cards) for array in state.arrays.values()), default=0)
        body: list[list[object]] = []
        for place in range(longest):
            if rows <= place < longest - rows:
                continue
            pair = [_short(array, place, 20 + rows) for array in state.arrays.values()]
            body.append([place, *(pair if place >= state.shared else [pair[0], "the same"])])
        table = static.table(["#", *map(_name, state.arrays)], body)
        return f"<p>{esc(_parting(state))} {esc(' '.join(state.ended.values()))}</p>{table}"


def merged(was: Iterable[Event], fork: Iterable[Event], lane: str = "lead") -> EventLog:
    """Merge two runs into one log with the events of one agent.

    What both arrays share comes first, once for each run and in one piece; the rest follows in the
    order of time.
    """
    runs = [[event for event in events if event.lane == lane] for events in (was, fork)]
    arrays = [reduce(grow, events, Array(lane)) for events in runs]
    shared = [card.message for card in arrays[0].cards[: _common(*(one.cards for one in arrays))]]
    log = EventLog()
    rest: list[tuple[float, int, Event]] = []
    for side, events in enumerate(runs):
        begin = _after(events, shared)
        if begin:
            time = events[begin - 1].time
            start = MessagesRewritten(messages=tuple(shared), why="both runs share them")
            log.append(start, lane=(WAS, FORK)[side], time=time)
        rest += [(event.time, side, event) for event in events[begin:]]
    for time, side, event in sorted(rest, key=lambda one: one[:2]):
        log.append(event.type, lane=(WAS, FORK)[side], time=time, **event.data)
    return log


def _common(one: Sequence[MessageCard], other: Sequence[MessageCard]) -> int:
    """How many messages two arrays have in common, from the start."""
    pairs = enumerate(zip(one, other, strict=False))
    parts = (place for place, (a, b) in pairs if a.message != b.message)
    return next(parts, min(len(one), len(other)))


def _after(events: Sequence[Event], messages: Sequence[Any]) -> int:
    """The number of events until the array begins with these messages; 0 for no messages."""
    array = Array("")
    for number, event in enumerate(events, start=1):
        array = grow(array, event)
        begins = [card.message for card in array.cards[: len(messages)]]
        if messages and begins == messages:
            return number
    return 0


def _name(lane: str) -> str:
    name = one_line(lane, 40)
    return name[:1].upper() + name[1:]


def _parting(state: State) -> str:
    shared, lengths = state.shared, [len(array.cards) for array in state.arrays.values()]
    if shared == max(lengths, default=0):
        return f"Both hold the same {count(shared, 'message')}."
    said = f"Both runs share {count(shared, 'message')}"
    firsts = [array.cards[shared] for array in state.arrays.values() if shared < len(array.cards)]
    if len(firsts) < 2 or not shared:
        return f"{said}."
    replies = all(card.mark is theme.ASSISTANT for card in firsts)
    return f"{said}; then {'the replies differ' if replies else 'what the model is told differs'}."


def _short(array: Array, place: int, width: int) -> str:
    if place >= len(array.cards):
        return ""
    card = array.cards[place]
    return one_line(f"{card.mark.label}: {card.text}", width)


def _draw(
    canvas: Canvas, lane: str, card: MessageCard, x: float, y: float, width: float, most: int
) -> float:
    """Draw a message on a few lines at most; return where it ends."""
    key, mark = f"{lane} {card.index}", card.mark
    lines = wrapped(card.gist, width - 56, most=most)
    says = f"message {card.index}, {mark.word}: {one_line(card.gist, 400)}"
    index = f"{card.index} {mark.glyph}"
    canvas.bar(f"{key} edge", x, y + 2, 3, 4 + 16 * len(lines), mark.key)
    canvas.text(f"{key} index", x + 10, y + 16, index, "m", mark.key, width=40, says=says)
    for number, line in enumerate(lines):
        canvas.text(f"{key} text {number}", x + 52, y + 16 + 16 * number, line)
    return y + _ROW + 16 * (len(lines) - 1)
