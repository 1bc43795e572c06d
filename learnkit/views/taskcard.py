"""A task of the log as it is drawn: its state, what it waits for, and the words for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from learnkit.views.drawing import theme


@dataclass(frozen=True, slots=True)
class Card:
    """A task as it is drawn."""

    id: int
    subject: str
    mark: theme.Mark
    blockers: tuple[int, ...] = ()
    owner: str = ""
    tags: str = ""
    waits: tuple[int, ...] = ()

    @property
    def state(self) -> str:
        """Its state in a word or two."""
        if self.mark is theme.BLOCKED:
            return f"waits for {', '.join(f'#{id}' for id in self.waits)}"
        return f"{self.mark.word}, {self.owner}" if self.owner else self.mark.word

    @property
    def top(self) -> str:
        """What stands over the subject."""
        more = f" {self.owner}" if self.owner else ""
        return f"{self.mark.glyph} #{self.id}{more or ' ' + self.mark.word}"


def record(value: Any) -> tuple[int, dict[str, Any]] | None:
    """A task of the log by its number, if it is one."""
    if not isinstance(value, dict) or type(value.get("id")) is not int:
        return None
    return value["id"], value


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def cards_of(tasks: dict[int, dict[str, Any]]) -> dict[int, Card]:
    done = {id for id, task in tasks.items() if task.get("status") == "completed"}
    cards = {}
    for id, task in tasks.items():
        wanted = [one for one in listed(task.get("blockedBy")) if type(one) is int]
        blockers = tuple(sorted({one for one in wanted if one in tasks and one != id}))
        waits = tuple(one for one in blockers if one not in done)
        status = str(task.get("status"))
        mark = _MARKS.get(status) or (theme.BLOCKED if waits else theme.READY)
        owner = str(task.get("owner") or "")
        tags = ", ".join(map(str, listed(task.get("tags"))))
        subject = str(task.get("subject", ""))
        cards[id] = Card(id, subject, mark, blockers, owner, tags, waits)
    return cards


_MARKS = {
    "in_progress": theme.ACTIVE,
    "completed": theme.DONE,
    "failed": theme.FAILED,
}
