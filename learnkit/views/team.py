"""The team: which task each agent had, and when; when it worked, was idle, and how it left.

Each agent has a lane on one scale of time. A band is work, with its tasks as boxes on it; a line is
idleness; a square at the end says that the agent shut down, a cross that it was lost. A task that
nobody has is below, and moves to the lane of the agent that takes it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise

from learnkit.events.log import Event
from learnkit.events.mail import MailRead, MailSent
from learnkit.events.tasks import TaskStarted
from learnkit.events.text import listed
from learnkit.events.vocabulary import read
from learnkit.views import board
from learnkit.views import people as folk
from learnkit.views.board import TASK, Board, Spell, progress
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas, text_width, wrapped
from learnkit.views.drawing.time_axis import Axis, duration
from learnkit.views.people import People, Person, drawn

#: In pixels: the height of a lane, and the most that its names may take on the left.
_LANE, _NAMES = 62, 96.0
#: How far a task may be drawn to the right of where it began, to stand beside another, in pixels.
_NUDGE = 12

#: Agent -> the keys of its statuses, or ``lost``, each with when it began, in seconds.
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
        """Key, begin and end in seconds of each status that an agent had."""
        lived = self.lives.get(name, ())
        return [(*one, end) for one, (_, end) in pairwise([*lived, ("", self.now)])]


class Team(Diagram[State]):
    """Lifecycle lanes and the board below them."""

    name = "team"
    start = State()

    def fold(self, state: State, event: Event) -> State:
        typed = read(event)
        if isinstance(typed, (MailSent, MailRead)):
            return state  # that is what Traffic shows
        people, tasks = folk.grown(state.people, event), board.after(state.tasks, event)
        mate = people.get(event.lane)
        if isinstance(typed, TaskStarted) and mate and mate.holds and mate.mark is theme.IDLE:
            # Its own status follows; the picture changes once for both.
            people = {**people, mate.name: replace(mate, mark=theme.WORKING)}
        lives = state.lives
        for one in people.values():
            lived = lives.get(one.name, ())
            status = "lost" if one.lost else one.mark.key
            if not lived or lived[-1][0] != status:
                lived = (*lived[:1], *lived[1:][-CHANGES:], (status, event.time))
                lives = {**lives, one.name: lived}
        spells = board.spells_after(state.spells, state.tasks, tasks, event.time)
        return State(people, lives, tasks, spells, max(event.time, state.now))

    def says(self, state: State) -> list[str]:
        if not state.people:
            return ["The team is empty."]
        if not state.tasks:
            return [_statuses(state)]
        done = {one.id: one.owner for one in state.spells if one.mark is theme.DONE}
        # Who has completed how many, the busiest first.
        shares = Counter(name for name in done.values() if name).most_common()
        by = f" by {listed([name for name, _ in shares])}" if shares else ""
        each = f"{listed([f'{many} by {name}' for name, many in shares])}." if shares else ""
        first = f"{progress(state.tasks)}{by}."
        if shares and all(one.mark is theme.DONE for one in state.tasks.values()):
            names = [name for name, _ in shares]
            first = f"{listed(names)} complete{'s' * (not names[1:])} every task."
        return [first, each, _statuses(state)]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, people = Canvas(width), drawn(state.people)[: max(3, rows)]
        left, low = min(_NAMES, width / 5), 22 + _LANE * len(people)
        time, middles = (
            Axis(state.now, left, width - left - (32 if width < 560 else 76)),
            [*range(42, low, _LANE)],
        )
        time.ruled(canvas, 4, (4, 16), *((y - 20, y + TASK / 2) for y in middles))
        latest = _latest(state)
        for number, (person, y) in enumerate(zip(people, middles, strict=True)):
            mark = theme.agent(number).key
            _names(canvas, person, mark, y, left - 8)
            _lane(canvas, state, person, mark, y, time, latest)
        canvas.height = _board(canvas, state.tasks, latest, rows, low) + 8
        return canvas


def _statuses(state: State) -> str:
    """What each agent is doing, in words."""
    groups: dict[str, list[str]] = {}
    for one in drawn(state.people):
        groups.setdefault(folk.status(one), []).append(one.name)
    parts = [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {word}"
        for word, names in groups.items()
    ]
    return f"{'; '.join(parts)}."


def _latest(state: State) -> dict[int, int]:
    """Task -> number of its last spell, unless the task has been given back since."""
    found = {one.id: number for number, one in enumerate(state.spells) if one.id in state.tasks}
    return {
        id: number
        for id, number in found.items()
        if state.tasks[id].mark is state.spells[number].mark
    }


def _names(canvas: Canvas, person: Person, mark: str, y: float, room: float) -> None:
    """An agent's name, its role, and where it lives, left of its lane."""
    role = f"{person.role} on {person.where}" if person.where else person.role
    says, name = f"{person.name}, {role}: {person.said}", person.name
    canvas.text(f"name {name}", 2, y - 2, name, "b", mark, width=room, says=says, pair=name)
    for row, text in enumerate(wrapped(role, room)):
        canvas.text(f"role {name} {row}", 2, y + 13 + 14 * row, text, "q", width=room)


