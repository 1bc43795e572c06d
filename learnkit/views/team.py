"""The team: which task each agent had, and when; when it worked, was idle, and was shut down.

Each agent has a lane on one scale of time. A box is a task, from its start to its end; a thick line
is work, and a thin one idleness. Tasks that nobody has stand below, and move to the lane of the
agent that takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from learnkit.core.events import Event
from learnkit.core.sentences import ended
from learnkit.core.text import listed, one_line
from learnkit.core.vocabulary import MailRead, MailSent, TaskStarted, read
from learnkit.views import people as folk
from learnkit.views.board import (
    TASK,
    Board,
    Spell,
    TaskCard,
    board_after,
    draw_spell,
    progress,
    spells_after,
)
from learnkit.views.drawing import static, theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.time_axis import Axis, duration
from learnkit.views.people import People, Person, drawn

#: The height of a lane with the names beside it, and with the names above it, in pixels.
_LANE, _NAMED = 42, 60


#: Agent -> the keys of the marks of its statuses, each with when it began, in seconds.
Lives = dict[str, tuple[tuple[str, float], ...]]
#: The most changes of an agent's status that are drawn: the first, and the newest.
CHANGES = 80


@dataclass(frozen=True, slots=True)
class State:
    """The agents, when each worked and was idle, the board, and when its tasks were in progress."""

    people: People = field(default_factory=dict)
    lives: Lives = field(default_factory=dict)
    tasks: Board = field(default_factory=dict)
    spells: tuple[Spell, ...] = ()
    now: float = field(default=0.0, compare=False)

    def spans(self, name: str) -> list[tuple[str, float, float]]:
        """The key of the mark, begin and end in seconds of each status that an agent had.

        Args:
            name: the agent's.
        """
        lived = self.lives.get(name, ())
        return [(*one, end) for one, (_, end) in pairwise([*lived, ("", self.now)])]


class Team(Diagram[State]):
    """Lifecycle lanes, roster and board; with ``on_intent``, buttons.

    Args:
        events: an ``EventLog``, or any sequence of events.
        buttons: label -> the intent that a button sends; shown only with ``on_intent``.
        lane: show only what happened to this agent; None shows everyone.
        on_intent: called with the intent of a button that was pressed.
    """

    name = "team"
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
        typed = read(event)
        if isinstance(typed, (MailSent, MailRead)):
            return state  # that is what Traffic shows
        people, tasks = folk.grown(state.people, event), board_after(state.tasks, event)
        mate = people.get(event.lane)
        if isinstance(typed, TaskStarted) and mate and mate.holds and mate.mark is theme.IDLE:
            # Its own status follows; the picture changes once for both.
            people = {**people, mate.name: replace(mate, mark=theme.WORKING)}
        lives = state.lives
        for one in people.values():
            lived = lives.get(one.name, ())
            if not lived or lived[-1][0] != one.mark.key:
                lived = (*lived[:1], *lived[1:][-CHANGES:], (one.mark.key, event.time))
                lives = {**lives, one.name: lived}
        spells = spells_after(state.spells, state.tasks, tasks, event.time)
        return State(people, lives, tasks, spells, max(event.time, state.now))

    def told(self, state: State, old: State, event: Event) -> str:
        return folk.sentence(event)

    def finding(self, state: State) -> str:
        if not state.people:
            return "The team is empty."
        people = drawn(state.people)
        groups: dict[str, list[str]] = {}
        for one in people:
            groups.setdefault(folk.status(one), []).append(one.name)
        parts = [
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} {word}"
            for word, names in groups.items()
        ]
        said = f"{'; '.join(parts)}."
        if not state.tasks:
            return ended(said)
        done = {one.id: one.owner for one in state.spells if one.mark is theme.DONE}
        by = [name for name in dict.fromkeys(done.values()) if name]
        shares = listed([f"{list(done.values()).count(name)} by {name}" for name in by])
        return ended(f"{progress(state.tasks)}{f': {shares}' if by else ''}. {said}")

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, people = Canvas(width), drawn(state.people)[: max(3, rows)]
        beside = width >= 480
        left, tall = (148.0, _LANE) if beside else (2.0, _NAMED)
        time, low = Axis(state.now, left, width - left - 8), 26.0 + tall * len(people)
        time.ruled(canvas, 4, low)
        latest = _latest(state)
        for number, person in enumerate(people):
            top, mark = 26 + tall * number, theme.agent(number).key
            _names(canvas, person, mark, top, left if beside else 0)
            _lane(canvas, state, person, mark, top + (20 if beside else 40), time, latest)
        if people:
            legend = "box: a task · thick line: working · thin line: idle · end mark: shut down"
            canvas.text("legend", left, low + 16, legend, "q")
        free = [card for card in state.tasks.values() if card.id not in latest]
        low = _waiting(canvas, [card for card in free if card.mark is not theme.DONE], rows, low)
        x, low = 2.0, low + 28
        for label, intent in self.buttons.items():
            wide = 7 * len(label) + 24
            if x > 2 and x + wide > width:
                x, low = 2.0, low + 40
            canvas.box(f"button {label}", x, low, wide, 32, "", [label], says=label, intent=intent)
            x += wide + 8
        canvas.height = low + (40 if self.buttons else 0)
        return canvas

    def facts(self, state: State, rows: int) -> str:
        roster: list[list[object]] = []
        for one in drawn(state.people):
            times = {"working": 0.0, "idle": 0.0, "shutdown": 0.0}
            for key, begin, end in state.spans(one.name):
                times[key] += end - begin
            roster.append([one.name, one.role, one.said, *map(duration, [*times.values()][:2])])
        board = []
        for card in state.tasks.values():
            subject, now = one_line(card.subject, 50), f"{card.mark.glyph} {card.state}"
            board.append([f"#{card.id}", subject, now, card.tags])
        tables = static.table(["who", "role", "state", "worked", "idle"], roster)
        head = ["task", "subject", "state", "for"]
        return tables + (static.table(head, board, rows, newest=True) if board else "")


def _latest(state: State) -> dict[int, int]:
    """Task -> number of its last spell, unless the task has been given back since."""
    found = {one.id: number for number, one in enumerate(state.spells) if one.id in state.tasks}
    return {
        id: number
        for id, number in found.items()
        if state.tasks[id].mark is state.spells[number].mark
    }


def _names(canvas: Canvas, person: Person, mark: str, top: float, beside: float) -> None:
    """An agent's name, role and status, beside its lane or above it."""
    said = f"{person.mark.glyph} {folk.status(person)}"
    said = f"{person.role} · {said}" if person.role else said
    name, says = f"name {person.name}", f"{person.name}, {person.role}: {person.said}"
    canvas.text(name, 2, top + 16, person.name, "b", mark, width=110, says=says, pair=person.name)
    x, y = (2, top + 31) if beside else (14 + min(7 * len(person.name), 110), top + 16)
    canvas.text(f"role {person.name}", x, y, said, "q", width=max(beside - 8, 0))


