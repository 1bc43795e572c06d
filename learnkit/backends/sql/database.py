"""The connection: transactions that outlive a broken one, and whose effect comes exactly once."""

from __future__ import annotations

import json
import math
import random
import re
import threading
import time
import uuid
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from learnkit.backends.sql.tables import CALLS, META, METADATA, VERSION
from learnkit.errors import UsageError, extra
from learnkit.runtime.clock import stopped

with extra("sql"):
    from sqlalchemy import (
        ColumnElement,
        Connection,
        Double,
        Engine,
        cast,
        create_engine,
        delete,
        event,
        extract,
        func,
        insert,
        inspect,
        literal,
        select,
    )
    from sqlalchemy.dialects import postgresql, sqlite
    from sqlalchemy.engine import URL
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

#: Seconds for which the key of a call is kept.
_KEPT = 86_400.0

#: What no waiting mends: the address, the user or the rights are wrong.
_FINAL = re.compile(
    r"authentication failed|does not exist|no pg_hba\.conf entry|permission denied|"
    r"no password supplied|could not translate host name|failed to resolve host|unable to open"
)

#: Seconds that one statement may take, or a transaction rest, however patient its caller is.
_LONGEST = 30.0

#: Seconds of a wait that nobody is told of: a line that was cut is soon there again.
_QUIET = 1.0
#: Seconds for which a database has to be away before what was stopped gives up.
_LAST_TRY = 1.0

#: The first of the two numbers of PostgreSQL's advisory locks, so that they are ours: "lkit".
_LOCKS = 0x6C6B6974


#: Told what a call waits for, in a line, and again about each second; at last what has come of it,
#: perhaps an empty text, and True. It may be called from any thread, and must be quick.
Waiting = Callable[[str, bool], object]


T = TypeVar("T")


class Database:
    """Connections to a database, and transactions that outlive a broken one.

    Attributes:
        patience: may be changed.
    """

    def __init__(
        self,
        url: URL,
        now: Callable[[], datetime],
        patience: float,
        waiting: Waiting = lambda text, over: None,
    ) -> None:
        self.remote = url.get_backend_name() == "postgresql"
        self.address = _address(url)
        self.patience = patience
        self._now = now
        self._outage = _Outage(f"the database at {_host(url)}", waiting)
        limit = min(patience, _LONGEST)
        self._engine = _postgres(url, limit) if self.remote else _sqlite(url, limit)
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

    def time(self) -> datetime:
        """The time on the database's clock."""
        return self.read(self.time_in)

    def time_in(self, connection: Connection) -> datetime:
        """The time on the database's clock, in a transaction."""
        return datetime.fromtimestamp(connection.scalars(select(self.now)).one(), UTC)

    def up(self) -> float:
        """For how many seconds the server has run; infinite where there is none."""
        if not self.remote:
            return math.inf
        started = cast(extract("epoch", func.pg_postmaster_start_time()), Double)
        return self.read(lambda connection: connection.scalars(select(self.now - started)).one())

    def read(self, act: Callable[[Connection], T]) -> T:
        """Return what a function reads, all of it as it was at one moment."""
        return self._patiently(act, writes=False)

    def write(self, act: Callable[[Connection], T]) -> T:
        """Let a function change something, in one transaction, and exactly once.

        What it returns, JSON can hold.
        """
        key = uuid.uuid4().hex
        tries = 0

        def once(connection: Connection) -> T:
            nonlocal tries
            tries += 1
            if tries > 1 and self.remote:  # the last commit may have come to pass, unheard
                known = select(CALLS.c.result).where(CALLS.c.key == key)
                if (text := connection.scalar(known)) is not None:
                    noted: T = json.loads(text)
                    return noted
            result = act(connection)
            if self.remote:  # of a file on this machine it is known
                note = insert(CALLS).values(key=key, result=json.dumps(result), at=self.now)
                connection.execute(note)
            return result

        return self._patiently(once, writes=True)

    def change(self, act: Callable[[Connection], T]) -> T:
        """Let a function change something that may happen twice, as a beat may."""
        return self._patiently(act, writes=True)

    def lock(self, connection: Connection, what: str, team: str) -> None:
        """Hold a lock until the end of the transaction.

        SQLite lets only one transaction write at a time, and needs none.
        """
        if self.remote:
            number = zlib.crc32(f"{what}:{team}".encode()) - 2**31
            connection.execute(select(func.pg_advisory_xact_lock(_LOCKS, number)))

    def create(self) -> None:
        """Make the tables, if they are not there."""

        def act(connection: Connection) -> None:
            self.lock(connection, "tables", "")
            if not inspect(connection).has_table(META.name):
                METADATA.create_all(connection)
                connection.execute(insert(META).values(name="version", value=VERSION))

        self.change(act)
        self.check()

    def check(self) -> None:
        """Make sure that the tables are there, and are the ones that this version knows."""

        def act(connection: Connection) -> int | None:
            if not inspect(connection).has_table(META.name):
                return None
            wanted = select(META.c.value).where(META.c.name == "version")
            return connection.scalar(wanted)

        version = self.read(act)
        if version is None:
            raise UsageError(
                f"{self.address} has no tables for learnkit yet; make them once: learnkit backend "
                "init URL, with the same address"
            )
        if version != VERSION:
            raise UsageError(
                f"the tables in {self.address} were made by another learnkit: they have version "
                f"{version}, and this one knows {VERSION}. Upgrade learnkit, or give an empty "
                "database: learnkit backend init URL."
            )
        old = delete(CALLS).where(CALLS.c.at < self.now - _KEPT)
        self.change(lambda connection: connection.execute(old))

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _patiently(self, act: Callable[[Connection], T], *, writes: bool) -> T:
        """Run a transaction, again and again while the database is away or in the way."""
        engine = self._writer if writes else self._reader
        end, pause = time.monotonic() + self.patience, 0.02
        waits = back = False
        try:
            while True:
                try:
                    with engine.begin() as connection:
                        result = act(connection)
                    back = True
                    return result
                except SQLAlchemyError as error:
                    problem, away = _first_line(error), _is_away(error)
                    passes = self.remote and _passes(error, problem)
                    if not passes or time.monotonic() + pause > end:
                        raise OSError(self._report(problem, passes)) from None
                waited = self._outage.failed("away" if away else "busy", first=not waits)
                waits = True
                time.sleep(pause * random.uniform(0.5, 1.0))
                if waited > _LAST_TRY and stopped():
                    raise InterruptedError(f"{self._outage.what} is away; not waited for any more")
                pause = min(2 * pause, 1.0)
        finally:
            if waits:
                self._outage.ended(back)

    def _report(self, problem: str, passes: bool) -> str:
        if passes:
            waited = f"has not answered for {self.patience:g} s"
            return f"the database {self.address} {waited} ({problem}); try again later"
        return f"the database {self.address} cannot do this: {problem}"


