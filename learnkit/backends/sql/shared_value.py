"""A JSON value in a row, as ``files.store.Document`` keeps one in a file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, TypeVar

from learnkit.backends.shared import Shared
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import VALUES, encoded
from learnkit.errors import UsageError, extra

with extra("sql"):
    from sqlalchemy import Connection, select

T = TypeVar("T")


class SqlValue(Shared):
    """A value of a team."""

    def __init__(self, database: Database, team: str, name: str) -> None:
        self._database, self._team, self._name = database, team, name

    def read(self, default: Any = None) -> Any:
        return self._database.read(lambda connection: self._stored(connection, default))

    def update(
        self, act: Callable[[Any], T], default: Any = None, *, repeatable: bool = False
    ) -> T:
        def change(connection: Connection) -> T:
            self._database.lock(connection, self._name, self._team)
            value = self._stored(connection, default)
            result = act(value)
            text = encoded(value)
            new = self._database.insert(VALUES).values(team=self._team, name=self._name, value=text)
            both = ["team", "name"]
            connection.execute(new.on_conflict_do_update(index_elements=both, set_={"value": text}))
            return result

        write = self._database.change if repeatable else self._database.write
        return write(change)

    def damaged(self, problem: str) -> UsageError:
        place = f"{self._name} of team {self._team} in {self._database.address}"
        return UsageError(f"{place} {problem}; mend it")

    def _stored(self, connection: Connection, default: Any) -> Any:
        here = (VALUES.c.team == self._team, VALUES.c.name == self._name)
        text = connection.scalar(select(VALUES.c.value).where(*here))
        return copy.deepcopy(default) if text is None else json.loads(text)