def _lane(
    canvas: Canvas,
    state: State,
    person: Person,
    mark: str,
    y: float,
    time: Axis,
    latest: dict[int, int],
) -> None:
    """When an agent worked and was idle, how it is now or has left, and its tasks."""
    spans = state.spans(person.name)
    ends: list[tuple[str, bool, float]] = []
    for number, (key, begin, end) in enumerate(spans):
        name, x = f"{key} {person.name} {number}", time.x(begin)
        if key not in ("shutdown", "lost"):
            thick, style = (TASK, "p") if key == "working" else (2, "")
            says = f"{person.name} {key} {duration(round(end - begin, 1))}"
            place = x, y - thick / 2, max(time.x(end) - x, 0), thick
            canvas.bar(name, *place, mark, style, says=says)
        elif number:
            ends.append((f"end {name}", key == "lost", x))
    if spans:
        said, x = folk.status(person), time.x(spans[-1][2]) + 10
        beside = x + text_width(said) <= canvas.width
        x = x if beside else canvas.width - text_width(said) - 6
        canvas.text(f"says {person.name}", x, y + (4 if beside else 27), said, "q")
    free = 0.0
    for number, one in enumerate(state.spells):
        if one.owner == person.name:
            key = f"task {one.id}" if latest.get(one.id) == number else f"was {number}"
            x, end = time.x(one.begin) + 1, time.x(state.now if one.end is None else one.end)
            if x < free <= min(x + _NUDGE, canvas.width - 3):
                x = free  # tasks of one instant stand side by side
            wide = max(end - x - 1, 3)
            board.draw_spell(canvas, key, one, state.tasks, (x, y - TASK / 2, wide))
            free = x + wide + 1
    for key, lost, x in ends:
        canvas.edge(key, *folk.end_of(lost, mark), x=x, y=y)


def _board(canvas: Canvas, tasks: Board, taken: dict[int, int], rows: int, y: float) -> float:
    """The tasks that nobody has taken, below the lanes; where they end."""
    free = [card for card in tasks.values() if card.id not in taken]
    if not free:
        return y
    canvas.text("free", 2, y + 34, "free, on the board", "q")
    cards = free[-2 * rows :]
    spots, low = board.grid(canvas, len(cards), 176, y + 44)
    for card, spot in zip(cards, spots, strict=True):
        text = f"{card.short} {card.subject}"
        canvas.box(f"task {card.id}", *spot, card.mark.key, [text], "l", says=card.title)
    hidden = len(free) - len(cards)
    return low + 20 * canvas.left_out("more", 2, low + 14, hidden, "earlier task")
