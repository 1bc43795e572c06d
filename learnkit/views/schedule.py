"""A schedule: the steps of writers and a reader in order, and what was in the file after each step.

Each participant has a column, and time runs downwards. A bar in the reader's column marks the time
between reading the file and emptying it: a message that arrives then can be lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import columns, count, listed, one_line
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, DrawnView, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import as_list, esc
from learnkit.views.words import describe

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
class State(Drawn):
    """The participants, the steps so far, and the lost messages."""

    reader: str = ""
    people: tuple[str, ...] = ()
    rows: tuple[Step, ...] = ()
    open: bool = False
    lost: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """How many messages there were, and how many are lost."""
        sent = sum(row.type == "race.wrote" for row in self.rows)
        return f"{count(sent, 'letter')} sent, {len(self.lost)} lost."

    @property
    def legend(self) -> str:
        """The text below the steps."""
        bar = f"Bar: {self.reader} is between reading and emptying. " if self.reader else ""
        return f"{self.said} {bar}{theme.ERROR.glyph} lost: nobody will read it."


class Schedule(DrawnView[State]):
    """The steps of several writers and one reader, in their order."""

    name = "schedule"
    css = css_beside(__file__)
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

    def sentence(self, state: State, event: Event) -> str:
        data = event.data
        if event.type == "race.started":
            begins = "A list" if data.get("seed") is None else f"Seed {data['seed']}"
            who = (str(data.get("reader", "")), *_texts(data.get("writers")))
            said = f"{begins} says who goes first: {_named(who)}."
        elif event.type == "race.lost":
            said = _loss(state, str(data.get("letter", "")))
        elif event.type in _KINDS:
            row = state.rows[-1]
            said = _KINDS[event.type][2].format(
                who=event.lane,
                mail=_named(row.messages),
                said=state.said,
                file=f"In the file: {_named(row.content)}",
                middle=f", while {state.reader} is in the middle" if state.open else "",
            )
        else:
            return describe(event)
        return one_line(said, 240)

    def draw(self, state: State, old: State) -> dict[str, str]:
        names = "".join(f"<b>{esc(one_line(name, 24))}</b>" for name in state.people)
        style = f'style="--n:{max(1, len(state.people))}"'
        lanes = f'<i></i><div class="lanes">{names}</div><b>in the file then</b>'
        html = {"steps/heads": f'<div class="st" {style} data-quiet>{lanes}</div>'}
        for place, row in enumerate(state.rows):
            html[f"steps/{place}"] = _line(row, state, style)
        html["steps/sum"] = f'<div class="sum" data-quiet>{esc(state.legend)}</div>'
        return html

    def line(self, state: State) -> str:
        return f"{self.name}: {state.head}"  # the last one says what was said

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Every step stands in the table below.")
        each, right = 460 / max(1, len(state.people)), 520.0
        lanes = {name: 48 + each * place for place, name in enumerate(state.people)}
        for name, x in lanes.items():
            picture.text(round(x), 26, name, "b", each - 4)
        picture.text(right, 26, "in the file then", "b", 200)
        y, shown = 36.0, state.rows[-rows:]
        y += picture.left_out(16, y + 12, len(state.rows) - len(shown), "earlier step", 20)
        picture.path("".join(f"M{x + 7:.0f} {y:g}v{26 * len(shown)}" for x in lanes.values()))
        for row in shown:
            if row.open and state.reader in lanes:
                picture.box(round(lanes[state.reader]), y, 14, 26, "active")
            mark, does = row.mark(state.lost), one_line(row.does(state.lost), 24)
            x, width = lanes.get(row.who, lanes[state.people[-1]]), 12 + 6.7 * columns(does)
            x = round(min(x + 4, right - 8 - width))
            picture.text(40, y + 17, row.number, "q e", 36)
            picture.box(x, y + 3, width, 20, mark.key)
            picture.text(x + 6, y + 17, does, "", width, mark.key)
            if row.lost:
                picture.box(right, y + 3, static.WIDTH - right - 12, 20, "error")
            text = " · ".join(filter(None, [row.loss, row.file]))
            picture.text(right + 5, y + 17, text or " ", "", 218, "error" if row.lost else "")
            y += 26
        picture.text(16, y + 18, state.legend, "q")
        picture.height = y + 30
        return picture

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
    why = "nobody has read it, and it is not in the inbox any more"
    written = [one for one in state.rows if one.who != state.reader]
    late = any(one.open and one.messages == (message,) for one in written)
    if late and state.rows[-1].type == "race.emptied":
        why = f"it came after {state.reader} had read, and before the file was emptied"
    return f"{theme.ERROR.glyph} {one_line(message, 24)} is lost: {why}."


def _line(row: Step, state: State, style: str) -> str:
    mark, does = row.mark(state.lost), row.does(state.lost)
    column = {name: place for place, name in enumerate(state.people, 1)}
    at, bar = column.get(row.who, len(column)), ""
    if row.open and state.reader in column:
        bar = f'<i class="bar" style="grid-column:{column[state.reader]}"></i>'
    loss = f'<span class="bad m-error">{esc(row.loss)}</span>' if row.lost else ""
    pairs = " ".join(one.replace(" ", "-") for one in (*row.messages, *row.lost))
    title = f"{row.who} {does}. {row.loss}"
    return (
        f'<div class="st" {style} data-pair="{esc(pairs)}" title="{esc(one_line(title, 200))}" '
        f'tabindex="0" role="group"><span class="no">{row.number}</span>'
        f'<div class="lanes">{bar}<span class="step m-{mark.key}" style="grid-column:{at}">'
        f'{esc(does)}</span></div><div class="file">{loss}<span>{esc(row.file)}</span></div></div>'
    )
