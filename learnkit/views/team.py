"""The team: which task each agent had, and when; when it worked, was idle, and how it left.

Each agent has a lane on one scale of time. A band is work, with its tasks as boxes on it; a line is
idleness, and a cross at the end says whether the agent shut down or was lost. The board is below: a
task moves from it to the lane of the agent that takes it, and leaves its outline there.
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
        return [f"{progress(state.tasks)}{by}.", each, _statuses(state)]

    def draw(self, state: State, width: float, rows: int) -> Canvas:
        canvas, people = Canvas(width), drawn(state.people)[: max(3, rows)]
        left, low = min(_NAMES, width / 5), 22 + _LANE * len(people)
        time, middles = (
            Axis(state.now, left, width - left - (8 if width < 560 else 76)),
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
    """When an agent worked and was idle, said below each, and its tasks."""
    spans = _seen(state.spans(person.name), 2 * time.scale / time.room)
    said: list[tuple[float, float, tuple[str, ...]]] = []
    ends: list[tuple[str, str, float]] = []
    for number, (key, begin, end) in enumerate(spans):
        name, x, last = f"{key} {person.name} {number}", time.x(begin), number == len(spans) - 1
        wide = max(time.x(end) - x, 0)
        if key in ("shutdown", "lost"):
            lost = key == "lost"
            if number:
                ends.append((f"end {name}", theme.FAILED.key if lost else mark, x))
            texts: tuple[str, ...] = ("not heard from" if lost else "shut down",)
        else:
            thick, style = (TASK, "p") if key == "working" else (2, "")
            canvas.bar(name, x, y - thick / 2, wide, thick, mark, style)
            texts = (f"{key} {duration(round(end - begin, 1))}", key) if end > begin else (key,)
        said.append((x, canvas.width if last else x + wide, texts))
    low = canvas.width
    for number, (x, end, texts) in reversed([*enumerate(said)]):
        last, wide = number == len(said) - 1, text_width(texts[0])
        if last and len(texts) == 1 and x + wide + 12 <= canvas.width:
            canvas.text(f"says {person.name} {number}", x + 10, y + 4, texts[0], "q")
            continue
        if last:  # how it is now is said in any case
            x = min(x, canvas.width - wide - 6)
        if fits := [one for one in texts if x + text_width(one) + 6 <= min(end, low)]:
            canvas.text(f"says {person.name} {number}", x, y + 27, fits[0], "q")
            low = x
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
    for key, colour, x in ends:
        canvas.edge(key, "M-5 -5L5 5M5 -5L-5 5", colour, "w", x=x, y=y)


def _seen(spans: list[tuple[str, float, float]], least: float) -> list[tuple[str, float, float]]:
    """An agent's statuses without those too short to be seen, except the first and the last."""
    found: list[tuple[str, float, float]] = []
    for place, (key, begin, end) in enumerate(spans):
        short = end - begin < least and place < len(spans) - 1
        if found and (short or found[-1][0] == key):
            found[-1] = (*found[-1][:2], end)
        else:
            found.append((key, begin, end))
    return found


def _board(canvas: Canvas, tasks: Board, taken: dict[int, int], rows: int, y: float) -> float:
    """The board below the lanes, where a task that was taken leaves its outline; where it ends."""
    if not tasks:
        return y
    canvas.text("free", 2, y + 34, "the board", "q")
    cards = list(tasks.values())[-2 * rows :]
    spots, low = board.grid(canvas, len(cards), 176, y + 44)
    for card, spot in zip(cards, spots, strict=True):
        gone = card.id in taken or card.mark is theme.DONE
        key, mark, style = ("slot", "", "qdl") if gone else ("task", card.mark.key, "l")
        text = f"{card.short} {card.subject}" + f", {card.owner}" * bool(gone and card.owner)
        canvas.box(f"{key} {card.id}", *spot, mark, [text], style, says=card.title)
    hidden = len(tasks) - len(cards)
    return low + 20 * canvas.left_out("more", 2, low + 14, hidden, "earlier task")
