"""Ctrl-C in the main thread: held back for the few steps that belong together.

Python raises KeyboardInterrupt wherever the main thread is. A result that is stored and not yet
logged, or a thread that runs and isn't known yet, would stay so for ever.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

_MAIN = threading.main_thread().ident


class _Guard:
    """Our handler of SIGINT, which holds interrupts back while anybody wants that.

    An interrupt may come between any two lines of this class, too. Whatever is left then, ours in
    place or not, the next ``put`` and ``remove`` put right.
    """

    def __init__(self) -> None:
        self.depth = 0  # of blocks in which interrupts are held
        self.on = False  # ours is in place
        self.before: Callable[[int, FrameType | None], Any] = signal.default_int_handler
        self.came: list[tuple[int, FrameType | None]] = []

    def heard(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT."""
        if self.depth:
            self.came.append((number, frame))
        else:
            self.came.clear()
            self.before(number, frame)

    def put(self) -> bool:
        """Put our handler in place of Python's; tell whether that was done here."""
        before = signal.getsignal(signal.SIGINT)
        if self.on or not callable(before):  # or it is ignored, or not Python's business
            return False
        if before != self.heard:
            self.before = before
        try:
            signal.signal(signal.SIGINT, self.heard)
            self.on = True
        except BaseException:
            self.remove()
            raise
        return True

    def remove(self) -> None:
        """Put back what was there, unless somebody else has put something there meanwhile."""
        try:
            if signal.getsignal(signal.SIGINT) == self.heard:
                signal.signal(signal.SIGINT, self.before)
        finally:
            self.on = False

    def deliver(self) -> None:
        """Raise what came meanwhile, once nobody holds it any more."""
        if self.came and not self.depth:
            came, self.came = self.came[0], []
            handler = self.before if self.on else signal.getsignal(signal.SIGINT)
            if callable(handler):
                handler(*came)


_GUARD = _Guard()


def held_back() -> bool:
    """Whether an interrupt has come, and waits until somebody who holds it back is done."""
    return bool(_GUARD.came)


class holdable:
    """While the block runs, holding interrupts back costs next to nothing.

    Setting a handler takes microseconds; this sets it once. For what holds them often: a run.
    """

    __slots__ = ("_mine",)

    def __enter__(self) -> Self:
        try:
            self._mine = threading.get_ident() == _MAIN and _GUARD.put()
            return self
        except BaseException:
            _GUARD.remove()
            raise

    def __exit__(self, *_: object) -> None:
        if self._mine:
            _GUARD.remove()


class uninterrupted:
    """Hold an interrupt of the main thread back until the block has ended.

    For a few steps that belong together, such as starting a thread and noting that it runs. The
    block must not wait. In other threads, which no interrupt strikes, this does nothing.
    """

    __slots__ = ("_main", "_mine")

    def __enter__(self) -> None:
        self._mine = False
        self._main = threading.get_ident() == _MAIN
        if not self._main:
            return
        _GUARD.depth += 1
        if not _GUARD.on:
            try:
                self._mine = _GUARD.put()
            except BaseException:  # an interrupt came before our handler was there
                _GUARD.depth -= 1
                _GUARD.remove()
                raise

    def __exit__(self, *_: object) -> None:
        if not self._main:
            return
        try:
            if self._mine:
                _GUARD.remove()
        finally:
            _GUARD.depth -= 1
        if _GUARD.came:
            _GUARD.deliver()
