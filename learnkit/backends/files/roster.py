"""Who is in a team: name, role and status of each member, in a file that a person can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnkit.backends.files.store import Document

Member = dict[str, str]


class Roster:
    """The members of a team, in ``config.json``.

    Args:
        folder: of the team.
        team: its name.
    """

    def __init__(self, folder: Path, team: str) -> None:
        self._file = Document(folder / "config.json")
        self._empty: dict[str, Any] = {"team_name": team, "members": []}

    def members(self) -> list[Member]:
        """Return name, role and status of each member, in the order in which they joined."""
        members: list[Member] = self._file.read(self._empty)["members"]
        return members

    def note(self, entry: Member) -> None:
        """Add a member, or replace the entry with the same name.

        Args:
            entry: ``name``, ``role`` and ``status``.
        """
        with self._file.change(self._empty) as config:
            names = [one["name"] for one in config["members"]]
            if entry["name"] in names:
                config["members"][names.index(entry["name"])] = entry
            else:
                config["members"].append(entry)

    def begin(self) -> None:
        """Begin a new process: every member of an earlier one has shut down."""
        with self._file.change(self._empty) as config:
            for one in config["members"]:
                one["status"] = "shutdown"
