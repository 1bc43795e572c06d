"""Who is in a team: name, role and status of each member, in a file that a person can read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import (
    Any,
    NotRequired,  # pydantic wants this one before Python 3.12
)

from typing_extensions import TypedDict

from learnkit.backends.files.store import VERSION, Document
from learnkit.backends.interface import Member, RosterBackend
from learnkit.errors import ToolError


class _Entry(TypedDict):
    name: str
    role: str
    status: str
    incarnation: NotRequired[str]
    where: NotRequired[str]
    heard: NotRequired[str]


class _Config(TypedDict):
    team_name: str
    version: NotRequired[int]
    members: list[_Entry]


class Roster(RosterBackend):
    """The members of a team, in ``config.json``."""

    def __init__(
        self, folder: Path, team: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._file = Document(folder / "config.json", _Config, stays=True)
        self._empty: dict[str, Any] = {"team_name": team, "version": VERSION, "members": []}
        self._now = now

    def members(self) -> list[Member]:
        members: list[Member] = self._file.read(self._empty)["members"]
        for one in members:
            if heard := one.get("heard"):
                one["silent"] = silence((self._now() - self._time(one, heard)).total_seconds())
        return members

    def note(self, entry: Member, *, held_by: str | None = None) -> bool:
        with self._file.change(self._empty) as config:
            members = config["members"]
            for place, old in enumerate(members):
                if old["name"] == entry["name"]:
                    if held_by is not None and old.get("incarnation", "") != held_by:
                        return False
                    same = "incarnation" in entry and entry["incarnation"] == old.get("incarnation")
                    members[place] = {**old, **entry} if same else dict(entry)
                    return True
            if held_by is None:
                members.append(dict(entry))
            return held_by is None

    def beat(self, name: str, incarnation: str, where: str) -> bool:
        with self._file.change(self._empty) as config:
            for one in config["members"]:
                if one["name"] == name:
                    if one.get("incarnation") != incarnation:
                        return False
                    one.update(where=where, heard=self._now().isoformat())
                    return True
        raise no_member(name, [one["name"] for one in config["members"]])

    def begin(self) -> None:
        with self._file.change(self._empty) as config:
            for one in config["members"]:
                if "incarnation" not in one:
                    one["status"] = "shutdown"

    def _time(self, member: Member, text: str) -> datetime:
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except ValueError:
            problem = f"says that {member['name']} was heard at {text!r}, which is no date"
            raise self._file.damaged(problem) from None


def silence(seconds: float) -> str:
    """Return how long a member was not heard of, as its entry has it."""
    return str(max(0, int(seconds)))


def no_member(name: str, known: list[str]) -> ToolError:
    """Return the error for a name that no member has."""
    return ToolError(f"no member is called {name!r}; there are: {', '.join(known) or 'none'}")
