"""What is printed while an input line is on the screen goes above that line, in order."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit import Application

#: Seconds for which lines are gathered, so that the input line is not redrawn for each of them.
GATHER = 0.03


class Above(io.TextIOBase):
    """Takes the place of stdout and stderr; writes whole lines in the loop of the input line."""

    def __init__(self, app: Application[str]) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._part = ""  # of a line that has no end yet
        self._waiting: deque[str | Callable[[], object]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scheduled = False
        self._replaced = (sys.stdout, sys.stderr)

    def install(self) -> None:
        """Take the place of stdout and stderr."""
        sys.stdout = sys.stderr = self

    def remove(self) -> None:
        """Give stdout and stderr back; what is still waiting is written, since no line is drawn."""
        sys.stdout, sys.stderr = self._replaced
        with self._lock:
            self._waiting.append(self._part)
            self._part = ""
        while self._waiting:
            self._do(self._waiting.popleft())

    def begin(self) -> None:
        """The input line is there, in the loop that runs here."""
        self._loop = asyncio.get_running_loop()
        self._wake()

    def write(self, text: str) -> int:
        """Write a text, once its last line has an end."""
        with self._lock:
            lines, end, self._part = (self._part + text).rpartition("\n")
            if end:
                self._waiting.append(lines + end)
        if end:
            self._wake()
        return len(text)

    def then(self, function: Callable[[], object]) -> None:
        """Do something in the loop, after all that was written before."""
        with self._lock:
            self._waiting.append(function)
        self._wake()

    def isatty(self) -> bool:
        """Whether it is a terminal: as stdout."""
        return self._replaced[0].isatty()

    def fileno(self) -> int:
        """The file descriptor of stdout."""
        return self._replaced[0].fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of stdout."""
        return self._app.output.encoding()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: ``remove`` writes it
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._soon)

    def _soon(self) -> None:
        if self._loop is not None and not self._scheduled:
            self._scheduled = True
            self._loop.call_later(GATHER, self._drain)

    def _drain(self) -> None:
        self._scheduled = False
        while self._waiting:
            text = ""
            while self._waiting and isinstance(self._waiting[0], str):
                text += str(self._waiting.popleft())
            if text:
                # The terminal's mode stays: a key that is pressed now must not be echoed.
                self._app.renderer.erase()
                self._do(text)
                self._app.renderer.render(self._app, self._app.layout)
            if self._waiting and not isinstance(self._waiting[0], str):
                self._do(self._waiting.popleft())

    def _do(self, what: str | Callable[[], object]) -> None:
        if not isinstance(what, str):
            what()
        elif what:
            self._app.output.enable_autowrap()
            self._app.output.write_raw(what)
            self._app.output.flush()
