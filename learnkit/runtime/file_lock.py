"""A lock that threads and processes share: a file, locked by the kernel.

The kernel frees it when its holder dies, however that happens, and wakes those who wait in its
queue. ``filelock`` would do the same with twenty times the work for each turn, and looks every few
milliseconds whether the lock is free; a team's mail takes the lock for each message.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class _Held(threading.local):
    """The locks of the running thread, each by device and inode: a file may have two names."""

    def __init__(self) -> None:
        self.files: set[tuple[int, int]] = set()


_HELD = _Held()


@contextmanager
def held(path: str | Path) -> Iterator[bool]:
    """Hold the lock while the block runs; every other thread and process waits for it."""
    while True:
        descriptor, file = _opened(path)
        try:
            if file in _HELD.files:
                yield False
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if not os.fstat(descriptor).st_nlink:
                continue  # the file was removed meanwhile: it locks nothing any more
            try:
                _HELD.files.add(file)  # in here: an interrupt right after it must undo it
                yield True
                return
            finally:
                _HELD.files.discard(file)
                # Closing does not do it while a child that was just forked has the file open too.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)


def is_free(path: str | Path) -> bool:
    """Whether no thread holds the lock, not even this one."""
    descriptor, _ = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def _opened(path: str | Path) -> tuple[int, tuple[int, int]]:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o666)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, flags, 0o666)
    stat = os.fstat(descriptor)
    return descriptor, (stat.st_dev, stat.st_ino)
