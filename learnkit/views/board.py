"""The task board, rebuilt from the log, and each task as the views draw it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.core.readiness import is_ready, open_blockers
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import as_list

#: Task id -> the task, as the log has it.
Board = dict[int, dict[str, Any]]

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
    if event.type == "board.opened":
        given = map(_task, as_list(event.data.get("tasks")))
        return {task["id"]: task for task in given if task}
    task = _task(event.data.get("task")) if event.type.startswith("task.") else {}
    if not task:
        return tasks
    others = {id: one for id, one in tasks.items() if id != task["id"]}
    if event.type == "task.deleted":
        return others
    return dict(sorted({**others, task["id"]: task}.items()))


def cards_of(tasks: Board) -> dict[int, TaskCard]:
    """Every task of a board as it is drawn, by id.

    Args:
        tasks: the board as the log has it.
    """
    cards = {}
    for id, task in tasks.items():
        wanted = {one for one in as_list(task.get("blockedBy")) if type(one) is int}
        cards[id] = TaskCard(
            id,
            str(task.get("subject", "")),
            str(task.get("status")),
            str(task.get("owner") or ""),
            ", ".join(map(str, as_list(task.get("tags")))),
            tuple(sorted(wanted & tasks.keys())),
        )
    for id, card in cards.items():
        waits = tuple(open_blockers(card, cards))
        free = theme.READY if is_ready(card, cards) else theme.BLOCKED if waits else theme.PENDING
        cards[id] = replace(card, waits=waits, mark=_MARKS.get(card.status, free))
    return cards


def _task(value: Any) -> dict[str, Any]:
    """A task from the log; empty if the value isn't a task."""
    return value if isinstance(value, dict) and type(value.get("id")) is int else {}
