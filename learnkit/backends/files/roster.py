"""Who is in a team: name, role and status of each member."""

from __future__ import annotations

import math
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
from learnkit.backends.shared import Shared
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
    """The members of a team, in one value that threads and processes share.

    ``up`` says for how many seconds the members could have been heard, where a server may be away.
    """

    def __init__(
        self,
        place: Shared,
        team: str,
        now: Callable[[], datetime],
        up: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._place, self._now, self._up = place, now, up
        self._empty: dict[str, Any] = {"team_name": team, "version": VERSION, "members": []}

    @classmethod
    def at(
        cls, folder: Path, team: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> Roster:
        """Keep the members in ``config.json`` in a folder."""
        return cls(Document(folder / "config.json", _Config, stays=True), team, now)

    def members(self) -> list[Member]:
        members: list[Member] = self._place.read(self._empty)["members"]
        now, up = self._now(), self._up()
        for one in members:
            if heard := one.get("heard"):
                silent = (now - self._time(one, heard)).total_seconds()
                one["silent"] = _whole(silent)
                if up < silent:
                    one["up"] = _whole(up)
        return members

    def note(self, entry: Member, *, held_by: str | None = None) -> bool:
        def act(config: dict[str, Any]) -> bool:
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

        return self._place.update(act, self._empty)

    def beat(self, name: str, incarnation: str, where: str) -> bool:
        now = self._now()

        def act(config: dict[str, Any]) -> bool:
            for one in config["members"]:
                if one["name"] == name:
                    if one.get("incarnation") != incarnation:
                        return False
                    one.update(where=where, heard=now.isoformat())
                    return True
            known = ", ".join(one["name"] for one in config["members"]) or "none"
            raise ToolError(f"no member is called {name!r}; there are: {known}")

        return self._place.update(act, self._empty)

    def begin(self) -> None:
        def act(config: dict[str, Any]) -> None:
            for one in config["members"]:
                if "incarnation" not in one:
                    one["status"] = "shutdown"

        self._place.update(act, self._empty)

    def _time(self, member: Member, text: str) -> datetime:
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except ValueError:
            problem = f"says that {member['name']} was heard at {text!r}, which is no date"
            raise self._place.damaged(problem) from None


def _whole(seconds: float) -> str:
    """A time as a member's entry has it."""
    return str(max(0, int(seconds)))
