"""Everything of a team in the files of one folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from learnkit.backends.files.board import TaskBoard
from learnkit.backends.files.mailbox import Mailbox
from learnkit.backends.files.values import members_in, requests_in
from learnkit.backends.interface import Backend
from learnkit.backends.roster import Roster
from learnkit.backends.tracker import Tracker
from learnkit.runtime.workspace import STATE


class FilesBackend(Backend):
    """Teams in files that people can read: ``ROOT/.team`` and ``ROOT/.tasks``.

    In the state folder of a workspace, ``.learnkit``, they are ``team`` and ``tasks``. A team with
    another name than ``team`` has that name at the end of its folders'.
    """

    def __init__(
        self, root: str | Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.root, self._now = Path(root), now

    @property
    def address(self) -> str:
        return f"files:{self.root}"

    @property
    def has_clock(self) -> bool:
        return False

    def mail(self, team: str = "team") -> Mailbox:
        return Mailbox(self.folder(team) / "inbox")

    def board(self, team: str = "team") -> TaskBoard:
        return TaskBoard(self._named("tasks", team), self._now)

    def requests(self, team: str = "team") -> Tracker:
        return requests_in(self.folder(team), self._now)

    def roster(self, team: str = "team") -> Roster:
        return members_in(self.folder(team), team, self._now)

    def folder(self, team: str = "team") -> Path:
        """Return the folder of a team's messages and members."""
        return self._named("team", team)

    def close(self) -> None:
        """There is nothing to end."""

    def _named(self, what: str, team: str) -> Path:
        hidden = "" if self.root.name == STATE else "."
        return self.root / f"{hidden}{what}{'' if team == 'team' else f'-{team}'}"
