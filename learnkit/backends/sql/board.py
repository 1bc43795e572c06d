"""The task board in a database: a row for each task, with the task as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from learnkit.backends import rules
from learnkit.backends.interface import BoardBackend
from learnkit.backends.news import News
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import COUNTERS, OPEN, TASKS, batches, encoded
from learnkit.backends.task import Change, Changes, Task, checked
from learnkit.errors import extra

with extra("sql"):
    from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

#: Tasks as JSON.
Stored = list[dict[str, Any]]


class SqlBoard(BoardBackend):
    """The tasks of a team.

    A change holds the board's lock, since what it decides on (a blocker that is completed, a task
    that has not begun) must not change meanwhile.
    """

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team
        self._here = TASKS.c.team == team
        self._news = News(self.tasks)

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        new = checked(Task(0, subject, description, tags=tuple(tags)))
        first = self._database.insert(COUNTERS).values(team=self._team, last=1)
        more = {"last": COUNTERS.c.last + 1}
        count = first.on_conflict_do_update(index_elements=["team"], set_=more)

        def act(connection: Connection) -> Stored:
            task = replace(new, id=connection.scalar(count.returning(COUNTERS.c.last)))
            row = insert(TASKS).values(team=self._team, id=task.id, **_values(task))
            connection.execute(row)
            return [task.to_json()]

        return self._written(act)[0]

    def get(self, id: int) -> Task:
        return self._database.read(lambda connection: self._find(connection, id))

    def tasks(self) -> list[Task]:
        return list(self._database.read(self._load).values())

    def ready(self) -> list[Task]:
        def act(connection: Connection) -> list[Task]:
            tasks = self._load(connection, where=OPEN)
            waited_for = {id for task in tasks.values() for id in task.blocked_by}
            near = tasks | self._load(connection, waited_for - tasks.keys())
            now = self._database.time_in(connection)
            return [task for task in tasks.values() if rules.can_be_claimed(task, near, now)]

        return self._database.read(act)

    def change(self, id: int, changes: Changes) -> Task | None:
        connects = changes.add_blocked_by or changes.add_blocks or changes.remove_blocked_by

        def act(connection: Connection) -> Stored:
            self._lock(connection)
            old = self._load(connection) if connects else self._near(connection, id)
            tasks = dict(old)
            rules.change(tasks, id, changes)
            self._store(connection, old, tasks)
            return [tasks[id].to_json()] if id in tasks else []

        return next(iter(self._written(act)), None)

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        rules.check_owner(owner)
        rules.check_lease(lease)

        def act(connection: Connection) -> Stored:
            self._lock(connection)
            near = self._near(connection, id)
            now = self._database.time_in(connection)
            claimed = rules.claimed(near, near[id], owner, incarnation, lease, now)
            self._store(connection, near, {**near, id: claimed})
            return [claimed.to_json()]

        return self._written(act)[0]

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        rules.check_lease(lease)
        renewed = self._database.change(  # which may happen twice
            self._changing(lambda tasks, now: rules.renewed(tasks, owner, incarnation, lease, now))
        )
        return [task["id"] for task in renewed]

    def release(self, owner: str, incarnation: str) -> list[Task]:
        return self._written(
            self._changing(lambda tasks, now: rules.released(tasks, owner, incarnation))
        )

    def open(self) -> None:
        self._news.open()

    def news(self) -> list[Change]:
        return self._news.since()

    def _changing(
        self, change: Callable[[Iterable[Task], datetime], list[Task]]
    ) -> Callable[[Connection], Stored]:
        """What replaces those tasks that ``change`` returns of the ones that are not done."""

        def act(connection: Connection) -> Stored:
            self._lock(connection)
            old = self._load(connection, where=OPEN)
            changed = change(old.values(), self._database.time_in(connection))
            self._store(connection, old, {**old, **{task.id: task for task in changed}})
            return [task.to_json() for task in changed]

        return act

    def _written(self, act: Callable[[Connection], Stored]) -> list[Task]:
        return [Task.from_json(one) for one in self._database.write(act)]

    def _lock(self, connection: Connection) -> None:
        self._database.lock(connection, "board", self._team)

    def _load(
        self,
        connection: Connection,
        ids: Collection[int] | None = None,
        where: ColumnElement[bool] | None = None,
    ) -> dict[int, Task]:
        """Tasks by id: these, or those of a kind, or all."""
        wanted = select(TASKS.c.value).where(self._here)
        if where is not None:
            wanted = wanted.where(where)
        parts = [wanted]
        if ids is not None:
            parts = [wanted.where(TASKS.c.id.in_(some)) for some in batches(sorted(ids))]
        texts = (text for part in parts for text in connection.scalars(part))
        tasks = {task.id: task for task in map(Task.from_json, map(json.loads, texts))}
        return dict(sorted(tasks.items()))  # asked for the order, SQLite would read all by number

    def _find(self, connection: Connection, id: int) -> Task:
        if found := self._load(connection, [id]):
            return found[id]
        known = select(TASKS.c.id).where(self._here).order_by(TASKS.c.id)
        raise rules.unknown(id, connection.scalars(known.limit(rules.NAMED + 1)).all())

    def _near(self, connection: Connection, id: int) -> dict[int, Task]:
        """A task with all that it waits for and that wait for it."""
        task = self._find(connection, id)
        return {id: task} | self._load(connection, {*task.blocked_by, *task.blocks})

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
