"""Ctrl-C in the main thread: held back for the few steps that belong together.

Python raises KeyboardInterrupt wherever the main thread is. A result that is stored and not yet
logged, or a thread that runs and isn't known yet, would stay so for ever.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, Self, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_MAIN = threading.main_thread().ident


class _Guard:
    """Our handler of SIGINT, which holds interrupts back while anybody wants that.

    An interrupt may come between any two lines of this class, too. Then ours may be left in place,
    where it does what the one before would do, until the next ``put`` and ``remove``.
    """

    def __init__(self) -> None:
        self.depth = 0  # of blocks in which interrupts are held
        self.on = False  # ours is in place, for certain
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
        """Put back what was there, unless other code has put something there meanwhile."""
        self.on = False  # first: nobody may rely on a handler that is gone
        if signal.getsignal(signal.SIGINT) == self.heard:
            signal.signal(signal.SIGINT, self.before)

    def deliver(self) -> None:
        """Raise what came meanwhile, once nobody holds it any more."""
        if self.came and not self.depth:
            came, self.came = self.came[0], []
            handler = self.before if self.on else signal.getsignal(signal.SIGINT)
            if callable(handler):
                handler(*came)


_GUARD = _Guard()


def held_back() -> bool:
    """Whether an interrupt has come, and waits until the code that holds it back is done."""
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
    block must not wait, unless it is an :func:`unbroken` end. In other threads, which no interrupt
    strikes, this does nothing.
    """

    __slots__ = ("_depth", "_main", "_mine")

    def __enter__(self) -> None:
        self._mine = False
        self._main = threading.get_ident() == _MAIN
        if not self._main:
            return
        self._depth = _GUARD.depth
        if not self._depth:
            _GUARD.came.clear()  # what another interrupt kept from being delivered: once is enough
        try:
            if not _GUARD.on:
                self._mine = _GUARD.put()
            _GUARD.depth = self._depth + 1  # last, and taken back first: so none is held for ever
        except BaseException:  # an interrupt came before it could be held
            _GUARD.remove()
            raise

    def __exit__(self, *_: object) -> None:
        if not self._main:
            return
        try:
            _GUARD.depth = self._depth
        finally:
            if self._mine:
                _GUARD.remove()
        if _GUARD.came:
            _GUARD.deliver()


def unbroken(close: Callable[P, R]) -> Callable[P, R]:
    """Make a function that closes something do all of it, also when an interrupt comes meanwhile.

    The interrupt is raised afterwards: threads that nobody joined, and files that say that they
    still work, would stay. A further one gives up the wait that is under way; see :func:`more`.
    """

    @functools.wraps(close)
    def closed(*args: P.args, **options: P.kwargs) -> R:
        begun = False
        try:
            with uninterrupted():
                begun = True
                return close(*args, **options)
        except KeyboardInterrupt:
            if not begun:  # it came before it could be held
                closed(*args, **options)
            raise

    return closed


def more() -> bool:
    """Whether a further interrupt has come while one is held: then a wait has to be given up.

    It is reported once, and only to the main thread, which interrupts strike.
    """
    told = _GUARD.depth > 0 and len(_GUARD.came) > 1 and threading.get_ident() == _MAIN
    if told:
        del _GUARD.came[1:]
    return told
