"""A schedule: the steps of writers and a reader, and what was in the file after each step.

Time runs downwards. Each writer has a lifeline, then comes the file, then the reader. A letter is
an arrow into the file, reading an arrow out of it. A bar on the reader's lifeline marks the time
between reading the file and emptying it: a letter that arrives then can be lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.text import as_list, count, listed, one_line

#: The most columns that are drawn.
COLUMNS = 12

#: Event type -> mark, the step in short, and the header sentence.
_KINDS = {
    "race.wrote": (theme.INJECTED, "writes {mail}", "{who} writes {mail}{middle}. {file}."),
    "race.read": (theme.ACTIVE, "reads {mail}", "{who} reads {mail}, and is not done yet."),
    "race.emptied": (theme.DONE, "empties", "{who} empties the file. Read before: {mail}."),
    "race.finished": (theme.DONE, "finishes", "{who} is done with {mail}. {file}."),
    "race.drained": (theme.DONE, "drains {mail}", "{who} reads and empties at once: {mail}."),
    "race.paused": (theme.PENDING, "pauses", "{who} pauses in the middle."),
    "race.ended": (theme.SYSTEM, "left: {mail}", "The end. Still there: {mail}. {said}"),
}
#: Steps of the reader that take letters out of the file, and what stands on its arrow.
_TAKES = {"race.read": "reads", "race.drained": "drains"}
_EMPTIES = {"race.emptied": "empties", "race.finished": "finishes", "race.paused": "pauses"}
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

    @property
    def loss(self) -> str:
        """The messages it lost, in words."""
        return f"{theme.ERROR.glyph} lost: {_named(self.lost)}" if self.lost else ""

    @property
    def file(self) -> str:
        """The content of the file, in words."""
        return "" if self.number == "end" else _named(self.content, "empty")

    def mark(self, lost: tuple[str, ...]) -> theme.Mark:
        """Its mark: an error if it loses a message, or writes one that gets lost.

        Args:
            lost: every message that is lost by now.
        """
        mine = self.messages if self.type == "race.wrote" else ()
        return theme.ERROR if self.lost or set(mine) & set(lost) else _KINDS[self.type][0]

    def does(self, lost: tuple[str, ...]) -> str:
        """Its glyph, and what it does in words.

        Args:
            lost: every message that is lost by now.
        """
        many = _named(self.messages) if len(self.messages) < 4 else f"{len(self.messages)} letters"
        words = _KINDS[self.type][1].format(mail=many)
        return f"{self.mark(lost).glyph} {words}"


@dataclass(frozen=True, slots=True)
class State:
    """The participants, the steps so far, and the lost messages with why."""

    reader: str = ""
    people: tuple[str, ...] = ()
    rows: tuple[Step, ...] = ()
    open: bool = False
    lost: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The writers, and then the reader."""
        return (*(one for one in self.people if one != self.reader), self.reader)


