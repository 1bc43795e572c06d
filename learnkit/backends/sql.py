"""A team's state in a database: PostgreSQL for several machines, SQLite for one.

Both keep the promises of ``interface`` with the same statements. A reader selects the messages that
are not done, and never those after the last one it has seen: transactions become visible in another
order than they got their numbers in. A claim is one conditional statement. What a call changes, it
changes in one transaction, and each transaction notes the call's key: after a broken connection a
call can find out whether it has happened, so nothing is lost or done twice.

This module needs an extra, ``learnkit[sql]`` or ``learnkit[postgres]``.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, Literal, Protocol, TypeVar

from learnkit.backends import rules
from learnkit.backends.files.roster import no_member, silence
from learnkit.backends.interface import (
    Backend,
    BoardBackend,
    InboxReader,
    MailBackend,
    Member,
    RequestBackend,
    RosterBackend,
)
from learnkit.backends.mail import Mail, Type, checked_content, checked_name
from learnkit.backends.request import Answer, Kind, Request, may
from learnkit.backends.task import Change, Status, Task, checked
from learnkit.backends.watch import EVERY, Wait, in_thread, looking
from learnkit.errors import ToolError, UsageError, extra

with extra("sql"):
    from sqlalchemy import (
        BigInteger,
        ColumnElement,
        Connection,
        Double,
        Engine,
        Identity,
        Index,
        Insert,
        Integer,
        MetaData,
        Row,
        SmallInteger,
        Table,
        Text,
        Update,
        and_,
        case,
        cast,
        create_engine,
        delete,
        event,
        exists,
        extract,
        func,
        insert,
        inspect,
        literal,
        literal_column,
        or_,
        select,
        update,
    )
    from sqlalchemy import Column as Col
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.engine import URL
    from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
    from sqlalchemy.types import TypeDecorator

#: Version of the tables.
VERSION = 1

#: Seconds for which the key of a call is kept.
_KEPT = 86_400.0

#: Ids that one statement names.
_BATCH = 500

#: What no waiting mends: the address, the user or the rights are wrong.
_FINAL = re.compile(
    r"authentication failed|does not exist|no pg_hba\.conf entry|permission denied|"
    r"no password supplied|could not translate host name|failed to resolve host|unable to open"
)

#: Seconds after which a thread that listens looks whether it is to end.
_PATIENCE = 0.5

#: The channel on which PostgreSQL tells whose state has changed.
_CHANNEL = "learnkit"

#: The first of the two numbers of PostgreSQL's advisory locks, so that they are ours: "lkit".
_LOCKS = 0x6C6B6974


class _Text(TypeDecorator[str]):
    """Any text that Python can hold: PostgreSQL stores no NUL, and neither one half a character."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Any) -> str | None:
        if value is None:
            return None
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


_META = MetaData()
_NUMBER = BigInteger().with_variant(Integer, "sqlite")


def _table(name: str, *columns: Any) -> Table:
    return Table(f"learnkit_{name}", _META, *columns, sqlite_autoincrement=True)


_META_DATA = _table("meta", Col("name", _Text, primary_key=True), Col("value", Integer))
_CALLS = _table(
    "calls",
    Col("key", _Text, primary_key=True),
    Col("result", _Text, nullable=False),
    Col("at", Double, nullable=False, index=True),
)
_COUNTERS = _table(
    "counters", Col("team", _Text, primary_key=True), Col("last", Integer, nullable=False)
)
_INBOXES = _table(
    "inboxes", Col("team", _Text, primary_key=True), Col("name", _Text, primary_key=True)
)
_MAIL = _table(
    "mail",
    Col("number", _NUMBER, Identity(), primary_key=True),
    Col("team", _Text, nullable=False),
    Col("inbox", _Text, nullable=False),
    Col("sender", _Text, nullable=False),
    Col("type", _Text, nullable=False),
    Col("content", _Text, nullable=False),
    Col("sent", Double, nullable=False),
    Col("more", _Text, nullable=False),
    Col("done", SmallInteger, nullable=False),
)
_NEW = _MAIL.c.done == literal_column("0")
Index(
    "learnkit_mail_new",
    *(_MAIL.c.team, _MAIL.c.inbox, _MAIL.c.number),
    postgresql_where=_NEW,
    sqlite_where=_NEW,
)
_TASKS = _table(
    "tasks",
    Col("team", _Text, primary_key=True),
    Col("id", Integer, primary_key=True, autoincrement=False),
    Col("subject", _Text, nullable=False),
    Col("description", _Text, nullable=False),
    Col("status", _Text, nullable=False),
    Col("owner", _Text, nullable=False),
    Col("tags", _Text, nullable=False),
    Col("result_summary", _Text, nullable=False),
    Col("worktree", _Text, nullable=False),
    Col("token", Integer, nullable=False),
    Col("incarnation", _Text, nullable=False),
    Col("lease_until", Double),
    Col("version", Integer, nullable=False),  # rises with each change, but not when renewed
)
#: What may be claimed or is held: few, however many are done. The text is that of the index.
_OPEN = _TASKS.c.status.in_([literal_column("'pending'"), literal_column("'in_progress'")])
Index(
    "learnkit_tasks_open",
    *(_TASKS.c.team, _TASKS.c.id),
    postgresql_where=_OPEN,
    sqlite_where=_OPEN,
)
_EDGES = _table(
    "edges",
    Col("team", _Text, primary_key=True),
    Col("blocked", Integer, primary_key=True),
    Col("blocker", Integer, primary_key=True),
    Index("learnkit_edges_blocker", "team", "blocker"),
)
_REQUESTS = _table(
    "requests",
    Col("number", _NUMBER, Identity(), primary_key=True),
    Col("team", _Text, nullable=False),
    Col("kind", _Text, nullable=False),
    Col("sender", _Text, nullable=False),
    Col("addressee", _Text, nullable=False),
    Col("mate", _Text, nullable=False),
    Col("content", _Text, nullable=False),
    Col("state", _Text, nullable=False),
    Col("assignment", Integer, nullable=False),
    Col("expires", Double),
    Col("note", _Text, nullable=False),
    Index("learnkit_requests_mate", "team", "mate"),
)
_ASSIGNMENTS = _table(
    "assignments",
    Col("team", _Text, primary_key=True),
    Col("mate", _Text, primary_key=True),
    Col("number", Integer, nullable=False),
)
_PLANS = _table(  # who needs an approved plan; without a name: all others
    "plans",
    Col("team", _Text, primary_key=True),
    Col("name", _Text, primary_key=True),
    Col("role", _Text, primary_key=True),
    Col("required", SmallInteger, nullable=False),
)
_MEMBERS = _table(
    "members",
    Col("number", _NUMBER, Identity(), primary_key=True),
    Col("team", _Text, nullable=False),
    Col("name", _Text, nullable=False),
    Col("role", _Text, nullable=False),
    Col("status", _Text, nullable=False),
    Col("incarnation", _Text, nullable=False),
    Col("place", _Text, nullable=False),
    Col("heard", Double),
    Index("learnkit_members_name", "team", "name", unique=True),
)


