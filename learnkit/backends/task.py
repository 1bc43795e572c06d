"""A task of a board: what every backend stores, and what it may hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from learnkit.errors import ToolError

Status = Literal["pending", "in_progress", "completed", "failed"]

#: Characters that a subject and a description may have.
MAX_SUBJECT, MAX_DESCRIPTION = 200, 10_000

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "failed": "[!]"}


@dataclass(frozen=True, slots=True)
class Task:
    """A goal.

    Attributes:
        id: its number on the board, from 1.
        subject: what is to be done, on one line.
        description: all that a worker has to know.
        status: pending, in_progress, completed or failed.
        blocked_by: ids of the tasks that have to be completed first, in order.
        blocks: ids of the tasks that wait for this one, in order.
        owner: who works on it, or did; empty for a task without an owner.
        tags: roles that it suits.
        result_summary: what came of it.
        worktree: name of the worktree that it is done in; empty for none.
        token: its fencing token: a number that rises whenever it changes hands, from its first
            claim with an incarnation or a lease on; 0 before.
        incarnation: which run of its owner has claimed it; empty if that was not said.
        lease_until: when its lease is over, ISO 8601; empty without a lease.
        more: what else is in the file; it is kept.
    """

    id: int
    subject: str
    description: str = ""
    status: Status = "pending"
    blocked_by: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    owner: str = ""
    tags: tuple[str, ...] = ()
    result_summary: str = ""
    worktree: str = ""
    token: int = 0
    incarnation: str = ""
    lease_until: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"task_{self.id}.json"

    @property
    def mark(self) -> str:
        """Its status, as a list shows it."""
        return _MARKS[self.status]

    def to_json(self) -> dict[str, Any]:
        """The task as its file has it."""
        stored: dict[str, Any] = {}
        for key, (name, kind, _) in _FIELDS.items():
            value = getattr(self, name)
            if value or key in _ALWAYS:
                stored[key] = list(value) if kind is list else value
        return {**stored, **self.more}

    @classmethod
    def from_json(cls, data: Any) -> Task:
        """Read what :meth:`to_json` returns; what is left out has its default."""
        if not isinstance(data, dict):
            raise ValueError("it holds no object")
        fields = dict(data)
        given: dict[str, Any] = {}
        for key, (name, kind, of) in _FIELDS.items():
            if key not in fields:
                continue
            value: Any = fields.pop(key)
            items = value if type(value) is list else []
            if type(value) is not kind or any(type(one) is not of for one in items):
                raise ValueError(f"{key} is {value!r}")
            given[name] = tuple(items) if kind is list else value
        if "id" not in given or not given.get("subject"):
            raise ValueError("it has no id, or no subject")
        if given.get("status", "pending") not in get_args(Status):
            raise ValueError(f"status is {given['status']!r}")
        if given.get("lease_until") and not _is_time(given["lease_until"]):
            raise ValueError(f"lease_until is {given['lease_until']!r}")
        return cls(**given, more=fields)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a call of :meth:`BoardBackend.update` asks for; its arguments are explained there."""

    status: Status | Literal["deleted"] | None = None
    owner: str = ""
    add_blocked_by: tuple[int, ...] = ()
    add_blocks: tuple[int, ...] = ()
    remove_blocked_by: tuple[int, ...] = ()
    result_summary: str | None = None
    worktree: str | None = None
    by: str = ""
    token: int | None = None


#: A change of a board: a task as it was (None: it is new) and as it is (None: it is gone).
Change = tuple[Task | None, Task | None]

#: Key in the file -> name of the attribute, its type, and that of the items of a list.
_FIELDS: dict[str, tuple[str, type, type]] = {
    "id": ("id", int, int),
    "subject": ("subject", str, str),
    "description": ("description", str, str),
    "status": ("status", str, str),
    "blockedBy": ("blocked_by", list, int),
    "blocks": ("blocks", list, int),
    "owner": ("owner", str, str),
    "tags": ("tags", list, str),
    "result_summary": ("result_summary", str, str),
    "worktree": ("worktree", str, str),
    "token": ("token", int, int),
    "incarnation": ("incarnation", str, str),
    "lease_until": ("lease_until", str, str),
}

#: What a file has even where it is empty.
_ALWAYS = ("description", "blockedBy", "blocks", "owner", "tags")


def _is_time(text: str) -> bool:
    """Whether a text is a date and time with its zone: others cannot be compared."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def checked(task: Task) -> Task:
    """Return a new task with its texts tidied: the subject and the tags on one line each."""
    subject = " ".join(task.subject.split())
    tags = tuple(dict.fromkeys(" ".join(tag.split()) for tag in task.tags))
    if not subject:
        raise ToolError("the subject is empty; say in a few words what to do")
    if len(subject) > MAX_SUBJECT:
        raise ToolError(f"the subject has {len(subject)} characters; at most {MAX_SUBJECT} fit")
    if len(task.description) > MAX_DESCRIPTION:
        size = f"{len(task.description):,} characters; at most {MAX_DESCRIPTION:,} fit"
        raise ToolError(f"the description has {size}. Put long material into a file")
    if "" in tags:
        raise ToolError("a tag is empty; remove it")
    return Task(task.id, subject, task.description, tags=tags)
