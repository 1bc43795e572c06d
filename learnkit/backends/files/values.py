"""The two small files of a team: its requests, and its members."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NotRequired  # pydantic wants this one before Python 3.12

from typing_extensions import TypedDict

from learnkit.backends.files.store import Document
from learnkit.backends.request import Kind, State
from learnkit.backends.roster import Roster
from learnkit.backends.tracker import Tracker


class _Request(TypedDict):
    """A request as the file has it; what is left out has its default."""

    id: str
    kind: Kind
    sender: str
    to: str
    content: str
    state: NotRequired[State]
    assignment: NotRequired[int]
    expires: NotRequired[str]
    note: NotRequired[str]


_Request.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]


class _Requests(TypedDict):
    version: NotRequired[int]
    next_id: int
    assignments: dict[str, int]
    requests: list[_Request]
    plan_required: NotRequired[bool]


class _Member(TypedDict):
    name: str
    role: str
    status: str
    incarnation: NotRequired[str]
    where: NotRequired[str]
    heard: NotRequired[str]


class _Members(TypedDict):
    team_name: str
    version: NotRequired[int]
    members: list[_Member]


def requests_in(folder: Path, now: Callable[[], datetime]) -> Tracker:
    """The requests in a team's folder, in ``requests.json``."""
    return Tracker(Document(folder / "requests.json", _Requests, stays=True), now)


def members_in(
    folder: Path, team: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Roster:
    """The members in a team's folder, in ``config.json``."""
    return Roster(Document(folder / "config.json", _Members, stays=True), team, now)
