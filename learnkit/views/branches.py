"""Two runs with the same beginning: what they share, where they diverge, and how each ended.

Both message arrays grow together, in the order of time. A message that both runs have in the same
place is one card across the page. After the first difference there are two columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event, EventLog
from learnkit.core.text import clean, count, one_line
from learnkit.views.drawing import static
from learnkit.views.drawing.array import Array, MessageCard, grow
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc
from learnkit.views.messages import Messages
from learnkit.views.words import describe

#: Names of the two lanes: the run as it was, and the one that was forked from it.
WAS, FORK = "as it was", "forked"
#: Pixels of a column in the static picture.
_COLUMN = (static.WIDTH - 48) / 2


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """Both arrays, and how each run ended."""

    arrays: dict[str, Array] = field(default_factory=dict)
    ended: dict[str, str] = field(default_factory=dict)

    @property
    def shared(self) -> int:
        """How many messages are the same in both, counted from the start."""
        if len(self.arrays) < 2:
            return 0
        one, other = (array.cards for array in self.arrays.values())
        pairs = enumerate(zip(one, other, strict=False))
        parts = (place for place, (a, b) in pairs if a.message != b.message)
        return next(parts, min(len(one), len(other)))

    @property
    def both(self) -> tuple[MessageCard, ...]:
        """The messages that are the same in both, from the start."""
        return next(iter(self.arrays.values())).cards[: self.shared] if self.arrays else ()


class Branches(DrawnView[State]):
    """Two message arrays with a common beginning: the first two lanes of a log.

    ``Branches.of(was, fork)`` makes that log from two runs.
    """

    name = "two runs compared"
    css = Messages.css + css_beside(__file__)
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

    def step(self, state: State, event: Event) -> State:
        known = event.lane in state.arrays or len(state.arrays) < 2
        return super().step(state, event) if known else state  # there is no third column

    def fold(self, state: State, event: Event) -> State:
        array = grow(state.arrays.get(event.lane) or Array(event.lane), event)
        new = replace(state, arrays={**state.arrays, event.lane: array})
        if event.type == "run.ended":
            return replace(new, ended={**state.ended, event.lane: describe(event)})
        return new

    def sentence(self, state: State, event: Event) -> str:
        return f"{_name(event.lane)}: {describe(event)}"

    def draw(self, state: State, old: State) -> dict[str, str]:
        shared = state.shared
        shown = {"shared": _title("In both", count(shared, "message"))}
        shown |= {f"both {card.index}": card.html for card in state.both}
        for raw, array in state.arrays.items():
            lane = clean(raw)
            shown[f"{lane}/title"] = _title(_name(raw), _rest(array, shared))
            shown |= {f"{lane}/{card.index}": card.html for card in array.cards[shared:]}
        return shown

    def frame(self, state: State) -> dict[str, str]:
        return state.html or self.draw(state, state)

    def line(self, state: State) -> str:
        return f"{self.name}: {_parting(state)} {state.head}"

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Both stand in the table below, side by side.")
        shared = state.shared
        picture.text(16, 26, f"In both: {count(shared, 'message')}", "b")
        y = 34.0
        for one in static.cut(state.both, max(rows // 3, 2)):
            if isinstance(one, static.Gap):
                picture.text(56, y + 16, f"… {count(one.hidden, 'message')} left out …", "q")
            else:
                _draw(picture, one, 16, y, static.WIDTH - 32)
            y += 22
        top = y + 24
        ends = [top]
        for x, (lane, array) in zip((16, 32 + _COLUMN), state.arrays.items(), strict=False):
            picture.text(x, top, f"{_name(lane)}: {_rest(array, shared)}", "b", _COLUMN)
            y = top + 8
            for card in array.cards[shared : shared + rows]:
                _draw(picture, card, x, y, _COLUMN)
                y += 22
            ends.append(y)
        picture.height = max(ends) + 10
        return picture

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
    """Merge two runs into one log with the events of one agent, ordered by time.

    Args:
        was: the events of the original run.
        fork: the events of the forked run.
        lane: the agent; in the new log its lanes are called ``as it was`` and ``forked``.
    """
    log = EventLog()
    both: list[tuple[float, int, Event]] = []
    for side, events in enumerate((was, fork)):
        both += [(event.time, side, event) for event in events if event.lane == lane]
    for time, side, event in sorted(both, key=lambda one: one[:2]):
        log.append(event.type, lane=(WAS, FORK)[side], time=time, **event.data)
    return log


def _name(lane: str) -> str:
    name = one_line(lane, 40)
    return name[:1].upper() + name[1:]


def _parting(state: State) -> str:
    shared, lengths = state.shared, [len(array.cards) for array in state.arrays.values()]
    if shared == max(lengths, default=0):
        return f"Both hold the same {count(shared, 'message')}."
    return f"They share {count(shared, 'message')} and part at message {shared}."


def _rest(array: Array, shared: int) -> str:
    more = count(len(array.cards) - shared, "message")
    return f"{more} of its own, ≈ {array.tokens:,} tokens in all"


def _title(name: str, what: str) -> str:
    return f'<div class="parts" data-quiet>{esc(name)} <span>{esc(what)}</span></div>'


def _short(array: Array, place: int, width: int) -> str:
    if place >= len(array.cards):
        return ""
    card = array.cards[place]
    return one_line(f"{card.mark.label}: {card.text}", width)


def _draw(picture: Picture, card: MessageCard, x: float, y: float, width: float) -> None:
    picture.bar(x, y + 3, 3, 18, card.mark.key)
    picture.text(x + 10, y + 16, f"{card.index} {card.mark.glyph}", "m", 40, card.mark.key)
    picture.text(x + 52, y + 16, card.text, "", width - 60)
