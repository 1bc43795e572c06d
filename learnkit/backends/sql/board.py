"""The task board in a database: a row for each task, with the task as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from learnkit.backends.board import Board, Rule, Which
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import COUNTERS, OPEN, TASKS, encoded
from learnkit.backends.task import Task, checked
from learnkit.errors import extra

with extra("sql"):
    from sqlalchemy import ColumnElement, Connection, delete, insert, select, update


class SqlBoard(Board):
    """The tasks of a team.

    A change holds the board's lock, since what it decides on (a blocker that is completed, a task
    that has not begun) must not change meanwhile.
    """

    def __init__(self, database: Database, team: str) -> None:
        super().__init__()
        self._database, self._team = database, team
        self._here = TASKS.c.team == team

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        new = checked(Task(0, subject, description, tags=tuple(tags)))
        first = self._database.insert(COUNTERS).values(team=self._team, last=1)
        more = {"last": COUNTERS.c.last + 1}
        count = first.on_conflict_do_update(index_elements=["team"], set_=more)

        def act(connection: Connection) -> int:
            id: int = connection.scalars(count.returning(COUNTERS.c.last)).one()
            values = _values(replace(new, id=id))
            connection.execute(insert(TASKS).values(team=self._team, id=id, **values))
            return id

        return replace(new, id=self._database.write(act))

    def _read(self, which: Which, rule: Rule) -> list[Task]:
        def act(connection: Connection) -> list[Task]:
            return rule(self._load(connection, which), self._database.time_in(connection))

        return self._database.read(act)

    def _changed(self, which: Which, rule: Rule, *, repeatable: bool = False) -> list[Task]:
        def act(connection: Connection) -> list[dict[str, Any]]:
            self._database.lock(connection, "board", self._team)
            old = self._load(connection, which)
            tasks = dict(old)
            result = rule(tasks, self._database.time_in(connection))
            self._store(connection, old, tasks)
            return [task.to_json() for task in result]

        write = self._database.change if repeatable else self._database.write
        return [Task.from_json(one) for one in write(act)]

    def _load(self, connection: Connection, which: Which) -> dict[int, Task]:
        near: set[int] = set()
        if isinstance(which, int) and (tasks := self._select(connection, TASKS.c.id == which)):
            near = {*tasks[which].blocked_by, *tasks[which].blocks}
        elif which == "open":
            tasks = self._select(connection, OPEN)
            near = {id for task in tasks.values() for id in task.blocked_by}
        else:
            tasks = self._select(connection)
        if near:
            tasks |= self._select(connection, TASKS.c.id.in_(near - tasks.keys()))
        return tasks

    def _select(self, connection: Connection, *where: ColumnElement[bool]) -> dict[int, Task]:
        texts = connection.scalars(select(TASKS.c.value).where(self._here, *where))
        tasks = {task.id: task for task in map(Task.from_json, map(json.loads, texts))}
        return dict(sorted(tasks.items()))  # asked for the order, SQLite would read all by number

    def _store(self, connection: Connection, old: dict[int, Task], new: dict[int, Task]) -> None:
        """Write what is otherwise than it was."""
        for id in old.keys() - new.keys():
            connection.execute(delete(TASKS).where(self._here, TASKS.c.id == id))
        for id, task in new.items():
            if task != old[id]:
                changed = update(TASKS).where(self._here, TASKS.c.id == id)
                connection.execute(changed.values(**_values(task)))


def _values(task: Task) -> dict[str, str]:
    return {"status": task.status, "value": encoded(task.to_json())}
