"""The agents of a team: each with its role, its status, its unread messages and its tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnkit.core.events import Event
from learnkit.views.drawing import theme
from learnkit.views.drawing.base import D, DrawnView
from learnkit.views.drawing.text import as_list
from learnkit.views.words import describe

#: The most agents that are drawn; nobody can follow more.
MOST = 12


@dataclass(frozen=True, slots=True)
class Person:
    """An agent of a team.

    Attributes:
        name: the agent's lane.
        role: its role in the team.
        mark: working, idle or shutdown.
        unread: ids of the messages that it hasn't read.
        holds: numbers of the tasks it is working on.
    """

    name: str
    role: str = ""
    mark: theme.Mark = theme.WORKING
    unread: tuple[str, ...] = ()
    holds: tuple[int, ...] = ()

    @property
    def said(self) -> str:
        """Its status, tasks and unread messages in words."""
        parts = [self.mark.word]
        if self.holds:
            parts.append(f"at {', '.join(f'#{id}' for id in self.holds)}")
        if self.unread:
            parts.append(f"{len(self.unread)} unread")
        return ", ".join(parts)


People = dict[str, Person]


def grown(people: People, event: Event) -> People:
    """The agents after one more event; the same object if nothing has changed.

    Args:
        people: the agents so far, by name.
        event: what happens next.
    """
    data, lane = event.data, event.lane
    if event.type in ("run.started", "run.ended"):
        if "." in lane:
            return people  # a subagent ends before anyone could write to it
        one = people.get(lane) or Person(lane, "" if people else "leads")
        if one.role != "leads" and lane in people:
            return people  # a teammate's status comes with team.status
        mark = theme.WORKING if event.type == "run.started" else theme.IDLE
        return _with(people, replace(one, mark=mark))
    if event.type in ("team.spawned", "team.status"):
        name = str(data.get("name", "?"))
        known = people.get(name) or Person(name)
        mark = _MARKS.get(data.get("status"), known.mark)
        return _with(people, replace(known, role=str(data.get("role", "")), mark=mark))
    if event.type == "mail.sent" and isinstance(data.get("mail"), dict):
        return _posted(people, data["mail"])
    if event.type == "mail.read":
        read = [str(id) for id in as_list(data.get("ids"))]
        reader = people.get(str(data.get("by")))
        if reader is None:
            return people
        left = tuple(id for id in reader.unread if id not in read)
        return _with(people, replace(reader, unread=left))
    if event.type.startswith("task.") and isinstance(data.get("task"), dict):
        return _holding(people, data["task"])
    return people


def sentence(event: Event, said: str = "") -> str:
    """The header sentence of an event, with the agent's name where the sentence lacks it.

    Args:
        event: what has happened.
        said: a sentence to add when the run of an agent that isn't a subagent ends.
    """
    inner = event.type.startswith(("message", "model.", "tool.", "run.", "permission."))
    text = f"{event.lane}: {describe(event)}" if inner else describe(event)
    return (
        f"{text} {said}" if said and event.type == "run.ended" and "." not in event.lane else text
    )


class TeamView(DrawnView[D]):
    """A view of a team: its sentences name the agent, and its states have ``said``."""

    def sentence(self, state: D, event: Event) -> str:
        return sentence(event, getattr(state, "said", ""))


def _posted(people: People, mail: dict[str, Any]) -> People:
    sender, to, id = str(mail.get("from", "?")), str(mail.get("to", "?")), str(mail.get("id", ""))
    if sender not in people:
        people = _with(people, Person(sender, mark=theme.IDLE))
    known = people.get(to) or Person(to, mark=theme.IDLE)
    return _with(people, replace(known, unread=(*known.unread, id)))


def _holding(people: People, task: dict[str, Any]) -> People:
    id, owner = task.get("id"), str(task.get("owner") or "")
    if type(id) is not int:
        return people
    active = task.get("status") == "in_progress"
    for person in people.values():
        others = tuple(one for one in person.holds if one != id)
        holds = (*others, id) if active and person.name == owner else others
        if holds != person.holds:
            people = _with(people, replace(person, holds=holds))
    return people


def _with(people: People, person: Person) -> People:
    return people if people.get(person.name) == person else {**people, person.name: person}


_MARKS: dict[Any, theme.Mark] = {
    "working": theme.WORKING,
    "idle": theme.IDLE,
    "shutdown": theme.SHUTDOWN,
}


def drawn(people: People) -> list[Person]:
    """The agents to draw, at most ``MOST``.

    Args:
        people: all agents by name.
    """
    return list(people.values())[:MOST]


def status(person: Person) -> str:
    """The agent's status in a sentence.

    Args:
        person: the agent.
    """
    return "shut down" if person.mark is theme.SHUTDOWN else person.mark.word
