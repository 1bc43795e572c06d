"""Threads are overtaken where it hurts: ``OVERTAKEN=1 pytest tests``, with any number as a seed.

A thread that has woken another one, started one or a process, or logged an event, now and then
loses its turn there for some milliseconds, as it does on a slow or busy machine, only more often.
What passes just because one thread has always come first does not pass.
"""

from __future__ import annotations

import functools
import os
import random
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

SWITCH = "OVERTAKEN"
OFTEN, LONG = 0.5, 0.03  # how often a turn is lost; for how many seconds at most
_SELDOM = 0.1  # of the events: there are many
_sleep = time.sleep  # a test may replace it


def begin(seed: str) -> None:
    """From now on, in this process."""
    chance = random.Random(f"{seed} {os.getpid()}")

    def pause(often: float = OFTEN) -> None:
        if chance.random() < often:
            _sleep(chance.random() * LONG)

    def then_pause(owner: type, name: str, often: float = OFTEN) -> None:
        setattr(owner, name, _with(getattr(owner, name), lambda: pause(often)))

    # Who is told wakes up when the lock is free, so it is then that the teller falls behind.
    notify, leave = threading.Condition.notify, threading.Condition.__exit__

    def told(self: Any, n: int = 1) -> None:
        notify(self, n)
        self._told = True

    def left(self: Any, *error: Any) -> None:
        told, self._told = getattr(self, "_told", False), False
        leave(self, *error)
        if told:
            pause()

    condition: Any = threading.Condition
    condition.notify, condition.__exit__ = told, left
    then_pause(threading.Thread, "start")
    then_pause(subprocess.Popen, "__init__")

    from learnkit.events.log import EventLog

    then_pause(EventLog, "append", _SELDOM)


def _with(done: Callable[..., Any], pause: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(done)
    def both(*args: Any, **options: Any) -> Any:
        result = done(*args, **options)
        pause()
        return result

    return both
