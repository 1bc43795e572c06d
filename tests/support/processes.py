"""Processes that a test looks for by a word on their command line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil


def processes(mark: str) -> list[int]:
    """Processes that have a word on their command line, this one excepted."""
    found = []
    for one in psutil.process_iter(["pid", "cmdline"]):
        line = " ".join(one.info["cmdline"] or [])
        if mark in line and one.pid != os.getpid():
            found.append(one.pid)
    return found


def gone(mark: str, within: float = 5.0) -> bool:
    """Whether there is no such process any more, or soon."""
    end = time.monotonic() + within
    while processes(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def until(holds: Callable[[], object], within: float = 120.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)
