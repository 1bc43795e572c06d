"""A run that continues in a thread after its cell has ended, so that the learner can take part.

A notebook's kernel does one thing at a time: it handles no click while a cell runs. So the team
runs in a thread of its own, on a paced virtual clock, and the cell ends at once. In the static form
nobody clicks: planned clicks, at given times on the clock, take the learner's place.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from learnkit.course.scenario import Run
from learnkit.runtime.virtual_clock import VirtualClock

Intent = dict[str, Any]
Click = tuple[float, Intent]  # seconds on the clock, and what was asked for


class LiveRun:
    """One such run.

    Args:
        run: a fresh one, which stays open until :meth:`close`.
        opened: what has to be closed after the run.
        threaded: whether to run in a thread; otherwise :meth:`go` returns when the run is over.
    """

    def __init__(self, run: Run, opened: contextlib.ExitStack, threaded: bool) -> None:
        self.run, self._opened, self._threaded = run, opened, threaded
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def go(
        self,
        work: Callable[[], object],
        clicks: Sequence[Click] = (),
        handle: Callable[[Intent], object] = lambda intent: None,
    ) -> None:
        """Start the work.

        Args:
            work: runs the agents until all is done.
            clicks: seconds and intents, in the order of time: what a person might click, for the
                static form.
            handle: what a view does with an intent.
        """
        if self._threaded:
            self._thread = threading.Thread(target=self._work, args=(work,), daemon=True)
            self._thread.start()
            return
        clicking = self.run.clock.spawn("clicks", self._click, clicks, handle)
        work()
        clicking.join()

    def close(self) -> None:
        """Stop the agents, and remove the workspace. Twice is no error.

        Raises:
            BaseException: what the work has raised in its thread.
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

    def _click(self, clicks: Sequence[Click], handle: Callable[[Intent], object]) -> None:
        clock = self.run.clock
        for seconds, intent in clicks:
            clock.sleep(max(0.0, seconds - clock.time()))
            handle(intent)

    def _work(self, work: Callable[[], object]) -> None:
        try:
            with self.run.clock:
                work()
        except BaseException as error:  # raised again by close
            self._error = error