class _Stored(Protocol):
    def to_json(self) -> dict[str, Any]: ...


T = TypeVar("T")
S = TypeVar("S", bound=_Stored)


class Database:
    """Connections to a database, and transactions that outlive a broken one.

    Args:
        url: of the database.
        now: the date and time, for SQLite; PostgreSQL has its own clock.
        patience: seconds for which a call waits for a database that is away or busy.
    """

    def __init__(self, url: URL, now: Callable[[], datetime], patience: float) -> None:
        self.remote = url.get_backend_name() == "postgresql"
        self.address = _address(url)
        self.patience = patience
        self._now = now
        self._engine = _postgres(url, patience) if self.remote else _sqlite(url, patience)
        # PostgreSQL reads everything as it was when the first statement began; SQLite always does.
        options: dict[str, Any] = {"isolation_level": "REPEATABLE READ"} if self.remote else {}
        self._reader = self._engine.execution_options(**options)
        self._writer = self._engine.execution_options(learnkit_writes=True)
        self.insert = postgresql.insert if self.remote else sqlite.insert

    @property
    def now(self) -> ColumnElement[float]:
        """The time in seconds since 1970, as an expression of SQL."""
        if self.remote:
            return cast(extract("epoch", func.statement_timestamp()), Double)
        return literal(self._now().timestamp(), Double)

    def read(self, act: Callable[[Connection], T]) -> T:
        """Return what a function reads, all of it as it was at one moment.

        Args:
            act: gets a connection; it may be called again after a failure.

        Raises:
            OSError: if the database stays away.
        """
        return self._patiently(act, writes=False)

    def write(
        self,
        team: str,
        act: Callable[[Connection], Sequence[S]],
        stored: Callable[[dict[str, Any]], S | None],
    ) -> list[S]:
        """Let a function change something, in one transaction, and exactly once.

        Args:
            team: that is told of it.
            act: gets a connection; it is called again when nothing of its change has come to pass.
            stored: makes one of its results anew from what its ``to_json`` returns.

        Returns:
            What ``act`` returned.

        Raises:
            OSError: if the database stays away.
        """
        key = uuid.uuid4().hex
        tries = 0

        def once(connection: Connection) -> list[S]:
            nonlocal tries
            tries += 1
            if tries > 1 and self.remote:  # the last commit may have come to pass, unheard
                known = select(_CALLS.c.result).where(_CALLS.c.key == key)
                if (text := connection.scalar(known)) is not None:
                    return [one for one in map(stored, json.loads(text)) if one is not None]
            results = list(act(connection))
            if self.remote:  # of a file on this machine it is known
                noted = json.dumps([one.to_json() for one in results])
                note = insert(_CALLS).values(key=key, result=noted, at=self.now)
                connection.execute(note.returning(func.pg_notify(_CHANNEL, team)))
            return results

        return self._patiently(once, writes=True)

    def change(self, act: Callable[[Connection], T]) -> T:
        """Let a function change something that may happen twice, as a beat may.

        Args:
            act: gets a connection; it is called again after a failure.

        Returns:
            What it returned.

        Raises:
            OSError: if the database stays away.
        """
        return self._patiently(act, writes=True)

    def lock(self, connection: Connection, what: str, team: str, *, shared: bool = False) -> None:
        """Hold a lock until the end of the transaction.

        SQLite lets only one transaction write at a time, and needs none.

        Args:
            connection: in a transaction.
            what: is locked, such as ``board``.
            team: whose it is.
            shared: others may hold it too, but not while one holds it alone.
        """
        if self.remote:
            number = zlib.crc32(f"{what}:{team}".encode()) - 2**31
            take = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
            connection.execute(select(take(_LOCKS, number)))

    def create(self) -> None:
        """Make the tables, if they are not there.

        Raises:
            UsageError: if a newer learnkit has made them.
            OSError: if the database is away, or does not allow it.
        """

        def act(connection: Connection) -> None:
            self.lock(connection, "tables", "")
            if not inspect(connection).has_table(_META_DATA.name):
                _META.create_all(connection)
                connection.execute(insert(_META_DATA).values(name="version", value=VERSION))

        self.change(act)
        self.check()

    def check(self) -> None:
        """Make sure that the tables are there, and are the ones that this version knows.

        Raises:
            UsageError: if not; it says what to do.
            OSError: if the database is away.
        """

        def act(connection: Connection) -> int | None:
            if not inspect(connection).has_table(_META_DATA.name):
                return None
            wanted = select(_META_DATA.c.value).where(_META_DATA.c.name == "version")
            return connection.scalar(wanted)

        version = self.read(act)
        if version is None:
            raise UsageError(
                f"{self.address} has no tables for learnkit yet; make them once: learnkit backend "
                "init URL, with the same address"
            )
        if version > VERSION:
            raise UsageError(
                f"the tables in {self.address} were made by a newer learnkit: they have version "
                f"{version}, and this one knows {VERSION}. Upgrade learnkit."
            )
        old = delete(_CALLS).where(_CALLS.c.at < self.now - _KEPT)
        self.change(lambda connection: connection.execute(old))

    def watch(self, team: str, changed: Callable[[], object]) -> Callable[[], None]:
        """Call a function after the changes of a team, and every few seconds.

        Args:
            team: its name.
            changed: is called, from a thread of its own.

        Returns:
            What ends it.
        """
        if not self.remote:
            return looking(changed)

        _, settings = self._engine.dialect.create_connect_args(self._engine.url)
        listen = partial(_listen, settings, team, changed)
        return in_thread("listen for changes", listen)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _patiently(self, act: Callable[[Connection], T], *, writes: bool) -> T:
        """Run a transaction, again and again while the database is away or in the way."""
        engine = self._writer if writes else self._reader
        end, pause = time.monotonic() + self.patience, 0.02
        while True:
            try:
                with engine.begin() as connection:
                    return act(connection)
            except SQLAlchemyError as error:
                problem = _first_line(error)
                passes = self.remote and _passes(error, problem)
                if not passes or time.monotonic() + pause > end:
                    raise OSError(self._report(problem, passes)) from None
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, 1.0)

    def _report(self, problem: str, passes: bool) -> str:
        if passes:
            waited = f"has not answered for {self.patience:g} s"
            return f"the database {self.address} {waited} ({problem}); try again later"
        return f"the database {self.address} cannot do this: {problem}"


