"""The requests of a team, and its members, in a database."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from learnkit.backends.files.roster import no_member, silence
from learnkit.backends.interface import Member, RequestBackend, RosterBackend
from learnkit.backends.request import (
    Answer,
    Kind,
    Request,
    answered,
    check_free,
    expired,
    unknown,
)
from learnkit.backends.sql.database import Database
from learnkit.backends.sql.tables import ASSIGNMENTS, MEMBERS, PLANS, REQUESTS, iso
from learnkit.errors import extra

with extra("sql"):
    from sqlalchemy import (
        Connection,
        Insert,
        Update,
        and_,
        case,
        insert,
        literal,
        select,
        update,
    )


class SqlRequests(RequestBackend):
    """The requests of a team. They are few, so each change holds the lock of all of them."""

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        asked = Request("", kind, sender, to, content)
        current = select(ASSIGNMENTS.c.number).where(
            ASSIGNMENTS.c.team == self._team, ASSIGNMENTS.c.teammate == asked.teammate
        )

        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            check_free(self._load(connection, teammate=asked.teammate, kind=kind), to)
            new = {
                "kind": kind,
                "sender": sender,
                "addressee": to,
                "teammate": asked.teammate,
                "content": content,
                "state": "pending",
                "assignment": connection.scalar(current) or 0,
                "expires": None if within is None else self._database.now + within,
                "note": "",
            }
            added = insert(REQUESTS).values(team=self._team, **new).returning(REQUESTS.c.number)
            return self._load(connection, number=connection.scalar(added))

        return self._one(act)

    def answer(self, id: str, by: str, state: Answer, note: str = "") -> Request:
        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            return self._put(connection, [answered(self._find(connection, id), by, state, note)])

        return self._one(act)

    def expire(self, id: str, why: str) -> Request | None:
        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            found = self._find(connection, id, late=False)
            return self._put(connection, expired([found], why))

        return next(iter(self._database.write(self._team, act, _request)), None)

    def expire_all(self, teammate: str, why: str) -> list[Request]:
        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            return self._put(connection, expired(self._load(connection, teammate=teammate), why))

        return self._database.write(self._team, act, _request)

    def assign(self, teammate: str) -> list[Request]:
        first = self._database.insert(ASSIGNMENTS).values(
            team=self._team, teammate=teammate, number=1
        )
        more = {"number": ASSIGNMENTS.c.number + 1}
        count = first.on_conflict_do_update(index_elements=["team", "teammate"], set_=more)

        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            connection.execute(count)
            ended = expired(
                self._load(connection, teammate=teammate), f"{teammate} has a new assignment"
            )
            return self._put(connection, ended)

        return self._database.write(self._team, act, _request)

    def get(self, id: str) -> Request:
        return self._database.read(lambda connection: self._find(connection, id))

    def all(self) -> list[Request]:
        return self._database.read(self._load)

    def current(self, teammate: str) -> Request | None:
        current = select(ASSIGNMENTS.c.number).where(
            ASSIGNMENTS.c.team == self._team, ASSIGNMENTS.c.teammate == teammate
        )

        def act(connection: Connection) -> list[Request]:
            assignment = connection.scalar(current) or 0
            return self._load(connection, teammate=teammate, kind="plan", assignment=assignment)

        plans = self._database.read(act)
        return plans[-1] if plans else None

    def require_plan(self, required: bool) -> None:
        new = self._database.insert(PLANS).values(team=self._team, required=int(required))
        said = new.on_conflict_do_update(index_elements=["team"], set_={"required": int(required)})
        self._database.change(lambda connection: connection.execute(said))

    def requires_plan(self) -> bool:
        wanted = select(PLANS.c.required).where(PLANS.c.team == self._team)
        return bool(self._database.read(lambda connection: connection.scalar(wanted)))

    def _lock(self, connection: Connection) -> None:
        self._database.lock(connection, "requests", self._team)

    def _one(self, act: Callable[[Connection], list[Request]]) -> Request:
        (request,) = self._database.write(self._team, act, _request)
        return request

    def _find(self, connection: Connection, id: str, late: bool = True) -> Request:
        number = int(id[1:]) if re.fullmatch("r[0-9]{7,15}", id) else 0
        for found in self._load(connection, late, number=number):
            return found
        last = select(REQUESTS.c.number).where(REQUESTS.c.team == self._team)
        some = connection.scalars(last.order_by(REQUESTS.c.number.desc()).limit(5)).all()
        raise unknown(id, list(map(_request_id, reversed(some))))

    def _load(self, connection: Connection, late: bool = True, **where: Any) -> list[Request]:
        """The requests with these values; with ``late``, one whose time is up counts as expired."""
        given = {"team": self._team, **where}
        wanted = select(REQUESTS, (REQUESTS.c.expires < self._database.now).label("over"))
        wanted = wanted.where(*(REQUESTS.c[key] == value for key, value in given.items()))
        found = []
        for row in connection.execute(wanted.order_by(REQUESTS.c.number)):
            state, note = row.state, row.note
            if late and state == "pending" and row.over:
                state, note = "expired", "not answered in time"
            texts = (_request_id(row.number), row.kind, row.sender, row.addressee, row.content)
            found.append(Request(*texts, state, row.assignment, iso(row.expires), note))
        return found

    def _put(self, connection: Connection, closed: Iterable[Request]) -> list[Request]:
        """Store what became of requests; returns them."""
        stored = []
        for one in closed:
            number = int(one.id[1:])
            ended = update(REQUESTS).where(REQUESTS.c.number == number)
            connection.execute(ended.values(state=one.state, note=one.note))
            stored += self._load(connection, number=number)
        return stored


def _request_id(number: int) -> str:
    return f"r{number:07}"


def _request(fields: dict[str, Any]) -> Request:
    return Request(**fields)


class SqlRoster(RosterBackend):
    """The members of a team."""

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team

    def members(self) -> list[Member]:
        member = MEMBERS.c
        silent = (self._database.now - member.heard).label("silent")
        up = self._database.up.label("up")
        wanted = (
            select(MEMBERS, silent, up).where(member.team == self._team).order_by(member.number)
        )
        found = []
        for row in self._database.read(lambda connection: connection.execute(wanted).all()):
            one = {"name": row.name, "role": row.role, "status": row.status}
            one |= {"incarnation": row.incarnation} if row.incarnation else {}
            if row.heard is not None:
                one |= {"where": row.place, "heard": iso(row.heard), "silent": silence(row.silent)}
                one |= {"up": silence(row.up)} if (row.up or row.silent) < row.silent else {}
            found.append(one)
        return found

    def note(self, entry: Member, *, held_by: str | None = None) -> bool:
        values = {"role": entry["role"], "status": entry["status"]}
        values["incarnation"] = entry.get("incarnation", "")
        same = and_(
            literal(values["incarnation"]) != "", MEMBERS.c.incarnation == values["incarnation"]
        )
        kept = {
            "place": case((same, MEMBERS.c.place), else_=""),
            "heard": case((same, MEMBERS.c.heard)),
        }
        noted: Insert | Update
        if held_by is None:
            first = {"team": self._team, "name": entry["name"], "place": ""}
            new = self._database.insert(MEMBERS).values(**first, **values)
            both = ["team", "name"]
            noted = new.on_conflict_do_update(index_elements=both, set_={**values, **kept})
        else:
            held = (MEMBERS.c.name == entry["name"], MEMBERS.c.incarnation == held_by)
            noted = update(MEMBERS).where(MEMBERS.c.team == self._team, *held)
            noted = noted.values(**values, **kept)
        noted = noted.returning(MEMBERS.c.number)
        return self._database.change(lambda connection: connection.scalar(noted) is not None)

    def beat(self, name: str, incarnation: str, where: str) -> bool:
        here = MEMBERS.c.team == self._team

        def act(connection: Connection) -> bool:
            mine = (MEMBERS.c.name == name, MEMBERS.c.incarnation == incarnation)
            beat = update(MEMBERS).where(here, *mine)
            if connection.execute(beat.values(place=where, heard=self._database.now)).rowcount:
                return True
            wanted = select(MEMBERS.c.name).where(here).order_by(MEMBERS.c.number)
            known = list(connection.scalars(wanted))
            if name not in known:
                raise no_member(name, known)
            return False

        return self._database.change(act)

    def begin(self) -> None:
        local = (MEMBERS.c.team == self._team, MEMBERS.c.incarnation == "")
        ended = update(MEMBERS).where(*local).values(status="shutdown")
        self._database.change(lambda connection: connection.execute(ended))
