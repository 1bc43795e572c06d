"""Who is in a team: name, role and status of each member, in a file that a person can read."""

from __future__ import annotations

from pathlib import Path
from typing import (
    Any,
    NotRequired,  # pydantic wants this one before Python 3.12
)

from typing_extensions import TypedDict

from learnkit.backends.files.store import VERSION, Document
from learnkit.backends.interface import Member, RosterBackend


class _Entry(TypedDict):
    name: str
    role: str
    status: str


class _Config(TypedDict):
    team_name: str
    version: NotRequired[int]
    members: list[_Entry]


class Roster(RosterBackend):
    """The members of a team, in ``config.json``.

    Args:
        folder: of the team.
        team: its name.
    """

    def __init__(self, folder: Path, team: str) -> None:
        self._file = Document(folder / "config.json", _Config)
        self._empty: dict[str, Any] = {"team_name": team, "version": VERSION, "members": []}

    def members(self) -> list[Member]:
        members: list[Member] = self._file.read(self._empty)["members"]
        return members

    def note(self, entry: Member) -> None:
        with self._file.change(self._empty) as config:
            names = [one["name"] for one in config["members"]]
            if entry["name"] in names:
                config["members"][names.index(entry["name"])] = entry
            else:
                config["members"].append(entry)

    def begin(self) -> None:
        with self._file.change(self._empty) as config:
            for one in config["members"]:
                one["status"] = "shutdown"
