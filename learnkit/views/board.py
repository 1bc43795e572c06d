"""The task board, rebuilt from the log: each task as it is drawn, and when it was worked on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from learnkit.core.readiness import is_ready, open_blockers
from learnkit.events.log import Event
from learnkit.events.tasks import BoardOpened, TaskData, TaskDeleted, TaskEvent
from learnkit.events.text import count
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.time_axis import duration

_MARKS = {"in_progress": theme.ACTIVE, "completed": theme.DONE, "failed": theme.FAILED}
#: Height of a task with one line of text, in pixels.
TASK = 24.0
#: The most spells that are kept, the newest ones.
SPELLS = 120


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task as it is drawn.

    Attributes:
        id: the task's number.
        subject: what has to be done.
        status: the status in the log.
        owner: the agent that works on it; empty for none.
        tags: the tags in one string, such as ``"tests, docs"``.
        blocked_by: ids of the tasks that it depends on.
        waits: those on the board that it depends on and that aren't completed.
        mark: the glyph, word and colours of its state.
    """

    id: int
    subject: str
    status: str
    owner: str
    tags: str
    blocked_by: tuple[int, ...]
    waits: tuple[int, ...] = ()
    mark: theme.Mark = theme.PENDING

    @property
    def state(self) -> str:
        """The state in a word or two."""
        open = ", ".join(f"#{id}" for id in self.waits)
        if self.mark is theme.BLOCKED:
            return f"waits for {open}"
        if self.early:
            return f"{self.mark.word} before {open}"
        return f"{self.mark.word}, {self.owner}" if self.owner else self.mark.word

    @property
    def early(self) -> bool:
        """Whether it is completed, and what it depends on isn't."""
        return self.mark is theme.DONE and bool(self.waits)

    @property
    def short(self) -> str:
        """The glyph of the state, and the number."""
        return f"{self.mark.glyph} #{self.id}"

    @property
    def top(self) -> str:
        """The line above the subject."""
        return f"{self.short} {self.owner or self.mark.word}"

    @property
    def title(self) -> str:
        """Everything about the task on one line."""
        return f"#{self.id} {self.subject}: {self.state}" + (f" ({self.tags})" if self.tags else "")


#: Task id -> the task.
Board = dict[int, TaskCard]


def after(tasks: Board, event: Event) -> Board:
    """The board after one more event; the same object if the event is about something else."""
    match read(event):
        case BoardOpened(tasks=given):
            return _marked(map(_card, given))
        case TaskDeleted(task=task):
            return _marked(one for one in tasks.values() if one.id != task.id)
        case TaskEvent(task=task):
            return _marked({**tasks, task.id: _card(task)}.values())
    return tasks


def progress(tasks: Board) -> str:
    """How much of a board is completed, in words."""
    done = sum(card.mark is theme.DONE for card in tasks.values())
    return f"{done:,} of {count(len(tasks), 'task')} completed"


@dataclass(frozen=True, slots=True)
class Spell:
    """A time during which a task was in progress, or the moment at which it was completed without.

    Attributes:
        id: the task's number.
        owner: the agent that worked on it.
        begin: in seconds.
        end: in seconds; None while it lasts.
        mark: how it ended: completed, failed, or pending if it was given back; in progress while
            it lasts.
    """

    id: int
    owner: str
    begin: float
    end: float | None = None
    mark: theme.Mark = theme.ACTIVE


def spells_after(
    spells: tuple[Spell, ...], old: Board, new: Board, now: float
) -> tuple[Spell, ...]:
    """The spells after a change of the board."""
    found, lasting = [], set()
    for one in spells:
        card = new.get(one.id)
        if one.end is None and card and (card.mark, card.owner) == (theme.ACTIVE, one.owner):
            lasting.add(one.id)
        elif one.end is None:
            over = card is not None and card.mark in (theme.DONE, theme.FAILED)
            mark = card.mark if card and over else theme.PENDING
            one = replace(one, end=now, mark=mark)
            lasting |= {one.id} if mark is theme.DONE else set()
        found.append(one)
    for card in new.values():
        before = old.get(card.id)
        if card.id in lasting:
            continue
        if card.mark is theme.ACTIVE:
            found.append(Spell(card.id, card.owner, now))
        elif card.mark is theme.DONE and before and before.mark is not theme.DONE:
            found.append(Spell(card.id, card.owner, now, now, theme.DONE))
    return tuple(found[-SPELLS:])


#: Left, top, width and height, in pixels.
Spot = tuple[float, float, float, float]


def grid(canvas: Canvas, number: int, need: float, y: float) -> tuple[list[Spot], float]:
    """Places for so many tasks, as wide as they need at least; and where they end."""
    many = max(1, int(canvas.width // need))
    each = (canvas.width - 4) / many
    wide = min(each, 1.4 * need) - 8
    spots = [
        (2 + each * (place % many), y + (TASK + 8) * (place // many), wide, TASK)
        for place in range(number)
    ]
    return spots, y + (TASK + 8) * -(-number // many)


def draw_spell(
    canvas: Canvas, key: str, one: Spell, tasks: Board, place: tuple[float, float, float]
) -> None:
    """Draw a spell on an axis, with as much of the task's name as has room in it."""
    x, y, wide = place
    subject = tasks[one.id].subject if one.id in tasks else ""
    until = duration(one.end) if one.end is not None else "now"
    by = f"{one.owner} " if one.owner else ""
    word = "given back" if one.mark is theme.PENDING else one.mark.word
    says = f"#{one.id} {subject}: {word}, {by}from {duration(one.begin)} to {until}"
    short = f"{one.mark.glyph} #{one.id}"
    texts = (f"{short} {subject}", short, f"#{one.id}")
    fits = [text for text in texts if 7 * len(text) <= wide - 1]
    whole = fits[:1] if fits and 7 * len(fits[0]) <= wide - 16 else []
    canvas.box(key, x, y, wide, TASK, one.mark.key, whole, "l", says=says, pair=f"t{one.id}")
    if fits and not whole:  # a disc of no size: text in the middle, without the inset of a box
        canvas.dot(f"in {key}", x + wide / 2, y + TASK / 2, 0, one.mark.key, fits[0])


def _marked(cards: Iterable[TaskCard]) -> Board:
    """The cards in order, each with the tasks that it waits for and the mark of its state."""
    board = {card.id: card for card in sorted(cards, key=lambda card: card.id)}
    for id, card in board.items():
        waits = tuple(open_blockers(card, board))
        free = theme.READY if is_ready(card, board) else theme.BLOCKED if waits else theme.PENDING
        board[id] = replace(card, waits=waits, mark=_MARKS.get(card.status, free))
    return board


def _card(task: TaskData) -> TaskCard:
    after, tags = tuple(sorted({*task.blocked_by})), ", ".join(task.tags)
    return TaskCard(task.id, task.subject, task.status, task.owner, tags, after)