def _postgres(url: URL, patience: float) -> Engine:
    ours = {
        "connect_timeout": 5,
        # A connection that was cut without a word is noticed within half a minute.
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,
        "application_name": "learnkit",
    }
    engine = create_engine(
        url,
        max_overflow=20,
        pool_timeout=patience,
        hide_parameters=True,
        connect_args={name: value for name, value in ours.items() if name not in url.query},
    )

    @event.listens_for(engine, "connect")
    def begin(connection: Any, record: Any) -> None:
        """A transaction whose client has died holds no lock for long, and none waits for ever."""
        limit = max(1000, int(1000 * patience))
        connection.execute(f"SET statement_timeout = {limit}")
        connection.execute(f"SET idle_in_transaction_session_timeout = {limit}")
        connection.commit()

    return engine


def _sqlite(url: URL, patience: float) -> Engine:
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": patience})

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("learnkit_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _listen(
    settings: Mapping[str, Any], team: str, changed: Callable[[], object], wait: Wait
) -> None:
    """Call a function after each notification for a team, until the thread is to end.

    psycopg lends a connection to nobody else while it listens, so this has one of its own.
    """
    with extra("postgres"):
        import psycopg
    while not wait(0):
        try:
            with psycopg.connect(**settings, autocommit=True) as connection:
                connection.execute(f"LISTEN {_CHANNEL}")
                silent = EVERY  # what has changed before this is not told
                while not wait(0):
                    if silent >= EVERY:
                        silent = 0.0
                        changed()
                    told = connection.notifies(timeout=_PATIENCE, stop_after=1)
                    ours = team in [one.payload for one in told]
                    silent = EVERY if ours else silent + _PATIENCE
        except psycopg.OperationalError:  # the server is away: until it is back, look
            changed()
            wait(1.0)


def _address(url: URL) -> str:
    """Where a database is, without what only its user may know."""
    if url.host is None and not url.drivername.startswith("postgresql"):
        return f"{url.drivername}:///{url.database}"
    port = f":{url.port}" if url.port else ""
    return f"{url.drivername}://{url.host or ''}{port}/{url.database or ''}"


def _first_line(error: SQLAlchemyError) -> str:
    """What the database says, on one line: SQLAlchemy would add the statement."""
    said = error.orig if isinstance(error, DBAPIError) and error.orig else error
    lines = str(said).strip().splitlines()
    return lines[0] if lines else type(said).__name__