def _lane(
    canvas: Canvas,
    state: State,
    person: Person,
    mark: str,
    y: float,
    time: Axis,
    latest: dict[int, int],
) -> None:
    """When an agent worked and was idle, and its tasks."""
    for number, (key, begin, end) in enumerate(state.spans(person.name)):
        x, thick = time.x(begin), 8 if key == "working" else 2
        if key == "shutdown":
            if number and person.mark is theme.SHUTDOWN:
                canvas.edge(f"end {person.name}", "M0 -7V7", mark, "w", x=x, y=y)
            continue
        name, wide = f"{key} {person.name} {number}", max(time.x(end) - x, 0)
        canvas.bar(name, x, y - thick / 2, wide, thick, mark)
    for number, one in enumerate(state.spells):
        if one.owner == person.name:
            key = f"task {one.id}" if latest.get(one.id) == number else f"was {number}"
            x, end = time.x(one.begin) + 1, time.x(state.now if one.end is None else one.end)
            draw_spell(canvas, key, one, state.tasks, (x, y - TASK / 2, max(end - x - 1, 3)))


def _waiting(canvas: Canvas, cards: list[TaskCard], rows: int, y: float) -> float:
    """Draw the tasks on the board that are on no lane; return where they end."""
    if not cards:
        return y
    canvas.text("free", 2, y + 42, "on the board:", "q")
    y += 52
    many = max(1, int(canvas.width // 176))
    each = (canvas.width - 4) / many
    for number, card in enumerate(cards[: 2 * rows]):
        x, top = 2 + each * (number % many), y + (TASK + 8) * (number // many)
        text, mark = f"{card.short} {card.subject}", card.mark.key
        canvas.box(f"task {card.id}", x, top, each - 8, TASK, mark, [text], "l", says=card.title)
    y += (TASK + 8) * -(-min(len(cards), 2 * rows) // many)
    return y + 20 * canvas.left_out("more", 2, y + 14, len(cards) - 2 * rows, "task")
