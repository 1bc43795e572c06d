"""A schedule: the steps of writers and a reader, and what was in the file after each step.

Time runs downwards. The writers' lifelines come first, then the file, then the reader. A message is
an arrow into the file, reading an arrow out of it. A bar on the reader's lifeline marks the time
between the two steps of reading, such as reading the file and emptying it: a message that arrives
then can be lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from learnkit.events.log import Event
from learnkit.events.races import RaceEnded, RaceLost, RaceStarted, RaceStep
from learnkit.events.text import count, listed, one_line
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.views.drawing.plot import legend

#: The most columns that are drawn.
COLUMNS = 12

#: Event type -> mark, and what is done.
_KINDS = {
    "race.wrote": (theme.INJECTED, "writes"),
    "race.read": (theme.ACTIVE, "reads"),
    "race.emptied": (theme.DONE, "empties"),
    "race.finished": (theme.DONE, "finishes"),
    "race.drained": (theme.DONE, "drains"),
    "race.paused": (theme.PENDING, "pauses"),
    "race.ended": (theme.SYSTEM, "still to read:"),
}
#: The steps of which the messages are not said.
_BARE = ("race.emptied", "race.finished", "race.paused")
#: Height of a step, and of the heads, in pixels.
_ROW, _HEAD, _MID = 34, 26, 23
_MIDDLE = ("race.read", "race.paused")  # after these the reader is not done yet


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a participant.

    Attributes:
        number: counted from 1, as text; ``end`` for the last one.
        who: the participant.
        type: the type of the event.
        messages: the messages that were written or read.
        content: the messages in the file after the step.
        open: whether the reader was between reading and emptying, before or after the step.
        lost: the messages that this step lost.
    """

    number: str
    who: str
    type: str
    messages: tuple[str, ...]
    content: tuple[str, ...]
    open: bool
    lost: tuple[str, ...] = ()

    def fault(self, named: Callable[[tuple[str, ...]], str]) -> str:
        """The messages that it lost, named in some way; empty if it lost none."""
        return f"{theme.ERROR.glyph} lost: {named(self.lost)}" if self.lost else ""

    def mark(self, lost: tuple[str, ...]) -> theme.Mark:
        """Its mark: an error if it loses a message, or writes one that gets lost."""
        mine = self.messages if self.type == "race.wrote" else ()
        bad = self.lost or set(mine) & set(lost)
        return theme.ERROR if bad else _KINDS[self.type][0]

    @property
    def words(self) -> str:
        """What it does, in words."""
        many = _named(self.messages) if len(self.messages) < 4 else f"{len(self.messages)} messages"
        what = "" if self.type in _BARE else many
        return f"{_KINDS[self.type][1]} {what}".rstrip()


@dataclass(frozen=True, slots=True)
class State:
    """The participants, the steps so far, and the messages that are lost."""

    reader: str = ""
    people: tuple[str, ...] = ()
    rows: tuple[Step, ...] = ()
    open: bool = False
    lost: tuple[str, ...] = ()


class Schedule(Diagram[State]):
    """The steps of several writers and one reader, in their order."""

    name = "schedule"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        who = event.lane
        match read(event):
            case RaceStarted(reader=reader, writers=writers):
                return State(reader, tuple(dict.fromkeys((reader, *writers)))[:COLUMNS])
            case RaceLost(text=message):
                last = [replace(row, lost=(*row.lost, message)) for row in state.rows[-1:]]
                rows = (*state.rows[:-1], *last)
                return replace(state, rows=rows, lost=(*state.lost, message))
            case RaceEnded(texts=left) if not left:
                return replace(state, open=False)
            case RaceStep() | RaceEnded() as step:
                ends = event.type == "race.ended"
                middle = event.type in _MIDDLE if who == state.reader else state.open
                number = "end" if ends else str(len(state.rows) + 1)
                open = not ends and (middle or state.open)
                row = Step(number, who, event.type, step.texts, step.content, open)
                people = tuple(dict.fromkeys((*state.people, who)))[:COLUMNS]
                return replace(state, people=people, rows=(*state.rows, row), open=middle)
        return state

    def says(self, state: State) -> list[str]:
        if not state.rows:
            return ["No step has been taken yet."]
        sent = count(sum(row.type == "race.wrote" for row in state.rows), "message")
        if state.lost:
            many = len(state.lost)
            which = one_line(state.lost[0], 24) if many == 1 else f"{many} of {sent}"
            first = f"{which} {'is' if many == 1 else 'are'} lost: {_why(state, state.lost)}."
            return [first, f"Lost of {sent}: {_named(state.lost)}." if many > 1 else ""]
        whole = f"{sent} sent, none lost."
        own = {row.type for row in state.rows if row.who == state.reader}
        between = any(row.open and row.type == "race.wrote" for row in state.rows)
        if "race.read" in own and not between:
            return [whole, f"No message arrives between the two steps of {state.reader}."]
        return [whole]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas = Canvas(width)
        if state.people:
            _Sheet(canvas, state).draw(rows)
        return canvas