def _passes(error: SQLAlchemyError, problem: str) -> bool:
    """Whether it may be otherwise a moment later."""
    if isinstance(error, IntegrityError):
        return True  # another call was faster
    if not isinstance(error, DBAPIError) or error.connection_invalidated:
        return True  # no connection is free, or this one is broken
    if _FINAL.search(problem):
        return False
    state = getattr(error.orig, "sqlstate", None)
    # No connection at all; then: connection, rollback (deadlocks), resources, operator (shut down).
    return state is None or state[:2] in ("08", "40", "53", "55", "57")


class SqlBackend(Backend):
    """Teams in a database; see :func:`learnkit.open_backend`.

    Args:
        database: with its tables.
    """

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

    def requests(self, team: str = "team") -> SqlRequests:
        return SqlRequests(self._database, team)

    def roster(self, team: str = "team") -> SqlRoster:
        return SqlRoster(self._database, team)

    def watch(self, team: str, changed: Callable[[], object]) -> Callable[[], None]:
        return self._database.watch(team, changed)

    def close(self) -> None:
        self._database.close()

    def __repr__(self) -> str:
        return f"<SqlBackend {self.address}>"


class SqlMail(MailBackend):
    """The inboxes of a team.

    Args:
        database: where they are.
        team: whose they are.
    """

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team

    @property
    def names(self) -> list[str]:
        return self._database.read(self._names)

    def open(self, name: str) -> None:
        new = self._database.insert(_INBOXES).values(team=self._team, name=checked_name(name))
        self._database.change(lambda c: c.execute(new.on_conflict_do_nothing()))

    def send(
        self,
        sender: str,
        to: str,
        content: str,
        type: Type = "message",
        *,
        at: datetime | None = None,
        **more: Any,
    ) -> Mail:
        checked_name(to)
        checked_content(content)

        def act(connection: Connection) -> list[Mail]:
            mail = self._deliver(connection, _INBOXES.c.name == to, sender, content, type, more)
            if not mail:
                self._nobody(connection, to)
            return mail

        (mail,) = self._database.write(self._team, act, Mail.from_json)
        return mail

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        checked_content(content)
        others = _INBOXES.c.name != sender

        def act(connection: Connection) -> list[Mail]:
            return self._deliver(connection, others, sender, content, "broadcast", {})

        return self._database.write(self._team, act, Mail.from_json)

    def unread(self, name: str) -> list[Mail]:
        return [mail for _, mail in self._unread(name)]

    def reader(self, name: str, seen: Iterable[str] = ()) -> InboxReader:
        return _SqlReader(self, self._database, name, seen)

    def _deliver(
        self,
        connection: Connection,
        to: ColumnElement[bool],
        sender: str,
        content: str,
        type: Type,
        more: dict[str, Any],
    ) -> list[Mail]:
        """Put a message into each of a team's inboxes that fits."""
        values = {
            "team": _INBOXES.c.team,
            "inbox": _INBOXES.c.name,
            "sender": literal(sender, _Text()),
            "type": literal(type, _Text()),
            "content": literal(content, _Text()),
            "sent": self._database.now,
            "more": literal(_encoded(more), _Text()),
            "done": literal(0, SmallInteger),
        }
        source = select(*values.values()).where(_INBOXES.c.team == self._team, to)
        new = insert(_MAIL).from_select([*values], source.order_by(_INBOXES.c.name))
        rows = connection.execute(new.returning(*_MAIL.c))
        return sorted(map(_mail, rows), key=lambda mail: mail.to)

    def _unread(self, name: str) -> list[tuple[int, Mail]]:
        checked_name(name)
        wanted = select(_MAIL).where(_MAIL.c.team == self._team, _MAIL.c.inbox == name, _NEW)

        def act(connection: Connection) -> list[tuple[int, Mail]]:
            rows = connection.execute(wanted.order_by(_MAIL.c.number)).all()
            if not rows and name not in self._names(connection):
                self._nobody(connection, name)
            return [(row.number, _mail(row)) for row in rows]

        return self._database.read(act)

    def _names(self, connection: Connection) -> list[str]:
        return sorted(
            connection.scalars(select(_INBOXES.c.name).where(_INBOXES.c.team == self._team))
        )

    def _nobody(self, connection: Connection, name: str) -> None:
        there = ", ".join(self._names(connection)) or "none"
        raise ToolError(f"there is no inbox for {name!r}; there are inboxes for: {there}")


class _SqlReader(InboxReader):
    """What one reader has taken of an inbox, and not committed."""

    def __init__(self, mail: SqlMail, database: Database, name: str, seen: Iterable[str]) -> None:
        self._mail, self._database, self._name = mail, database, name
        # What comes later cannot have been seen, whatever its id.
        self._seen = {one.id for one in mail.unread(name)} & set(seen)
        self._passed = dict[str, int]()  # what commit would mark as done: ids and numbers

    def look(self) -> list[Mail]:
        return [mail for _, mail in self._mail._unread(self._name) if mail.id not in self._seen]

    def take(self) -> list[Mail]:
        pending = self._mail._unread(self._name)
        self._passed = {mail.id: number for number, mail in pending}
        new = [mail for _, mail in pending if mail.id not in self._seen]
        self._seen |= self._passed.keys()
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._seen.discard(id)
            self._passed.pop(id, None)

    def commit(self) -> None:
        numbers = sorted(self._passed.values())

        def act(connection: Connection) -> None:
            for some in _batches(numbers):
                connection.execute(update(_MAIL).where(_MAIL.c.number.in_(some)).values(done=1))

        if numbers:
            self._database.change(act)
        self._seen -= self._passed.keys()  # what is done does not come again
        self._passed = {}


