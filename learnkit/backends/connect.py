"""One address for everything of a team: files, SQLite or PostgreSQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from learnkit.errors import UsageError, extra
from learnkit.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import URL

    from learnkit.backends.interface import Backend

#: Seconds after which a database that is away at the start is an error, however patient one is
#: later: perhaps the address is wrong.
OPENING = 30.0

#: Environment variable with the address of the backend.
SETTING = "LEARNKIT_BACKEND"

_FORMS = "files:FOLDER, sqlite:///team.db or postgresql+psycopg://user@host/database"


def open_backend(
    address: str = "",
    *,
    clock: Clock | None = None,
    patience: float = 30.0,
    create: bool = False,
    waiting: Callable[[str, bool], object] = lambda text, over: None,
) -> Backend:
    """Open the place that keeps the messages, tasks, requests and members of teams.

    Args:
        address: ``files:FOLDER``, where the state is in files that people can read;
            ``sqlite:///team.db``, a database in one file, for one machine; or
            ``postgresql+psycopg://user:password@host/database``, for several machines. By default
            what the environment variable ``LEARNKIT_BACKEND`` says, or ``files:.``.
        clock: what leases and deadlines are measured on, such as the clock of your agents; by
            default the machine's. PostgreSQL has a clock of its own, which all machines share.
        patience: seconds for which a call waits for a database that is away or busy; ``math.inf``
            for as long as it takes. Opening it takes 30 at most.
        create: make the tables of a database if they are not there, as ``learnkit backend init``
            does.
        waiting: told, in one line, what is waited for: when a server is opened, and while it is
            away, again each second. With True it is told that the wait is over.

    Returns:
        The backend; close it when you are done.

    Raises:
        UsageError: for an address that cannot work, an extra that is not installed, or tables that
            are missing or of another version.
        OSError: if the database is away. No error contains a password.
    """
    address = address or os.environ.get(SETTING, "") or "files:."
    scheme, colon, rest = address.partition(":")
    now = (clock or SystemClock()).now
    if scheme == "files" and colon:
        from learnkit.backends.files.backend import FilesBackend

        return FilesBackend(rest or ".", now)
    if not patience > 0:
        raise UsageError(f"patience is {patience} s; give a number above 0")
    url = _parsed(scheme, address)
    from learnkit.backends.sql.backend import SqlBackend
    from learnkit.backends.sql.database import Database

    database = Database(url, now, min(patience, OPENING), waiting)
    if database.remote:
        waiting(f"opening the database {database.address}", False)
    try:
        if create:
            database.create()
        else:
            database.check()
    except BaseException:
        database.close()
        raise
    finally:
        waiting("", True)
    database.patience = patience
    return SqlBackend(database)


def _parsed(scheme: str, address: str) -> URL:
    """The address of a database, with the driver that we use; no error repeats the address."""
    if scheme in ("postgres", "postgresql"):  # what a provider's page shows
        address = f"postgresql+psycopg{address[len(scheme) :]}"
    if not address.startswith(("postgresql+psycopg:", "sqlite:")):
        raise UsageError(f"a backend's address cannot begin with {scheme[:30]!r}; give {_FORMS}")
    if address.startswith("postgresql"):
        with extra("postgres"):
            import psycopg  # noqa: F401  # the driver, which SQLAlchemy imports late
            import sqlalchemy
    with extra("sql"):
        import sqlalchemy
    try:
        url = sqlalchemy.make_url(address)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise UsageError(f"this address cannot be read; give {_FORMS}") from None
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise UsageError("SQLite needs a file, as in sqlite:///team.db: memory is not shared")
    if not url.database:
        raise UsageError(f"the address names no database; give {_FORMS}")
    return url
