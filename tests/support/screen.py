"""``learnkit chat`` in a pseudo-terminal, and what a user sees of it.

pyte reads what the program writes, as a terminal does: cursor moves, erased lines, scrolling. So a
test looks at the screen, and not at the bytes.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pyte
from project import ROOT

CHAT = (sys.executable, "-m", "learnkit", "chat")

ENTER, ALT_ENTER, CTRL_C, CTRL_D, CTRL_J = "\r", "\x1b\r", "\x03", "\x04", "\n"
TAB, UP, CTRL_U, BACKSPACE, DOWN = "\t", "\x1b[A", "\x15", "\x7f", "\x1b[B"


class Screen:
    """A program in a terminal."""

    def __init__(
        self,
        *arguments: str,
        columns: int = 80,
        rows: int = 50,
        term: str = "xterm-256color",
        folder: Path = ROOT,
        forked: bool = False,
        **env: str,
    ) -> None:
        self._screen = pyte.HistoryScreen(columns, rows, history=5000)
        self._stream = pyte.ByteStream(self._screen)
        self._lines: list[str] | None = None  # what pyte shows takes it long to say
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(side)
        self._side = side  # kept open: what the program leaves can then still be read
        environment = {**_environment(), "TERM": term, **env}
        if forked:
            place = os.ttyname(side)
            self.process: Forked | subprocess.Popen[bytes] = Forked(
                place, folder, environment, arguments
            )
            return
        self.process = subprocess.Popen(
            [*CHAT, *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            env=environment,
            start_new_session=True,
            preexec_fn=_controls_terminal,
        )

    @property
    def modes(self) -> list[object]:
        """The settings of the terminal, as ``termios`` has them."""
        return termios.tcgetattr(self._side)

    @property
    def lines(self) -> list[str]:
        """What is on the screen, and what has left it at its upper end."""
        if self._lines is None:
            columns = range(self._screen.columns)
            gone = ["".join(row[x].data for x in columns) for row in self._screen.history.top]
            self._lines = [line.rstrip() for line in (*gone, *self._screen.display)]
        return self._lines

    @property
    def text(self) -> str:
        """The lines, without the empty ones at the end."""
        return "\n".join(self.lines).rstrip()

    @property
    def title(self) -> str:
        """The title of the window."""
        return str(self._screen.title)

    @property
    def words(self) -> str:
        """The text on one line, so that it does not matter where it was wrapped."""
        return " ".join(self.text.split())

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._main, text.encode())

    def paste(self, text: str) -> None:
        """Paste a text, as a terminal marks it."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    def expect(self, said: str, times: int = 1, within: float = 90.0) -> None:
        """Wait until words are on the screen."""
        self.until(lambda: self.words.count(said) >= times, repr(said), within)

    def gone(self, said: str, within: float = 90.0) -> None:
        """Wait until words are not on the screen any more."""
        self.until(lambda: said not in self.words, f"no {said!r}", within)

    def until(self, holds: Callable[[], bool], what: str, within: float = 90.0) -> None:
        """Wait until something holds, and read what the program writes meanwhile."""
        end = time.monotonic() + within
        while not holds():
            assert time.monotonic() < end, f"not {what} in:\n{self.text}"
            if not self.pump(0.1) and self.process.poll() is not None and not self.pump(0.1):
                assert holds(), f"ended before {what}:\n{self.text}"

    def pump(self, seconds: float) -> bool:
        """Read what there is; return whether there was something."""
        data = b""
        while len(data) < 65536 and select.select([self._main], [], [], 0 if data else seconds)[0]:
            try:
                data += os.read(self._main, 65536)
            except OSError:
                break
        if data:
            self._stream.feed(data)
            self._lines = None
        return bool(data)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)
        self._lines = None

    def ended(self, within: float = 60.0) -> int:
        """Wait until the program has ended; return its exit code."""
        self.until(lambda: self.process.poll() is not None, "the end", within)
        while self.pump(0.1):
            pass
        return self.process.wait()

    def leave(self) -> None:
        """Press Ctrl-D, which ends a chat, and leaves the terminal as it was."""
        self.type(CTRL_D)
        assert self.ended() == 0
        assert self.modes == self.before

    def close(self) -> None:
        """Leave nothing behind, whatever the test found."""
        self.process.kill()
        self.process.wait()
        os.close(self._side)
        os.close(self._main)

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Forked:
    """A chat in a fork, with what the tests use of ``subprocess.Popen``."""

    def __init__(
        self, terminal: str, folder: Path, env: dict[str, str], arguments: tuple[str, ...]
    ) -> None:
        what = (terminal, str(folder), env, arguments)
        self._process = _SERVER.Process(target=_chat, args=what)
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int:
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()


_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["anthropic", "learnkit.harness", "learnkit.terminal.chat"])


def _chat(terminal: str, folder: str, env: dict[str, str], arguments: tuple[str, ...]) -> None:
    """Be a chat that was started in a terminal of its own."""
    os.setsid()
    side = os.open(terminal, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(side, number)
    os.close(side)
    _controls_terminal()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python does at its start
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv = ["learnkit", "chat", *arguments]
    from learnkit.terminal.cli import main

    main()


def _environment() -> dict[str, str]:
    left_out = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PROMPT_TOOLKIT_NO_CPR")
    return {name: value for name, value in os.environ.items() if name not in left_out}


def _controls_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C is a signal, and a lost window another
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's children would ignore it
    signal.signal(signal.SIGINT, signal.SIG_DFL)