def _mail(row: Row[Any]) -> Mail:
    values = (f"m{row.number}", row.type, row.sender, row.inbox, row.content)
    return Mail(*values, _iso(row.sent), json.loads(row.more))


class SqlBoard(BoardBackend):
    """The tasks of a team.

    Claims hold the board's lock together. Every other change holds it alone, since what it decides
    on (a blocker that is completed, a task that has not begun) must not change meanwhile.

    Args:
        database: where they are.
        team: whose they are.
    """

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team
        self._reported: dict[int, tuple[int, Task]] | None = None  # by id: version and task
        self._guard = threading.Lock()  # of what was reported

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        new = checked(Task(0, subject, description, tags=tuple(tags)))
        first = self._database.insert(_COUNTERS).values(team=self._team, last=1)
        more = {"last": _COUNTERS.c.last + 1}
        count = first.on_conflict_do_update(index_elements=["team"], set_=more)

        def act(connection: Connection) -> list[Task]:
            task = replace(new, id=connection.scalar(count.returning(_COUNTERS.c.last)))
            values = {**_values(task), "description": task.description, "subject": task.subject}
            values |= {"team": self._team, "id": task.id, "tags": _encoded(task.tags)}
            connection.execute(insert(_TASKS).values(**values, version=1))
            return [self._load(connection, [task.id])[task.id]]

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
        free = and_(_TASKS.c.status == "pending", _TASKS.c.owner == "", ~self._waits())
        where = and_(_OPEN, or_(free, self._is_over()))
        return list(self._database.read(lambda c: self._load(c, where=where)).values())

    def update(
        self,
        id: int,
        status: Status | Literal["deleted"] | None = None,
        *,
        owner: str = "",
        add_blocked_by: Iterable[int] = (),
        add_blocks: Iterable[int] = (),
        remove_blocked_by: Iterable[int] = (),
        result_summary: str | None = None,
        worktree: str | None = None,
        by: str = "",
        token: int | None = None,
    ) -> Task | None:
        before, after, no_more = tuple(add_blocked_by), tuple(add_blocks), tuple(remove_blocked_by)

        def act(connection: Connection) -> list[Task]:
            self._database.lock(connection, "board", self._team)
            old = self._near(connection, [id, *before, *after, *no_more], bool(before or after))
            tasks = dict(old)
            try:
                rules.change(
                    tasks,
                    id,
                    status,
                    owner=owner,
                    add_blocked_by=before,
                    add_blocks=after,
                    remove_blocked_by=no_more,
                    result_summary=result_summary,
                    worktree=worktree,
                    by=by,
                    token=token,
                )
            except rules.UnknownTask as error:  # it names only what was loaded
                raise self._unknown(connection, error.id) from None
            self._store(connection, old, tasks)
            return [self._load(connection, [id])[id]] if id in tasks else []

        results = self._database.write(self._team, act, Task.from_json)
        return results[0] if results else None

    def claim(
        self, id: int, owner: str, *, incarnation: str = "", lease: float | None = None
    ) -> Task:
        rules.checked_owner(owner)
        rules.checked_lease(lease)
        task, fenced = _TASKS.c, bool(incarnation or lease)
        free = or_(task.status == "pending", self._is_over())

        def act(connection: Connection) -> list[Task]:
            self._database.lock(connection, "board", self._team, shared=True)
            claim = (
                update(_TASKS)
                .where(task.team == self._team, task.id == id, free, ~self._waits())
                .values(
                    status="in_progress",
                    owner=owner,
                    incarnation=incarnation,
                    lease_until=None if lease is None else self._database.now + lease,
                    token=task.token + 1 if fenced else _next_token(),
                    version=task.version + 1,
                )
            )
            if connection.execute(claim).rowcount:
                return [self._load(connection, [id])[id]]
            near = self._near(connection, [id], False)
            now = datetime.fromtimestamp(connection.scalars(select(self._database.now)).one(), UTC)
            rules.claimed(near, near[id], owner, incarnation, lease, now)  # says why it cannot be
            raise ToolError(f"another worker was faster with task {id}; claim one that is ready")

        return self._one(act)

    def renew(self, owner: str, incarnation: str, lease: float) -> list[int]:
        rules.checked_lease(lease)
        renewal = update(_TASKS).where(*self._held_by(owner, incarnation)).returning(_TASKS.c.id)

        def act(connection: Connection) -> list[int]:
            until = self._database.now + lease
            return sorted(connection.scalars(renewal.values(lease_until=until)))

        return self._database.change(act)

    def release(self, owner: str, incarnation: str) -> list[Task]:
        gift = (
            update(_TASKS)
            .where(*self._held_by(owner, incarnation))
            .values(
                status="pending",
                owner="",
                incarnation="",
                lease_until=None,
                token=_next_token(),
                version=_TASKS.c.version + 1,
            )
            .returning(_TASKS.c.id)
        )

        def act(connection: Connection) -> list[Task]:
            ids = connection.scalars(gift).all()
            return list(self._load(connection, ids).values())

        return self._database.write(self._team, act, Task.from_json)

    def open(self) -> None:
        with self._guard:
            if self._reported is None:
                self._reported = {}
                self._look()

    def news(self) -> list[Change]:
        with self._guard:
            pairs = self._look()
        return [(old, new) for old, new in pairs if rules.differs(old, new)]

    def _look(self) -> list[Change]:
        """What is otherwise than it was reported last, and remember how it is."""
        known = self._reported or {}
        wanted = select(_TASKS.c.id, _TASKS.c.version).where(_TASKS.c.team == self._team)

        def act(connection: Connection) -> tuple[dict[int, int], dict[int, Task]]:
            versions = {row.id: row.version for row in connection.execute(wanted)}
            new = [id for id, one in versions.items() if id not in known or known[id][0] != one]
            return versions, self._load(connection, new)

        versions, new = self._database.read(act)
        self._reported = {
            id: (version, new[id] if id in new else known[id][1])
            for id, version in versions.items()
        }
        ids = sorted({*new, *(known.keys() - versions.keys())})
        return [(known[id][1] if id in known else None, new.get(id)) for id in ids]

    def _one(self, act: Callable[[Connection], list[Task]]) -> Task:
        (task,) = self._database.write(self._team, act, Task.from_json)
        return task

    def _held_by(self, owner: str, incarnation: str) -> list[ColumnElement[bool]]:
        held = {"team": self._team, "status": "in_progress", "owner": owner}
        held["incarnation"] = incarnation
        return [_OPEN, *(_TASKS.c[key] == value for key, value in held.items())]

    def _is_over(self) -> ColumnElement[bool]:
        """Whether a task's lease is over."""
        return and_(_TASKS.c.status == "in_progress", _TASKS.c.lease_until < self._database.now)

    def _waits(self) -> ColumnElement[bool]:
        """Whether a task has an open blocker."""
        blocker = _TASKS.alias()
        return exists().where(
            _EDGES.c.team == _TASKS.c.team,
            _EDGES.c.blocked == _TASKS.c.id,
            blocker.c.team == _EDGES.c.team,
            blocker.c.id == _EDGES.c.blocker,
            blocker.c.status != "completed",
        )

    def _load(
        self,
        connection: Connection,
        ids: Collection[int] | None = None,
        where: ColumnElement[bool] | None = None,
    ) -> dict[int, Task]:
        """Tasks by id: these, or those of a kind, or all."""
        wanted = select(_TASKS).where(_TASKS.c.team == self._team).order_by(_TASKS.c.id)
        if where is not None:
            wanted = wanted.where(where)
        rows = list[Row[Any]]()
        if ids is None:
            rows.extend(connection.execute(wanted))
        for some in _batches(sorted({*(ids or ())})):
            rows.extend(connection.execute(wanted.where(_TASKS.c.id.in_(some))))
        before: dict[int, list[int]] = {row.id: [] for row in rows}
        after: dict[int, list[int]] = {row.id: [] for row in rows}
        for blocked, blocker in self._edges(connection, before.keys()):
            before.get(blocked, []).append(blocker)
            after.get(blocker, []).append(blocked)
        return {row.id: _task(row, before[row.id], after[row.id]) for row in rows}

    def _edges(self, connection: Connection, ids: Collection[int]) -> Iterator[tuple[int, int]]:
        """Who waits for whom, as far as it concerns these tasks."""
        edge = _EDGES.c
        wanted = select(edge.blocked, edge.blocker).where(edge.team == self._team)
        if 0 < len(ids) <= _BATCH:
            wanted = wanted.where(or_(edge.blocked.in_(ids), edge.blocker.in_(ids)))
        if ids:
            for row in connection.execute(wanted.order_by(edge.blocked, edge.blocker)):
                yield row.blocked, row.blocker

    def _unknown(self, connection: Connection, id: int) -> rules.UnknownTask:
        known = select(_TASKS.c.id).where(_TASKS.c.team == self._team)
        some = known.order_by(_TASKS.c.id).limit(rules.NAMED + 1)
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
        edge = _EDGES.c
        here = edge.team == self._team
        way = select(edge.blocked).where(here, edge.blocker.in_(ids)).cte(recursive=True)
        way = way.union(select(edge.blocked).where(here, edge.blocker == way.c.blocked))
        return set(connection.scalars(select(way.c.blocked)))

    def _store(self, connection: Connection, old: dict[int, Task], new: dict[int, Task]) -> None:
        """Write what is otherwise than it was."""
        edge, here = _EDGES.c, _TASKS.c.team == self._team
        deleted = old.keys() - new.keys()
        for id in deleted:
            connection.execute(delete(_TASKS).where(here, _TASKS.c.id == id))
            connection.execute(
                delete(_EDGES).where(
                    edge.team == self._team, or_(edge.blocked == id, edge.blocker == id)
                )
            )
        for id, task in new.items():
            if task == old[id]:
                continue
            changed = update(_TASKS).where(here, _TASKS.c.id == id)
            connection.execute(changed.values(**_values(task), version=_TASKS.c.version + 1))
            was, now = {*old[id].blocked_by} - deleted, {*task.blocked_by}
            if gone := was - now:
                connection.execute(
                    delete(_EDGES).where(
                        edge.team == self._team, edge.blocked == id, edge.blocker.in_(gone)
                    )
                )
            if more := [{"team": self._team, "blocked": id, "blocker": b} for b in now - was]:
                connection.execute(insert(_EDGES), more)