class Schedule(Diagram[State]):
    """The steps of several writers and one reader, in their order."""

    name = "schedule"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        data, who = event.data, event.lane
        if event.type == "race.started":
            reader, writers = str(data.get("reader", "")), _texts(data.get("writers"))
            return State(reader, tuple(dict.fromkeys((reader, *writers)))[:COLUMNS])
        if event.type == "race.lost":
            message, rows = str(data.get("letter", "")), state.rows
            if rows:
                rows = (*rows[:-1], replace(rows[-1], lost=(*rows[-1].lost, message)))
            return replace(state, rows=rows, lost=(*state.lost, message))
        if event.type not in _KINDS:
            return state
        messages, ends = _texts(data.get("letters")), event.type == "race.ended"
        middle = event.type in _MIDDLE if who == state.reader else state.open
        number = "end" if ends else str(len(state.rows) + 1)
        about = (messages, _texts(data.get("content")), not ends and (middle or state.open))
        row = Step(number, who, event.type, *about)
        people = tuple(dict.fromkeys((*state.people, who)))[:COLUMNS]
        return replace(state, people=people, rows=(*state.rows, row), open=middle)

    def told(self, state: State, old: State, event: Event) -> str:
        data = event.data
        if event.type == "race.started":
            begins = "A list" if data.get("seed") is None else f"Seed {data['seed']}"
            who = (str(data.get("reader", "")), *_texts(data.get("writers")))
            said = f"{begins} says who goes first: {_named(who)}."
        elif event.type == "race.lost":
            said = _loss(state, str(data.get("letter", "")))
        else:
            row = state.rows[-1]
            said = _KINDS[event.type][2].format(
                who=event.lane,
                mail=_named(row.messages),
                said=_sent(state),
                file=f"In the file: {_named(row.content)}",
                middle=f", while {state.reader} is in the middle" if state.open else "",
            )
        return one_line(said, 240)

    def finding(self, state: State) -> str:
        if not state.rows:
            return "Nobody has moved yet."
        sent = count(sum(row.type == "race.wrote" for row in state.rows), "letter")
        if state.lost:
            verb = "is" if len(state.lost) == 1 else "are"
            why = _why(state, state.lost)
            return one_line(f"Of {sent}, {_named(state.lost)} {verb} lost: {why}.", 240)
        own = {row.type for row in state.rows if row.who == state.reader}
        why = ""
        if "race.read" in own and not any(
            row.open and row.type == "race.wrote" for row in state.rows
        ):
            why = f": nobody writes between {state.reader}'s reading and emptying"
        elif "race.drained" in own and not own & {"race.read", "race.emptied"}:
            why = f": {state.reader} reads and empties in one step"
        return one_line(f"{sent} sent, none lost{why}.", 240)

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, marks = Canvas(width), _marks(state)
        if not state.people:
            return canvas
        number, order = 32.0 if width >= 560 else 22.0, state.order
        each = (width * 0.6 - number) / (len(order) + 1.3)
        middle = {name: number + each * (place + 0.5) for place, name in enumerate(order[:-1])}
        file = number + each * (len(order) - 0.5)
        middle[state.reader], right = file + each, file + 1.8 * each + 8
        shown, y = state.rows[-rows:], 4.0 + _HEAD + 4
        y += 20 * canvas.left_out("gone", 2, y + 14, len(state.rows) - len(shown), "earlier step")
        low = y + _ROW * len(shown)
        for name, x in [*middle.items(), ("", file)]:
            key, label = f"head {name}", name or "file"
            canvas.edge(
                f"life {name}", f"M0 0V{low - 4 - _HEAD:g}", "", "" if name else "w", x=x, y=30
            )
            if each < 60:  # too narrow for a box
                canvas.text(key, x, 21, label, "c", marks.get(name, ""), width=each + 3, says=label)
            else:
                box = (x - each / 2 + 2, 4, each - 4, _HEAD)
                canvas.box(key, *box, marks.get(name, ""), [label], says=label)
        canvas.text("content", right, 21, "then in the file", "b")
        since = 0.0
        for row in shown:
            if row.open and not since:
                since = y + (_MID if row.type in _MIDDLE else 0)
            if since and (not row.open or (row.who == state.reader and row.type not in _MIDDLE)):
                _open(canvas, state, middle, since, y + (_MID if row.open else 0))
                since = 0.0
            _step(canvas, state, row, y, middle, file, right, marks)
            y += _ROW
        if since:
            _open(canvas, state, middle, since, y)
        canvas.height = y + 4
        if state.reader:
            bar = f"thick: {state.reader} is between reading and emptying"
            canvas.text("legend", 2, y + 16, bar, "q")
            canvas.height = y + 24
        return canvas

    def facts(self, state: State, rows: int) -> str:
        body: list[list[object]] = [
            [row.number, one_line(row.who, 30), row.does(state.lost), row.file, row.loss]
            for row in state.rows[-rows:]
        ]
        head = ["step", "who", "does", "in the file then", "lost"]
        return static.table(head, body, before=static.more(len(state.rows) - rows, "earlier"))


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, as_list(value)))


def _named(messages: tuple[str, ...], nothing: str = "nothing") -> str:
    """At most eight messages by name."""
    few = [one_line(one, 24) for one in messages[: 8 if len(messages) < 9 else 7]]
    more = len(messages) - len(few)
    return listed([*few, f"{more} more"] if more else few) or nothing


def _loss(state: State, message: str) -> str:
    """Which message the last step lost, and why."""
    name = one_line(message, 24)
    return f"{theme.ERROR.glyph} {name} is lost: {_why(state, (message,))}."


def _why(state: State, lost: tuple[str, ...]) -> str:
    """Why messages are lost."""
    it, them, be = ("it", "it", "is") if len(lost) == 1 else ("they", "them", "are")
    late = {
        one for row in state.rows if row.type == "race.wrote" and row.open for one in row.messages
    }
    emptied = {one for row in state.rows if row.type == "race.emptied" for one in row.lost}
    if set(lost) <= late & emptied:
        return f"{it} came after {state.reader} had read, and before the file was emptied"
    return f"nobody has read {them}, and {it} {be} not in the inbox any more"


def _sent(state: State) -> str:
    """How many messages there were, and how many are lost."""
    sent = sum(row.type == "race.wrote" for row in state.rows)
    return f"{count(sent, 'letter')} sent, {len(state.lost) or 'none'} lost."


