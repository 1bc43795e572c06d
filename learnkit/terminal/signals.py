"""Signals, and a terminal that is gone: what a process in a terminal has to hear."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Seconds that a reply on its way gets when the user, or a signal, ends the process. Jobs and
#: commands have ended long before.
LAST_REPLY = 5.0


@contextmanager
def heard(handler: Callable[[int, object], object], *wanted: signal.Signals) -> Iterator[None]:
    """While the block runs, these signals are handled so; only the main thread can have that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, handler) for one in wanted}
    try:
        yield
    finally:
        for one, old in before.items():
            signal.signal(one, old)


def be_silent() -> None:
    """The terminal is gone: what is still printed must not fail."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    os.close(nothing)