class _Outage:
    """The time for which a database is away, and the calls that wait for it."""

    def __init__(self, what: str, tell: Waiting) -> None:
        self.what, self._tell = what, tell
        self._calls = 0
        self._since: float | None = None
        self._told = 0.0  # when; 0 for never in this outage
        self._lock = threading.Lock()

    def failed(self, how: str, *, first: bool) -> float:
        """Note that a call has failed, and waits; return for how long the database is away."""
        with self._lock:
            now = time.monotonic()
            self._since = self._since or now
            self._calls += first
            waited = now - self._since
            if waited >= _QUIET and now - self._told >= _QUIET:
                self._told = now
                self._tell(f"{self.what} is {how}; waiting, {waited:.0f} s", False)
            return waited

    def ended(self, back: bool) -> None:
        """Note that a call waits no more: the database is back, or it has given up."""
        with self._lock:
            self._calls -= 1
            if back or not self._calls:
                if self._told and self._since:
                    after = time.monotonic() - self._since
                    self._tell(f"{self.what} is back, after {after:.0f} s" if back else "", True)
                self._since, self._told = None, 0.0


#: How a connection is made, unless the address says otherwise.
_CONNECT = {
    "connect_timeout": 5,
    # A connection that was cut without a word is noticed within half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
    "application_name": "learnkit",
}


def _postgres(url: URL, patience: float) -> Engine:
    engine = create_engine(
        url,
        max_overflow=20,
        pool_timeout=patience,
        hide_parameters=True,
        connect_args={name: value for name, value in _CONNECT.items() if name not in url.query},
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


def _address(url: URL) -> str:
    """Where a database is, without what only its user may know."""
    plain = URL.create(url.drivername, host=url.host, port=url.port, database=url.database)
    return plain.render_as_string()


def _host(url: URL) -> str:
    """The part of an address that a person looks for when the database is away."""
    return f"{url.host or 'this machine'}{f':{url.port}' if url.port else ''}"


def _first_line(error: SQLAlchemyError) -> str:
    """What the database says, on one line: SQLAlchemy would add the statement."""
    said = error.orig if isinstance(error, DBAPIError) and error.orig else error
    lines = str(said).strip().splitlines()
    return lines[0] if lines else type(said).__name__


def _is_away(error: SQLAlchemyError) -> bool:
    """Whether there is no connection to the database; else it is there, and busy."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    lost = isinstance(error, DBAPIError) and (error.connection_invalidated or state is None)
    return lost or str(state).startswith(("08", "57P"))


def _passes(error: SQLAlchemyError, problem: str) -> bool:
    """Whether it may be otherwise a moment later."""
    if not isinstance(error, DBAPIError) or error.connection_invalidated:
        return True  # no connection is free, or this one is broken
    if _FINAL.search(problem):
        return False
    state = getattr(error.orig, "sqlstate", None)
    # No connection at all; then: connection, another call was faster, rollback (deadlocks),
    # resources, operator (shut down).
    return state is None or state[:2] in ("08", "23", "40", "53", "55", "57")
