"""The events of a team: who belongs to it, and what they do."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event


@event("team.spawned", lesson="s09", sentence="{name} joins the team as {role}: {prompt:quoted}.")
class TeamSpawned:
    """A teammate is made, and begins with its prompt."""

    name: str
    role: str = ""
    prompt: str = ""


@event(
    "team.joined",
    lesson="s09",
    sentence=lambda teammate: (
        f"{teammate.name} joins the team as {teammate.role}"
        f"{f', in a process on {teammate.where}' if teammate.where else ''}."
    ),
)
class TeamJoined:
    """A teammate in a process of its own joins the team."""

    name: str
    role: str = ""
    where: str = ""


@event(
    "team.lost",
    lesson="s09",
    sentence=lambda teammate: f"{teammate.name} has not been heard from for {teammate.seconds} s.",
)
class TeamLost:
    """A teammate in a process of its own has sent no beat for so long that it counts as gone."""

    name: str
    seconds: int = 0


@event(
    "team.stuck",
    lesson="s09",
    sentence="{name} cannot go on, and tries again: {problem}.",
)
class TeamStuck:
    """What keeps the team's state has refused something to a teammate, which tries it again."""

    name: str
    problem: str = ""


Status = Literal["working", "idle", "shutdown"]
_STATUSES = {"working": "working", "idle": "idle, and waits for mail", "shutdown": "shut down"}


@event(
    "team.status",
    lesson="s09",
    sentence=lambda teammate: f"{teammate.name} is {_STATUSES[teammate.status]}.",
)
class TeamStatus:
    """A teammate's status has changed."""

    name: str
    role: str = ""
    status: Status
