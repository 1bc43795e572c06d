"""A PostgreSQL server of the tests' own: made in a folder, started, killed, and removed again.

Debian's server is not touched. PostgreSQL refuses to run as root, so root runs it as ``postgres``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

USER, PASSWORD = "learnkit", "s3cret-of-the-tests"

#: Seconds in which a server starts or stops, on a slow machine too.
LIMIT = 120.0


def plain(address: str) -> psycopg.Connection:
    """A connection past learnkit, to where an address of a backend's leads."""
    url = make_url(address).set(drivername="postgresql")
    return psycopg.connect(url.render_as_string(hide_password=False), autocommit=True)


class Cluster:
    """A server on a port of its own. Others on this machine need its password."""

    def __init__(self) -> None:
        self._bin = _binaries()
        self._as = "postgres" if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="lk-postgres-"))
        self._server: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        self._own(self._folder, secret)
        command = ["initdb", "-D", "data", "-U", USER, "--pwfile=password", "-E", "UTF8"]
        command += ["--auth=scram-sha-256", "--locale=C.UTF-8", "--no-sync"]
        made = subprocess.run(
            [str(self._bin / command[0]), *command[1:]],
            cwd=self._folder,
            user=self._as,
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stdout + made.stderr

    def url(self, *, port: int | None = None) -> str:
        """Its address for learnkit, perhaps through a proxy on another port."""
        place = f"127.0.0.1:{port or self.port}/postgres"
        return f"postgresql+psycopg://{USER}:{PASSWORD}@{place}"

    def connect(self) -> psycopg.Connection:
        """A connection of the tests' own, whose statements are transactions."""
        text = f"host=127.0.0.1 port={self.port} user={USER} password={PASSWORD} dbname=postgres"
        return psycopg.connect(text, autocommit=True, connect_timeout=10)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",  # the machine does not crash, only the server does
            "max_connections": 200,
        }
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        log = self._folder / "log"
        with log.open("ab") as output:
            self._server = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", "data", *words],
                cwd=self._folder,
                user=self._as,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # an interrupt of the tests is none of the server
            )
        end = time.monotonic() + LIMIT
        while True:
            try:
                self.connect().close()
                return
            except psycopg.OperationalError:
                assert self._server.poll() is None, log.read_text("utf-8", "replace")[-3000:]
                assert time.monotonic() < end, log.read_text("utf-8", "replace")[-3000:]
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT breaks all connections off, SIGQUIT leaves it as after a crash."""
        if self._server is not None:
            self._server.send_signal(how)
            self._server.wait(LIMIT)
            self._server = None

    def remove(self) -> None:
        """Stop it, and remove all that it has stored."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._folder)

    def _own(self, *paths: Path) -> None:
        if self._as:
            user = pwd.getpwnam(self._as)
            for path in paths:
                os.chown(path, user.pw_uid, user.pw_gid)


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=_version)
    path = shutil.which("initdb")
    assert found or path, "PostgreSQL is not installed: apt-get install postgresql"
    return found[-1].parent if found else Path(str(path)).resolve().parent


def _version(initdb: Path) -> int:
    name = initdb.parents[1].name
    return int(name) if name.isdecimal() else 0


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
