"""Teams in a database."""

from __future__ import annotations

from learnkit.backends.interface import Backend
from learnkit.backends.roster import Roster
from learnkit.backends.sql.board import SqlBoard
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.mail import SqlMail
from learnkit.backends.sql.shared_value import SqlValue
from learnkit.backends.tracker import Tracker


class SqlBackend(Backend):
    """Teams in a database; see :func:`learnkit.open_backend`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def address(self) -> str:
        return self._database.address

    @property
    def has_clock(self) -> bool:
        return self._database.remote

    def mail(self, team: str = "team") -> SqlMail:
        return SqlMail(self._database, team)

    def board(self, team: str = "team") -> SqlBoard:
        return SqlBoard(self._database, team)

    def requests(self, team: str = "team") -> Tracker:
        return Tracker(SqlValue(self._database, team, "requests"), self._database.time)

    def roster(self, team: str = "team") -> Roster:
        members = SqlValue(self._database, team, "members")
        return Roster(members, team, self._database.time, self._database.up)

    def close(self) -> None:
        self._database.close()