def _next_token() -> ColumnElement[int]:
    """The token after a change of hands: it rises from the first claim under a lease on."""
    return case((_TASKS.c.token > 0, _TASKS.c.token + 1), else_=0)


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
        lease_until=_iso(row.lease_until),
    )


class SqlRequests(RequestBackend):
    """The requests of a team. They are few, so each change holds the lock of all of them.

    Args:
        database: where they are.
        team: whose they are.
    """

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team

    def open(
        self, kind: Kind, sender: str, to: str, content: str, within: float | None = None
    ) -> Request:
        asked = Request("", kind, sender, to, content)
        current = select(_ASSIGNMENTS.c.number).where(
            _ASSIGNMENTS.c.team == self._team, _ASSIGNMENTS.c.mate == asked.mate
        )

        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            for old in self._load(connection, mate=asked.mate, kind=kind, state="pending"):
                if old.state == "pending":  # another's time may be up
                    raise ToolError(f"request {old.id} to {to} has no answer yet; wait for it")
            new = {
                "kind": kind,
                "sender": sender,
                "addressee": to,
                "mate": asked.mate,
                "content": content,
                "state": "pending",
                "assignment": connection.scalar(current) or 0,
                "expires": None if within is None else self._database.now + within,
                "note": "",
            }
            added = insert(_REQUESTS).values(team=self._team, **new).returning(_REQUESTS.c.number)
            return self._load(connection, number=connection.scalar(added))

        return self._one(act)

    def answer(self, id: str, by: str, state: Answer, note: str = "") -> Request:
        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            old = self._find(connection, id)
            if old.to != by:
                raise ToolError(f"request {id} is for {old.to} to answer, not for {by}")
            if old.state != "pending":
                raise ToolError(f"request {id} is already {old.state}, which cannot be changed")
            if not may(old, state, "addressee"):
                raise ToolError(f"a {old.kind} request cannot become {state}")
            return self._close(connection, id, state, note)

        return self._one(act)

    def expire(self, id: str, why: str) -> Request | None:
        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            return self._expire(connection, [self._find(connection, id, late=False)], why)

        expired = self._database.write(self._team, act, _request)
        return expired[0] if expired else None

    def expire_all(self, mate: str, why: str) -> list[Request]:
        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            pending = [one for one in self._load(connection, mate=mate) if one.state == "pending"]
            return self._expire(connection, pending, why)

        return self._database.write(self._team, act, _request)

    def assign(self, mate: str) -> list[Request]:
        first = self._database.insert(_ASSIGNMENTS).values(team=self._team, mate=mate, number=1)
        more = {"number": _ASSIGNMENTS.c.number + 1}
        count = first.on_conflict_do_update(index_elements=["team", "mate"], set_=more)

        def act(connection: Connection) -> list[Request]:
            self._lock(connection)
            pending = [one for one in self._load(connection, mate=mate) if one.state == "pending"]
            connection.execute(count)
            return self._expire(connection, pending, f"{mate} has a new assignment")

        return self._database.write(self._team, act, _request)

    def get(self, id: str) -> Request:
        return self._database.read(lambda connection: self._find(connection, id))

    def all(self) -> list[Request]:
        return self._database.read(self._load)

    def current(self, mate: str) -> Request | None:
        current = select(_ASSIGNMENTS.c.number).where(
            _ASSIGNMENTS.c.team == self._team, _ASSIGNMENTS.c.mate == mate
        )

        def act(connection: Connection) -> list[Request]:
            assignment = connection.scalar(current) or 0
            return self._load(connection, mate=mate, kind="plan", assignment=assignment)

        plans = self._database.read(act)
        return plans[-1] if plans else None

    def require_plan(self, required: bool, name: str = "", role: str = "") -> None:
        here = _PLANS.c.team == self._team
        one = and_(_PLANS.c.name == name, _PLANS.c.role == role)
        values = {"name": name, "role": role if name else "", "required": int(required)}

        def act(connection: Connection) -> None:
            self._lock(connection)
            connection.execute(delete(_PLANS).where(here, one if name else literal(True)))
            connection.execute(insert(_PLANS).values(team=self._team, **values))

        self._database.change(act)

    def requires_plan(self, name: str, role: str) -> bool:
        said = or_(and_(_PLANS.c.name == name, _PLANS.c.role == role), _PLANS.c.name == "")
        wanted = select(_PLANS.c.required).where(_PLANS.c.team == self._team, said)
        wanted = wanted.order_by(_PLANS.c.name.desc()).limit(1)  # the one with a name first
        return bool(self._database.read(lambda connection: connection.scalar(wanted)))

    def _lock(self, connection: Connection) -> None:
        self._database.lock(connection, "requests", self._team)

    def _one(self, act: Callable[[Connection], list[Request]]) -> Request:
        (request,) = self._database.write(self._team, act, _request)
        return request

    def _find(self, connection: Connection, id: str, late: bool = True) -> Request:
        number = int(id[1:]) if re.fullmatch("r[0-9]{7,15}", id) else 0
        if found := self._load(connection, late, number=number):
            return found[0]
        last = select(_REQUESTS.c.number).where(_REQUESTS.c.team == self._team)
        some = connection.scalars(last.order_by(_REQUESTS.c.number.desc()).limit(5)).all()
        known = ", ".join(map(_request_id, reversed(some))) or "none"
        raise ToolError(f"there is no request {id!r}; the latest requests are: {known}")

    def _load(self, connection: Connection, late: bool = True, **where: Any) -> list[Request]:
        """The requests with these values; with ``late``, one whose time is up counts as expired."""
        given = {"team": self._team, **where}
        wanted = select(_REQUESTS, (_REQUESTS.c.expires < self._database.now).label("over"))
        wanted = wanted.where(*(_REQUESTS.c[key] == value for key, value in given.items()))
        found = []
        for row in connection.execute(wanted.order_by(_REQUESTS.c.number)):
            state, note = row.state, row.note
            if late and state == "pending" and row.over:
                state, note = "expired", "not answered in time"
            texts = (_request_id(row.number), row.kind, row.sender, row.addressee, row.content)
            found.append(Request(*texts, state, row.assignment, _iso(row.expires), note))
        return found

    def _expire(
        self, connection: Connection, requests: Iterable[Request], why: str
    ) -> list[Request]:
        may_expire = [one for one in requests if may(one, "expired", "harness")]
        closed = [self._close(connection, one.id, "expired", why) for one in may_expire]
        return [request for some in closed for request in some]

    def _close(self, connection: Connection, id: str, state: str, note: str) -> list[Request]:
        number = int(id[1:])
        closed = update(_REQUESTS).where(_REQUESTS.c.number == number)
        connection.execute(closed.values(state=state, note=note))
        return self._load(connection, number=number)


