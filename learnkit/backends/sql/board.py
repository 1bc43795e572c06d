"""The task board in a database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from learnkit.backends import rules
from learnkit.backends.interface import BoardBackend
from learnkit.backends.news import News
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import (
    BATCH,
    COUNTERS,
    EDGES,
    OPEN,
    TASKS,
    batches,
    encoded,
    iso,
)
from learnkit.backends.task import Change, Changes, Task, checked
from learnkit.errors import extra

with extra("sql"):
    from sqlalchemy import (
        ColumnElement,
        Connection,
        Row,
        and_,
        case,
        delete,
        insert,
        or_,
        select,
        update,
    )


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
            values = {**_values(task), "description": task.description, "subject": task.subject}
            values |= {"team": self._team, "id": task.id, "tags": encoded(task.tags)}
            connection.execute(insert(TASKS).values(**values))
            return _stored(self._load(connection, [task.id]).values())

        return self._one(act)

    def get(self, id: int) -> Task:
        def act(connection: Connection) -> Task:
            if not (found := self._load(connection, [id])):
                raise self._unknown(connection, id)
            return found[id]

        return self._database.read(act)

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
        connects = bool(changes.add_blocked_by or changes.add_blocks)
        others = [*changes.add_blocked_by, *changes.add_blocks, *changes.remove_blocked_by]

        def act(connection: Connection) -> Stored:
            self._database.lock(connection, "board", self._team)
            old = self._near(connection, [id, *others], connects)
            tasks = dict(old)
            try:
                rules.change(tasks, id, changes)
            except rules.UnknownTask as error:  # it names only what was loaded
                raise self._unknown(connection, error.id) from None
            self._store(connection, old, tasks)
            return _stored(self._load(connection, [id]).values())

        return next(iter(self._written(act)), None)

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        rules.check_owner(owner)
        rules.check_lease(lease)

        def act(connection: Connection) -> Stored:
            self._database.lock(connection, "board", self._team)
            near = self._near(connection, [id], False)
            now = self._database.time_in(connection)
            claimed = rules.claimed(near, near[id], owner, incarnation, lease, now)
            self._store(connection, near, {**near, id: claimed})
            return _stored(self._load(connection, [id]).values())

        return self._one(act)

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        rules.check_lease(lease)
        renewal = update(TASKS).where(*self._held_by(owner, incarnation)).returning(TASKS.c.id)

        def act(connection: Connection) -> list[int]:
            end = self._database.now + lease
            # Never an earlier one: as for a board in files.
            until = case((TASKS.c.lease_until > end, TASKS.c.lease_until), else_=end)
            return sorted(connection.scalars(renewal.values(lease_until=until)))

        return self._database.change(act)

    def release(self, owner: str, incarnation: str) -> list[Task]:
        def act(connection: Connection) -> Stored:
            self._database.lock(connection, "board", self._team)
            held = self._load(connection, where=and_(*self._held_by(owner, incarnation)))
            free = rules.released(held.values(), owner, incarnation)
            self._store(connection, held, {task.id: task for task in free})
            return _stored(self._load(connection, held.keys()).values())

        return self._written(act)

    def open(self) -> None:
        self._news.open()

    def news(self) -> list[Change]:
        return self._news.since()

    def _one(self, act: Callable[[Connection], Stored]) -> Task:
        (task,) = self._written(act)
        return task

    def _written(self, act: Callable[[Connection], Stored]) -> list[Task]:
        return [Task.from_json(one) for one in self._database.write(act)]

    def _held_by(self, owner: str, incarnation: str) -> list[ColumnElement[bool]]:
        held = {"team": self._team, "status": "in_progress", "owner": owner}
        held["incarnation"] = incarnation
        return [OPEN, *(TASKS.c[key] == value for key, value in held.items())]

    def _load(
        self,
        connection: Connection,
        ids: Collection[int] | None = None,
        where: ColumnElement[bool] | None = None,
    ) -> dict[int, Task]:
        """Tasks by id: these, or those of a kind, or all."""
        wanted = select(TASKS).where(self._here)
        if where is not None:
            wanted = wanted.where(where)
        rows = list[Row[Any]]()
        if ids is None:
            rows.extend(connection.execute(wanted))
        for some in batches(sorted({*(ids or ())})):
            rows.extend(connection.execute(wanted.where(TASKS.c.id.in_(some))))
        rows.sort(key=lambda row: row.id)  # asked for the order, SQLite would read all by number
        before: dict[int, list[int]] = {row.id: [] for row in rows}
        after: dict[int, list[int]] = {row.id: [] for row in rows}
        for blocked, blocker in self._edges(connection, before.keys()):
            before.get(blocked, []).append(blocker)
            after.get(blocker, []).append(blocked)
        return {row.id: _task(row, before[row.id], after[row.id]) for row in rows}

    def _edges(self, connection: Connection, ids: Collection[int]) -> Iterator[tuple[int, int]]:
        """Who waits for whom, as far as it concerns these tasks."""
        edge = EDGES.c
        every = select(edge.blocked, edge.blocker).where(edge.team == self._team)
        # Each part by an index of its own: for one OR, SQLite would read all edges of the team.
        both = every.where(edge.blocked.in_(ids)).union(every.where(edge.blocker.in_(ids)))
        if ids:
            rows = connection.execute(both if len(ids) <= BATCH else every)
            yield from sorted((row.blocked, row.blocker) for row in rows)

    def _unknown(self, connection: Connection, id: int) -> rules.UnknownTask:
        known = select(TASKS.c.id).where(self._here)
        some = known.order_by(TASKS.c.id).limit(rules.NAMED + 1)
        return rules.UnknownTask(id, connection.scalars(some).all())

    def _near(self, connection: Connection, ids: Sequence[int], connect: bool) -> dict[int, Task]:
        """These tasks and their neighbours; to connect them, also all that waits for them.

        The first one must be there.
        """
        near = self._load(connection, ids)
        if ids[0] not in near:
            raise self._unknown(connection, ids[0])
        around = {id for task in near.values() for id in (*task.blocked_by, *task.blocks)}
        if connect:
            around |= self._downstream(connection, ids)
        return near | self._load(connection, around - near.keys())

    def _downstream(self, connection: Connection, ids: Sequence[int]) -> set[int]:
        """What waits for these tasks, directly or not."""
        edge = EDGES.c
        here = edge.team == self._team
        way = select(edge.blocked).where(here, edge.blocker.in_(ids)).cte(recursive=True)
        way = way.union(select(edge.blocked).where(here, edge.blocker == way.c.blocked))
        return set(connection.scalars(select(way.c.blocked)))

    def _store(self, connection: Connection, old: dict[int, Task], new: dict[int, Task]) -> None:
        """Write what is otherwise than it was."""
        edge, deleted = EDGES.c, old.keys() - new.keys()
        for id in deleted:
            connection.execute(delete(TASKS).where(self._here, TASKS.c.id == id))
            connection.execute(
                delete(EDGES).where(
                    edge.team == self._team, or_(edge.blocked == id, edge.blocker == id)
                )
            )
        for id, task in new.items():
            if task == old[id]:
                continue
            moved = update(TASKS).where(self._here, TASKS.c.id == id)
            connection.execute(moved.values(**_values(task)))
            was, now = {*old[id].blocked_by} - deleted, {*task.blocked_by}
            if no_more := was - now:
                connection.execute(
                    delete(EDGES).where(
                        edge.team == self._team, edge.blocked == id, edge.blocker.in_(no_more)
                    )
                )
            if more := [{"team": self._team, "blocked": id, "blocker": b} for b in now - was]:
                connection.execute(insert(EDGES), more)


def _stored(tasks: Iterable[Task]) -> Stored:
    return [task.to_json() for task in tasks]


def _values(task: Task) -> dict[str, Any]:
    """What of a task can change, by column."""
    names = ("status", "owner", "result_summary", "worktree", "token", "incarnation")
    until = datetime.fromisoformat(task.lease_until).timestamp() if task.lease_until else None
    return {**{name: getattr(task, name) for name in names}, "lease_until": until}


def _task(row: Row[Any], blocked_by: list[int], blocks: list[int]) -> Task:
    return Task(
        id=row.id,
        subject=row.subject,
        description=row.description,
        status=row.status,
        blocked_by=tuple(blocked_by),
        blocks=tuple(blocks),
        owner=row.owner,
        tags=tuple(json.loads(row.tags)),
        result_summary=row.result_summary,
        worktree=row.worktree,
        token=row.token,
        incarnation=row.incarnation,
        lease_until=iso(row.lease_until),
    )