def _named(messages: tuple[str, ...], nothing: str = "nothing") -> str:
    """At most eight messages by name."""
    few = [one_line(one, 24) for one in messages[: 8 if len(messages) < 9 else 7]]
    more = len(messages) - len(few)
    return listed([*few, f"{more} more"] if more else few) or nothing


def _why(state: State, lost: tuple[str, ...]) -> str:
    """Why messages are lost."""
    it, them, be = ("it", "it", "is") if len(lost) == 1 else ("they", "them", "are")
    late = {
        one for row in state.rows if row.type == "race.wrote" and row.open for one in row.messages
    }
    emptied = {one for row in state.rows if row.type == "race.emptied" for one in row.lost}
    if set(lost) <= late & emptied:
        return f"{it} arrived between reading and emptying the file"
    return f"nobody read {them}, and {it} {be} no longer in the inbox"


class _Sheet:
    """Where things stand on a canvas, and what is drawn there."""

    def __init__(self, canvas: Canvas, state: State) -> None:
        self.canvas, self.state = canvas, state
        self.narrow = canvas.width < 560
        read = [one for one in state.people if one == state.reader]
        order = [*(one for one in state.people if one != state.reader), "", *read]
        left = 14.0 if self.narrow else 32.0
        share = canvas.width * (0.61 if self.narrow else 0.6)
        # What the reader does must have room between the file and the reader's thick line.
        more = 0.9 if self.narrow and read else 0.0
        self.each = (share - left) / (len(order) + 0.3 + more)
        #: The middle of each lifeline; the file's has no name.
        self.x = {name: left + self.each * (place + 0.5) for place, name in enumerate(order)}
        if read:
            self.x[state.reader] += more * self.each
        self.right = share + 8
        # By its initial, a name has the same colour in a schedule of fewer people.
        self.marks = {
            name: theme.agent(1 + (ord(name[0]) - ord("a")) % 7).key for name in order if name
        }
        longest = max((one.content for one in state.rows), key=len, default=())
        room = sum(text_width(one_line(one, 20)) + 6 for one in longest)
        self.brief = self.narrow or room > canvas.width - self.right

    def draw(self, rows: int) -> None:
        canvas, state = self.canvas, self.state
        first = max(0, len(state.rows) - rows)
        y = 8.0 + _HEAD
        y += 20 * canvas.left_out("gone", 2, y + 14, first, "earlier step")
        low = y + _ROW * (len(state.rows) - first)
        for name, x in self.x.items():
            key = f"of {name}" if name else "file"
            path = f"M0 0V{low - 4 - _HEAD:g}"
            canvas.edge(f"life {key}", path, style="" if name else "w", x=x, y=4 + _HEAD)
            mark, label = self.marks.get(name, ""), name or "file"
            canvas.text(f"head {key}", x, 21, label, "c", mark, width=self.each + 4)
        canvas.text("content", self.right, 21, "in the file", "b")
        since = None
        for place, row in enumerate(state.rows[first:], first):
            ends = row.who == state.reader and row.type not in _MIDDLE
            if row.open and since is None:
                since = y + (_MID if row.type in _MIDDLE else 0)
            if since is not None and (ends or not row.open):
                self.open(since, y + (_MID if row.open else 0))
                since = None
            self.step(row, place, y)
            y += _ROW
        if since is not None:
            self.open(since, y)
        canvas.height = y + 4
        if state.reader:
            y += 6
            says = f"{state.reader} has read the file and isn't done yet"
            canvas.height = legend(canvas, 2, y, [(self.marks.get(state.reader, ""), says)])

    def open(self, top: float, low: float) -> None:
        """The time between the reader's two steps, on its lifeline."""
        reader = self.state.reader
        if reader in self.marks:
            says = f"{reader} has read the file and isn't done yet"
            spot = (self.x[reader] - 3, top, 6, low - top)
            self.canvas.bar(f"open {top:g}", *spot, self.marks[reader], says=says)

    def step(self, row: Step, place: int, y: float) -> None:
        """One step: an arrow, and what it carries."""
        canvas, lost, file = self.canvas, self.state.lost, self.x[""]
        mid, x = y + _MID, self.x[row.who if row.who in self.marks else list(self.x)[-1]]
        bad = row.mark(lost) is theme.ERROR
        mark = theme.ERROR.key if bad else self.marks.get(row.who, theme.SYSTEM.key)
        canvas.text(f"number {place}", 24 if self.narrow else 26, mid + 4, row.number, "q e")
        side = 2 if file > x else -2
        begin, end, label = x, file - side, _KINDS[row.type][1]
        if row.type == "race.wrote":
            label = _fitting(row.messages, abs(end - begin) - 24)
            label = f"{theme.ERROR.glyph} {label}" if bad else label
        elif row.type in ("race.read", "race.drained"):
            begin, end, many = end, begin, len(row.messages)
            which = _fitting(row.messages, abs(end - begin) - 50) if many == 1 else many
            label = f"{label} {which or 'nothing'}"
        if row.type not in ("race.paused", "race.finished", "race.ended"):
            does = f"Step {row.number}: {row.who} {row.mark(lost).glyph} {row.words}."
            says = f"{does} In the file: {_named(row.content, 'empty')}. {row.fault(_named)}"
            pair = " ".join(one.replace(" ", "-") for one in (*row.messages, *row.lost))
            head = 8 if end > begin else -8
            path = f"M0 0H{end - begin:.1f}m{-head} -4l{head} 4l{-head} 4"
            style = "d" if row.type == "race.emptied" else ""
            canvas.edge(
                f"arrow {place}", path, mark, style, x=begin, y=mid, says=says.rstrip(), pair=pair
            )
        if row.type != "race.ended" and label:
            left = min(begin, end) + (2 if self.narrow else 6)
            room = self.right - left - 2
            canvas.text(f"label {place}", left, y + 17, label, "", mark, width=room)
        self.content(row, place, y + 8)

    def content(self, row: Step, place: int, y: float) -> None:
        """The messages in the file after a step, in their writers' colours; and what is lost."""
        canvas, left, wide = self.canvas, self.right, self.canvas.width - self.right - 2
        if row.lost:
            text = row.fault(_short if self.narrow else _named)
            wide = min(wide, text_width(text, "b") + 20)
            canvas.box(f"lost {place}", left, y, wide, _HEAD, "error", [text])
        elif row.type == "race.ended" or not row.content:
            unread = f"still to read: {_named(row.messages)}"
            text = unread if row.type == "race.ended" else "empty"
            canvas.text(f"empty {place}", left, y + 17, text, "q")
        else:
            for number, one in enumerate(row.content):
                text = _short((one,)) if self.brief else one_line(one, 20)
                wide = text_width(text) + 6
                rest = len(row.content) - number
                if left + wide > canvas.width - (20 if rest > 1 else 0):
                    canvas.text(f"more {place}", left + 2, y + 17, f"+{rest}", "q")
                    break
                lost, writer = one in self.state.lost, _writer(one, self.state)
                mark = theme.ERROR.key if lost else self.marks.get(writer, "")
                key = f"in {place} {number}"
                canvas.text(key, left, y + 17, text, "", mark, width=wide + 2, says=one)
                left += wide


def _writer(message: str, state: State) -> str:
    """Who wrote a message."""
    wrote = (one for one in state.rows if one.type == "race.wrote" and message in one.messages)
    return next((one.who for one in wrote), "")


def _short(messages: tuple[str, ...]) -> str:
    """Messages as their writers' initials and numbers: ``b1 c2``."""
    return " ".join(re.sub(r"(\w)\w* (\d+)", r"\1\2", one_line(one, 12)) for one in messages)


def _fitting(messages: tuple[str, ...], room: float) -> str:
    """Messages by name where there is room for the names, or in short."""
    whole = ", ".join(one_line(one, 24) for one in messages)
    return whole if text_width(whole) <= room else _short(messages)
