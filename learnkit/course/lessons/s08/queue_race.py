"""Lesson 8's unlucky moment: a job ends while the agent's thread empties the queue.

The threads are real. The job's thread says when it has stored its result, and a
:class:`WatchedLock` says when a thread has to wait for it, so no time is lost. A lock of the
learner's own says nothing; then the agent's thread goes on after five seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

PATIENCE = 5.0  # seconds for which a job gets time to put its result


class Queue(Protocol):
    """What the learner builds."""

    def put(self, result: str) -> None:
        """Add a result."""

    def drain(self) -> list[str]:
        """Take all results out."""


class NoLock:
    """A lock that keeps nobody out."""

    def __init__(self) -> None:
        self.waiting = threading.Event()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class WatchedLock(NoLock):
    """A real lock, which sets ``waiting`` when a thread has to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.waiting.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def meet(make: Callable[[Any, Callable[[], None]], Queue], lock: NoLock) -> list[list[str]]:
    """Let a job end in the middle of a drain."""

    def end() -> None:
        queue.put("late")
        lock.waiting.set()

    job = threading.Thread(target=end)

    def pause() -> None:
        if job.ident is None:
            job.start()
            lock.waiting.wait(PATIENCE)  # until the job has put its result, or has to wait

    queue = make(lock, pause)
    queue.put("early")
    drained = [queue.drain()]
    if job.ident is not None:
        job.join()
    return [*drained, queue.drain()]
