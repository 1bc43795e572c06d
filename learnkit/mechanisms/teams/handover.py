"""Handovers: work on its way from one member of a team to another, which nobody may overlook.

A message or a task that a teammate is just taking is neither waiting nor being worked on. A lead
that looks at one member after the other could miss it everywhere, and end its run. A lock would
hold up the whole team while one member claims a task, so handovers are counted instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Handover:
    """Counts the handovers of a team: those under way, and those that are over."""

    def __init__(self, settled: Callable[[], object]) -> None:
        self._settled = settled
        self._passing = self._passed = 0
        self._asked = False  # an agent has looked while something was on its way
        self._lock = threading.Lock()  # for the counters, and never longer

    @contextmanager
    def passing(self) -> Iterator[None]:
        """While the body runs, something passes: nobody takes the team for being at rest."""
        with self._lock:
            self._passing += 1
        try:
            yield
        finally:
            with self._lock:
                self._passing -= 1
                self._passed += 1
                asked = self._asked and not self._passing
                self._asked = self._asked and not asked
            if asked:
                self._settled()

    def at_rest(self, look: Callable[[], bool]) -> bool:
        """Whether a look at all members finds them at rest, and nothing has passed meanwhile."""
        while True:
            with self._lock:
                if self._passing:
                    self._asked = True
                    return False
                before = self._passed
            if not look():
                return False
            with self._lock:
                if not self._passing and self._passed == before:
                    return True
