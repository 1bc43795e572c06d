"""Every type of event that learnkit appends; whoever reads a log reads its events here.

Each file of :data:`SUBJECTS` declares some: which details an event has, when it happens, in which
lesson it is met first, and what it means in a sentence. ``docs/events.md`` is generated from them.
Views match on their classes::

    match read(event):
        case TaskCompleted(task=task):
            …

What is logged today has every field, except those that are declared with ``sometimes``. The other
defaults are for logs that were written by hand.
"""

from __future__ import annotations

from learnkit.events import (
    background,
    compaction,
    goal,
    loop,
    mail,
    mcp,
    memory,
    permission,
    protocols,
    races,
    skills,
    subagents,
    tasks,
    teams,
    todo,
    worktrees,
)
from learnkit.events import declaration as _declared
from learnkit.events.declaration import Declaration
from learnkit.events.declaration import declaration as declaration
from learnkit.events.log import Event

#: The files that declare events, in the order of the lessons.
SUBJECTS = (
    *(loop, permission, todo, subagents, skills, compaction, tasks, background),
    *(teams, mail, races, protocols, worktrees),
    *(goal, memory, mcp),
)


def declarations() -> list[Declaration]:
    """Every type that is declared so far: learnkit's by subject, then all others."""
    order = {subject.__name__: number for number, subject in enumerate(SUBJECTS)}
    found = _declared.declarations()
    return sorted(found, key=lambda one: order.get(one.cls.__module__, len(order)))


def read(event: Event) -> object | None:
    """The typed event of a logged one; None if its type is not declared, or it lacks a detail."""
    known = declaration(event.type)
    return known.read(event.data) if known else None
