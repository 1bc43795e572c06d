"""The task board, rebuilt from the log, and each task as the views draw it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from learnkit.core.events import Event
from learnkit.core.readiness import is_ready, open_blockers
from learnkit.core.vocabulary import BoardOpened, TaskData, TaskDeleted, TaskEvent, read
from learnkit.views.drawing import theme

#: Task id -> the task, as the log has it.
Board = dict[int, TaskData]

_MARKS = {"in_progress": theme.ACTIVE, "completed": theme.DONE, "failed": theme.FAILED}


@dataclass(frozen=True, slots=True)
class TaskCard:
    """A task as it is drawn.

    Attributes:
        id: the task's number.
        subject: what has to be done.
        status: the status in the log.
        owner: the agent that works on it; empty for none.
        tags: the tags in one string, such as ``"tests, docs"``.
        blocked_by: ids of the tasks on the board that it depends on.
        waits: those in ``blocked_by`` that aren't completed.
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
        if self.mark is theme.BLOCKED:
            return f"waits for {', '.join(f'#{id}' for id in self.waits)}"
        return f"{self.mark.word}, {self.owner}" if self.owner else self.mark.word

    @property
    def top(self) -> str:
        """The line above the subject."""
        return f"{self.mark.glyph} #{self.id} {self.owner or self.mark.word}"

    @property
    def title(self) -> str:
        """Everything about the task on one line."""
        return f"#{self.id} {self.subject}: {self.state}" + (f" ({self.tags})" if self.tags else "")


def board_after(tasks: Board, event: Event) -> Board:
    """The board after one more event; the same object if the event is about something else.

    Args:
        tasks: the board so far.
        event: what happens next.
    """
    match read(event):
        case BoardOpened(tasks=given):
            return {task.id: task for task in given}
        case TaskDeleted(task=task):
            return {id: one for id, one in tasks.items() if id != task.id}
        case TaskEvent(task=task):
            return dict(sorted({**tasks, task.id: task}.items()))
    return tasks


def cards_of(tasks: Board) -> dict[int, TaskCard]:
    """Every task of a board as it is drawn, by id.

    Args:
        tasks: the board as the log has it.
    """
    cards = {
        id: TaskCard(
            id,
            task.subject,
            task.status,
            task.owner,
            ", ".join(task.tags),
            tuple(sorted({*task.blocked_by} & tasks.keys())),
        )
        for id, task in tasks.items()
    }
    for id, card in cards.items():
        waits = tuple(open_blockers(card, cards))
        free = theme.READY if is_ready(card, cards) else theme.BLOCKED if waits else theme.PENDING
        cards[id] = replace(card, waits=waits, mark=_MARKS.get(card.status, free))
    return cards
