"""The agents of a team: each with its role, its status, its unread messages and its tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from learnkit.events.log import Event
from learnkit.events.loop import RunEnded, RunStarted
from learnkit.events.mail import MailData, MailRead, MailSent
from learnkit.events.tasks import TaskData, TaskEvent
from learnkit.events.teams import TeamJoined, TeamLost, TeamSpawned, TeamStatus
from learnkit.events.vocabulary import read
from learnkit.views.drawing import theme

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
        where: where it lives, if that is a process of its own.
        lost: whether it was not heard from for too long.
    """

    name: str
    role: str = ""
    mark: theme.Mark = theme.WORKING
    unread: tuple[str, ...] = ()
    holds: tuple[int, ...] = ()
    where: str = ""
    lost: bool = False

    @property
    def said(self) -> str:
        """Its status, tasks and unread messages in words."""
        doing = status(self)
        parts = [f"{doing} on {self.where}" if self.where else doing]
        if self.holds:
            parts.append(f"at {', '.join(f'#{id}' for id in self.holds)}")
        if self.unread:
            parts.append(f"{len(self.unread)} unread")
        return ", ".join(parts)


People = dict[str, Person]


def grown(people: People, event: Event) -> People:
    """The agents after one more event; the same object if nothing has changed."""
    match read(event):
        case RunStarted():
            return _run(people, event.lane, theme.WORKING)
        case RunEnded():
            return _run(people, event.lane, theme.IDLE)
        case TeamSpawned(name=name, role=role):
            return _now(people, name, role=role)
        case TeamStatus(name=name, role=role, status=status):
            return _now(people, name, role=role, mark=theme.MARKS[status], lost=False)
        case TeamJoined(name=name, role=role, where=where):
            return _now(people, name, role=role, where=where, mark=theme.IDLE, lost=False)
        case TeamLost(name=name) if name in people:
            return _now(people, name, mark=theme.SHUTDOWN, lost=True)
        case MailSent(mail=mail):
            return _sent(people, mail)
        case MailRead(by=by, ids=ids) if reader := people.get(by):
            left = tuple(id for id in reader.unread if id not in ids)
            return _with(people, replace(reader, unread=left))
        case TaskEvent(task=task):
            return _holding(people, task)
    return people


def _run(people: People, lane: str, mark: theme.Mark) -> People:
    """The agents after a run has begun or ended; the first to run leads."""
    one = people.get(lane) or Person(lane, "" if people else "leads")
    if "." in lane:  # a subagent ends before anyone could write to it
        return people
    if one.role != "leads" and lane in people:  # a teammate's status comes with team.status
        return people
    return _with(people, replace(one, mark=mark))


def _sent(people: People, mail: MailData) -> People:
    if mail.sender not in people:
        people = _with(people, Person(mail.sender, mark=theme.IDLE))
    known = people.get(mail.to) or Person(mail.to, mark=theme.IDLE)
    return _with(people, replace(known, unread=(*known.unread, mail.id)))


def _holding(people: People, task: TaskData) -> People:
    active = task.status == "in_progress"
    for person in people.values():
        others = tuple(one for one in person.holds if one != task.id)
        holds = (*others, task.id) if active and person.name == task.owner else others
        if holds != person.holds:
            people = _with(people, replace(person, holds=holds))
    return people


def _now(people: People, name: str, **known: Any) -> People:
    """The agents, of which one, who may be new, has changed."""
    return _with(people, replace(people.get(name) or Person(name), **known))


def _with(people: People, person: Person) -> People:
    return people if people.get(person.name) == person else {**people, person.name: person}


def drawn(people: People) -> list[Person]:
    """The agents to draw, at most ``MOST``."""
    return list(people.values())[:MOST]


def end_of(lost: bool, mark: str) -> tuple[str, str, str]:
    """Path, mark and style of the end of a lifeline: a cross where its agent was lost."""
    if lost:
        return "M-5 -5L5 5M5 -5L-5 5", theme.FAILED.key, "w"
    return "M-5 -5h10v10h-10z", mark, "f"


def status(person: Person) -> str:
    """The agent's status in a sentence."""
    if person.lost:
        return "not heard from"
    return "shut down" if person.mark is theme.SHUTDOWN else person.mark.word