def _marks(state: State) -> dict[str, str]:
    """The agents' colours: the reader is the first of them."""
    names = (state.reader, *(one for one in state.people if one != state.reader))
    return {name: theme.agent(place + 1).key for place, name in enumerate(names)}


def _step(
    canvas: Canvas,
    state: State,
    row: Step,
    y: float,
    middle: dict[str, float],
    file: float,
    right: float,
    marks: dict[str, str],
) -> None:
    """One step: an arrow, what it carries, and the letters in the file after it."""
    key, mid = row.number, y + _MID
    x = middle.get(row.who, middle[state.reader])
    mark = "error" if row.mark(state.lost) is theme.ERROR else marks.get(row.who, "system")
    says = f"Step {row.number}: {row.who} {row.does(state.lost)}. {row.loss}".strip()
    pair = " ".join(one.replace(" ", "-") for one in (*row.messages, *row.lost))
    canvas.text(f"number {key}", 26 if canvas.width >= 560 else 18, mid + 4, row.number, "q e")
    reach = file - x
    side = 1 if reach > 0 else -1
    label, style = _short(row.messages), ""
    if row.type == "race.wrote":
        begin, length = x, reach - 5 * side
        label = f"{theme.ERROR.glyph} {label}" if mark == "error" else label
    elif row.type in _TAKES:
        begin, length = file - 5 * side, -reach + 5 * side
        many = len(row.messages)
        side, label = -side, f"{_TAKES[row.type]} {many if many != 1 else label}"
    else:
        begin, length, label = x, reach - 5 * side, _EMPTIES.get(row.type, "")
        style = "d"
    if row.type not in ("race.paused", "race.finished", "race.ended"):
        path = f"M0 0H{length:.1f}m{-8 * side} -4l{8 * side} 4l{-8 * side} 4"
        canvas.edge(f"arrow {key}", path, mark, style, x=begin, y=mid, says=says, pair=pair)
    if label:
        left = min(begin, begin + length) + 6
        canvas.text(f"label {key}", left, y + 17, label, "", mark, width=right - left - 8)
    _content(canvas, row, right, y + 8, marks, state)


def _content(
    canvas: Canvas, row: Step, x: float, y: float, marks: dict[str, str], state: State
) -> None:
    """The letters in the file after a step, each in the colours of its writer; and what is lost."""
    if row.lost:
        brief = canvas.width < 560
        text = f"{theme.ERROR.glyph} lost: {_short(row.lost)}" if brief else row.loss
        canvas.box(
            f"lost {row.number}", x, y, canvas.width - x - 2, 26, "error", [text], says=row.loss
        )
        return None
    if row.number == "end":
        return canvas.text("left", x, y + 17, f"left: {_named(row.messages)}", "q")
    if not row.content:
        canvas.text(f"empty {row.number}", x, y + 17, "empty", "q")
    longest = max((one.content for one in state.rows), key=len, default=())
    names = [one_line(one, 20) for one in longest]
    brief = sum(6.8 * len(one) + 22 for one in names) > canvas.width - x
    narrow, left = canvas.width < 560, x
    for place, one in enumerate(row.content):
        mark = "error" if one in state.lost else marks.get(_writer(one, state), "")
        key, text = f"in {row.number} {place}", _short((one,)) if brief else one_line(one, 20)
        wide, rest = 6.8 * len(text) + (4 if narrow else 18), len(row.content) - place
        if left + wide > canvas.width - (24 if rest > 1 else 0):
            return canvas.text(f"more {row.number}", left + 2, y + 17, f"+{rest}", "q")
        if narrow:
            canvas.text(key, left, y + 17, text, "", mark, width=wide + 4, says=one)
        else:
            canvas.box(key, left, y, wide, 26, mark, [text], "l", says=one)
        left += wide + 4
    return None


def _open(canvas: Canvas, state: State, middle: dict[str, float], top: float, low: float) -> None:
    """The time between reading the file and emptying it, on the reader's lifeline."""
    x, says = middle[state.reader] - 3, f"{state.reader} is between reading and emptying"
    mark = _marks(state)[state.reader]
    canvas.bar(f"open {top:g}", x, top, 6, low - top, mark, says=says)


def _writer(letter: str, state: State) -> str:
    """Who wrote a letter."""
    wrote = (one for one in state.rows if one.type == "race.wrote" and letter in one.messages)
    return next((one.who for one in wrote), "")


def _short(letters: tuple[str, ...]) -> str:
    """Letters as their writers' initials and numbers: ``b1 c2``."""
    return " ".join(re.sub(r"(\w)\w* (\d+)", r"\1\2", one_line(one, 12)) for one in letters)
