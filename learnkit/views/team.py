"""The team: when each agent was working, idle or shut down, on which task, and the task board.

Each agent has a lane: amber while it works, grey while it is idle, empty once it has shut down. A
number on a lane is a task that the agent started, with the glyph of its state now. A tick is a
message that arrived. The board below shows each task with its owner.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.text import count, one_line
from learnkit.core.vocabulary import (
    MailSent,
    TaskCompleted,
    TaskEvent,
    TaskFailed,
    TaskReturned,
    TaskStarted,
    read,
)
from learnkit.views import people as folk
from learnkit.views.board import Board, TaskCard, board_after, cards_of
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Drawn, css_beside
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc
from learnkit.views.drawing.time_axis import Axis, TimeRow, duration
from learnkit.views.people import People, Person, drawn

#: The most tasks that are drawn: the newest ones.
TASKS = 48
#: The most marks that one lane keeps: the newest ones.
FLAGS = 24
#: Share of the scale that the number of a task takes.
GAP = 0.085


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """One agent's lifecycle: its spans, the tasks that it started, and the messages that arrived.

    Attributes:
        row: when it was working and when it was idle.
        tasks: for each task that it started: the time in seconds, its number, its mark now.
        mail: times at which messages arrived, in seconds.
    """

    row: TimeRow
    tasks: tuple[tuple[float, int, theme.Mark], ...] = ()
    mail: tuple[float, ...] = ()

    def placed(self, scale: float) -> list[tuple[float, str, theme.Mark]]:
        """The tasks side by side as share of the scale, text and mark, as many as fit.

        Args:
            scale: seconds that the full width represents.
        """
        found: list[tuple[float, str, theme.Mark]] = []
        free = 0.0
        for at, id, mark in self.tasks:
            place = max(at / scale, free)
            if place > 0.93:
                break
            found.append((place, f"{mark.glyph}#{id}", mark))
            free = place + GAP
        return found


@dataclass(frozen=True, slots=True)
class State(Drawn):
    """The agents, their lanes, the board, and the time."""

    people: People = field(default_factory=dict)
    lanes: dict[str, Lifecycle] = field(default_factory=dict)
    tasks: Board = field(default_factory=dict)
    now: float = field(default=0.0, compare=False)

    def lane(self, person: Person) -> Lifecycle:
        """An agent's lane.

        Args:
            person: one of ``people``.
        """
        return self.lanes.get(person.name) or Lifecycle(TimeRow(person.name))

    @property
    def axis(self) -> Axis:
        """The scale of time."""
        return Axis(self.now)

    @property
    def board(self) -> str:
        """The progress of the board."""
        if not self.tasks:
            return "The board is empty."
        done = sum(task.status == "completed" for task in self.tasks.values())
        return f"{done} of {count(len(self.tasks), 'task')} completed."

    @property
    def said(self) -> str:
        """What each agent is doing, and the progress of the board."""
        return f"{folk.summary(self.people)} {self.board}"


class Team(folk.TeamView[State]):
    """Lifecycle lanes, roster and board; with ``on_intent``, buttons.

    Args:
        events: an ``EventLog``, or any sequence of events.
        buttons: label -> the intent that a button sends; shown only with ``on_intent``.
        lane: show only what happened to this agent; None shows everyone.
        on_intent: called with the intent of a button that was pressed.
    """

    name = "team"
    css = css_beside(__file__)
    start = State()

    def __init__(
        self,
        events: Any,
        *,
        buttons: Mapping[str, dict[str, Any]] | None = None,
        lane: str | None = None,
        on_intent: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        super().__init__(events, lane=lane, on_intent=on_intent)
        self.buttons = dict(buttons or {}) if on_intent is not None else {}

    def fold(self, state: State, event: Event) -> State:
        now = max(event.time, state.now)
        people, tasks = folk.grown(state.people, event), board_after(state.tasks, event)
        lanes = _lived(state.lanes, state.people, people, now)
        typed = read(event)
        match typed:
            case MailSent(mail=mail):
                if lane := lanes.get(mail.to):
                    lanes = {**lanes, mail.to: replace(lane, mail=(*lane.mail, now)[-FLAGS:])}
            case TaskStarted(task=task):
                owner = task.owner or event.lane
                if lane := lanes.get(owner):
                    begun = (*lane.tasks, (now, task.id, theme.ACTIVE))[-FLAGS:]
                    lanes = {**lanes, owner: replace(lane, tasks=begun)}
            case TaskEvent(task=task) if mark := _ENDS.get(type(typed)):
                lanes = {name: _ended(lane, task.id, mark) for name, lane in lanes.items()}
        return replace(state, people=people, lanes=lanes, tasks=tasks, now=now)

    def changed(self, state: State, old: State) -> bool:
        moves = any(lane.row.open for lane in state.lanes.values())  # a span grows with time
        return moves or not old.html or state != old

    def picture(self, state: State, rows: int) -> Picture:
        picture = Picture(f"{self.line(state)} Everything stands in the tables below.")
        left, right, y = 176.0, 130.0, 14.0
        width, axis = static.WIDTH - left - right, state.axis
        axis.draw(picture, left, width, y)
        y += 18
        for person in drawn(state.people):
            lane = state.lane(person)
            picture.text(16, y + 14, folk.tag(person), "b", 150, person.mark.key)
            picture.text(16, y + 28, person.role, "q", 150)
            picture.path(f"M{left:g} {y + 31:g}h{width:g}")
            for key, begin, end in lane.row.drawn(state.now):
                x, w = left + width * begin / axis.scale, width * (end - begin) / axis.scale
                tall = 3 if key == "idle" else 9
                picture.bar(round(x, 1), y + 29 - tall, max(w, 1), tall, key)
            for place, text, mark in lane.placed(axis.scale)[: max(3, rows // 3)]:
                picture.text(round(left + width * place, 1), y + 14, text, "", 60, mark.key)
            ticks = (f"M{left + width * at / axis.scale:.0f} {y + 27:g}v7" for at in lane.mail)
            picture.path("".join(ticks), "injected")
            picture.text(static.WIDTH - 16, y + 14, person.mark.word, "q e", right - 20)
            held = person.said.partition(", ")[2]
            picture.text(static.WIDTH - 16, y + 28, held or " ", "q e", right - 20)
            y += 40
        cards = list(cards_of(state.tasks).values())
        shown = cards[-min(TASKS, 2 * rows) :]
        first = y = y + 8
        for number, card in enumerate(shown):
            x, y = 16 + 183 * (number % 4), first + 42 * (number // 4)
            picture.box(x, y, 176, 36, card.mark.key)
            picture.text(x + 6, y + 15, card.top, "b", 166, card.mark.key)
            picture.text(x + 6, y + 30, card.subject, "", 166, card.mark.key)
        y += 44 if shown else 0
        y += picture.left_out(16, y + 10, len(cards) - len(shown), "earlier task", 16)
        picture.text(16, y + 14, f"{state.board} {_LEGEND}", "q")
        picture.height = y + 26
        return picture

    def facts(self, state: State, rows: int) -> str:
        roster: list[list[object]] = []
        for one in drawn(state.people):
            times = {"working": 0.0, "idle": 0.0}
            for key, begin, end in state.lane(one).row.drawn(state.now):
                times[key] += end - begin
            roster.append([one.name, one.role, one.said, *map(duration, times.values())])
        board = []
        for card in list(cards_of(state.tasks).values())[-rows:]:
            subject, now = one_line(card.subject, 50), f"{card.mark.glyph} {card.state}"
            board.append([f"#{card.id}", subject, now, card.tags])
        tables = static.table(["who", "role", "state", "worked", "idle"], roster)
        return tables + (static.table(["task", "subject", "state", "for"], board) if board else "")

    def draw(self, state: State, old: State) -> dict[str, str]:
        axis = state.axis
        html = {"lanes/axis": axis.html}
        for person in drawn(state.people):
            name, lane = person.name, state.lane(person)
            same = (person, lane) == (old.people.get(name), old.lanes.get(name))
            html[f"lanes/{name}"] = _lane(person, lane, state.now, axis, same)
        html["lanes/legend"] = f'<div class="sum" data-quiet>{_LEGEND}</div>'
        cards = list(cards_of(state.tasks).values())[-TASKS:]
        if cards or self.buttons:
            html["board/sum"] = f'<div class="sum" data-quiet>{esc(state.board)}</div>'
        for card in cards:
            html[f"board/{card.id}"] = _chip(card)
        if self.buttons:
            buttons = "".join(
                f'<button type="button" data-intent="{esc(json.dumps(intent))}">'
                f"{esc(label)}</button>"
                for label, intent in self.buttons.items()
            )
            html["buttons/all"] = f'<div class="adds" data-quiet>{buttons}</div>'
        return html


def _lived(
    lanes: dict[str, Lifecycle], old: People, new: People, now: float
) -> dict[str, Lifecycle]:
    """The lanes after agents have changed their status."""
    for name, person in new.items():
        before = old.get(name)
        if before is not None and before.mark is person.mark and name in lanes:
            continue
        lane = lanes.get(name) or Lifecycle(TimeRow(name))
        row = lane.row.over("life", now)
        if person.mark is not theme.SHUTDOWN:
            row = row.begun(person.mark.key, "life", now)
        lanes = {**lanes, name: replace(lane, row=row)}
    return lanes


def _ended(lane: Lifecycle, id: int, mark: theme.Mark) -> Lifecycle:
    """The lane with the new mark of a task that was in progress on it."""
    tasks = tuple(
        (at, one, mark if one == id and was is theme.ACTIVE else was) for at, one, was in lane.tasks
    )
    return replace(lane, tasks=tasks)


_LEGEND = "Amber: works; grey: idle; a tick below: mail."
_ENDS: dict[type, theme.Mark] = {
    TaskCompleted: theme.DONE,
    TaskFailed: theme.FAILED,
    TaskReturned: theme.PENDING,
}


def _lane(person: Person, lane: Lifecycle, now: float, axis: Axis, same: bool) -> str:
    """A lane; if only time has passed, it isn't marked as changed."""
    bars = "".join(
        f'<i class="{key}" style="left:{begin / axis.scale:.2%};'
        f'width:{(end - begin) / axis.scale:.2%};background:var(--lk-{key}-edge)"></i>'
        for key, begin, end in lane.row.drawn(now)
    )
    flags = "".join(
        f'<b class="t-{mark.key}" style="left:{place:.1%}">{esc(text)}</b>'
        for place, text, mark in lane.placed(axis.scale)
    )
    flags += "".join(f'<u style="left:{at / axis.scale:.1%}"></u>' for at in lane.mail)
    title = f"{person.name}, {person.role}: {person.said}"
    return (
        f'<div class="life"{" data-quiet" if same else ""} '
        f'title="{esc(one_line(title, 200))}" data-pair="{esc(person.name)}" '
        f'tabindex="0" role="group"><span class="name"><span class="t-{person.mark.key}">'
        f"{person.mark.glyph}</span> <strong>{esc(person.name)}</strong> "
        f'{esc(one_line(person.role, 20))}</span><div class="bar">{bars}{flags}</div>'
        f'<span class="n">{esc(one_line(person.said, 24))}</span></div>'
    )


def _chip(card: TaskCard) -> str:
    return (
        f'<div class="chip m-{card.mark.key}" data-pair="{esc(card.owner)}" '
        f'title="{esc(one_line(card.title, 200))}" tabindex="0" role="group"><b>{esc(card.top)}</b>'
        f"<span>{esc(one_line(card.subject, 40))}</span></div>"
    )