def _request_id(number: int) -> str:
    return f"r{number:07}"


def _request(fields: dict[str, Any]) -> Request:
    return Request(**fields)


class SqlRoster(RosterBackend):
    """The members of a team.

    Args:
        database: where they are.
        team: whose they are.
    """

    def __init__(self, database: Database, team: str) -> None:
        self._database, self._team = database, team

    def members(self) -> list[Member]:
        member = _MEMBERS.c
        silent = (self._database.now - member.heard).label("silent")
        wanted = select(_MEMBERS, silent).where(member.team == self._team).order_by(member.number)
        found = []
        for row in self._database.read(lambda connection: connection.execute(wanted).all()):
            one = {"name": row.name, "role": row.role, "status": row.status}
            one |= {"incarnation": row.incarnation} if row.incarnation else {}
            if row.heard is not None:
                one |= {"where": row.place, "heard": _iso(row.heard), "silent": silence(row.silent)}
            found.append(one)
        return found

    def note(self, entry: Member, *, held_by: str | None = None) -> bool:
        values = {"role": entry["role"], "status": entry["status"]}
        values["incarnation"] = entry.get("incarnation", "")
        same = and_(
            literal(values["incarnation"]) != "", _MEMBERS.c.incarnation == values["incarnation"]
        )
        kept = {
            "place": case((same, _MEMBERS.c.place), else_=""),
            "heard": case((same, _MEMBERS.c.heard)),
        }
        noted: Insert | Update
        if held_by is None:
            first = {"team": self._team, "name": entry["name"], "place": ""}
            new = self._database.insert(_MEMBERS).values(**first, **values)
            both = ["team", "name"]
            noted = new.on_conflict_do_update(index_elements=both, set_={**values, **kept})
        else:
            held = (_MEMBERS.c.name == entry["name"], _MEMBERS.c.incarnation == held_by)
            noted = update(_MEMBERS).where(_MEMBERS.c.team == self._team, *held)
            noted = noted.values(**values, **kept)
        noted = noted.returning(_MEMBERS.c.number)
        return self._database.change(lambda connection: connection.scalar(noted) is not None)

    def beat(self, name: str, incarnation: str, where: str) -> bool:
        here = _MEMBERS.c.team == self._team

        def act(connection: Connection) -> bool:
            mine = (_MEMBERS.c.name == name, _MEMBERS.c.incarnation == incarnation)
            beat = update(_MEMBERS).where(here, *mine)
            if connection.execute(beat.values(place=where, heard=self._database.now)).rowcount:
                return True
            wanted = select(_MEMBERS.c.name).where(here).order_by(_MEMBERS.c.number)
            known = list(connection.scalars(wanted))
            if name not in known:
                raise no_member(name, known)
            return False

        return self._database.change(act)

    def begin(self) -> None:
        local = (_MEMBERS.c.team == self._team, _MEMBERS.c.incarnation == "")
        ended = update(_MEMBERS).where(*local).values(status="shutdown")
        self._database.change(lambda connection: connection.execute(ended))


def _encoded(value: Any) -> str:
    """JSON in ASCII, which holds texts that no database stores."""
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"this cannot be stored as JSON: {error}") from None


def _iso(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def _batches(items: Sequence[int]) -> Iterator[list[int]]:
    left = iter(items)
    while some := list(islice(left, _BATCH)):
        yield some
