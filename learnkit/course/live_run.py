"""A run in which a person takes part while it goes on: it has a thread, so that clicks are heard.

A notebook's kernel does one thing at a time. As long as a cell runs a team, no click is handled. So
the team runs in a thread of its own, on a paced virtual clock, and the cell is over at once. In the
static form nobody clicks: visits at fixed times on the clock stand in for the person.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from learnkit.course.scenario import Run
from learnkit.runtime.virtual_clock import VirtualClock

Visit = tuple[float, dict[str, Any]]


class Stage:
    """One such run.

    Args:
        run: fresh, and open until :meth:`close`.
        opened: what has to be closed after it.
        live: whether a person sits in front of it.
    """

    def __init__(self, run: Run, opened: contextlib.ExitStack, live: bool) -> None:
        self.run, self._opened, self._live = run, opened, live
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def go(
        self,
        work: Callable[[], object],
        visits: Sequence[Visit] = (),
        handle: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        """Do the work: in a thread, if a person watches, else here and now.

        Args:
            work: runs the agents, until all is done.
            visits: seconds and intents, in the order of time: what a person might click, in the
                static form.
            handle: what a view does with an intent.
        """
        if self._live:
            self._thread = threading.Thread(target=self._do, args=(work,), daemon=True)
            self._thread.start()
            return
        visitor = self.run.clock.spawn("a visitor", self._visit, visits, handle)
        work()
        visitor.join()

    def close(self) -> None:
        """End what runs, and remove its workspace. Twice is no error.

        Raises:
            BaseException: what the work has raised, if it failed in its thread.
        """
        clock = self.run.clock
        if self._thread is not None:
            while self._thread.is_alive():
                for stop in list(clock._stops):
                    stop.set()
                if isinstance(clock, VirtualClock):
                    clock.skip()
                self._thread.join(0.05)
            self._thread = None
        self._opened.close()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _visit(self, visits: Sequence[Visit], handle: Callable[[dict[str, Any]], object]) -> None:
        clock = self.run.clock
        for seconds, intent in visits:
            clock.sleep(max(0.0, seconds - clock.time()))
            handle(intent)

    def _do(self, work: Callable[[], object]) -> None:
        try:
            with self.run.clock:
                work()
        except BaseException as error:  # told when it is closed
            self._error = error
