"""A stage: agents that work on after their cell has ended, so that the reader can take part.

A notebook's kernel handles no click while a cell runs. So the agents run in a thread of their own,
on a paced virtual clock, from the press of Start until they are done. In the static form nobody
clicks: planned clicks, at given times on the clock, take the reader's place.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from learnkit.course.games.playing import PLAYING
from learnkit.course.scenario import Run
from learnkit.errors import described
from learnkit.events.log import EventLog
from learnkit.runtime.clock import Clock
from learnkit.runtime.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from learnkit.views import View

Intent = dict[str, Any]
Handle = Callable[[Intent], object]
Click = tuple[float, Intent]  # seconds on the clock, and what was asked for
#: Sets the agents up on a fresh run. Returns what runs them to their end, and handles a click.
Play = Callable[[Run], tuple[Callable[[], object], Handle]]
#: Makes the view of a log, which hands each click on; without a handle it has no buttons.
Look = Callable[[EventLog, Handle | None], "View[Any]"]


def play_now(run: Run, play: Play, look: Look, clicks: Sequence[Click]) -> None:
    """Play in the cell that runs now, with planned clicks, until all is done."""
    work, handle = play(run)
    with look(run.events, handle).live(), run.clock:
        clicking = run.clock.spawn("clicks", _click, run.clock, clicks, handle)
        work()
        clicking.join()


def _click(clock: Clock, clicks: Sequence[Click], handle: Handle) -> None:
    for seconds, intent in clicks:
        clock.sleep(max(0.0, seconds - clock.time()))
        handle(intent)


class Stage:
    """A stage with a Start button, which can be pressed again for a fresh run.

    Attributes:
        box: the widget to show.
        press: what the button does.
    """

    def __init__(
        self,
        opened: Callable[[contextlib.ExitStack], Run],
        play: Play,
        look: Look,
        panel: Callable[[Run, BaseException], Any | None],
    ) -> None:
        from learnkit.course.games.start import Start

        self._opened, self._play, self._look, self._panel = opened, play, look, panel
        self._cell = PLAYING.place()
        self._thread: threading.Thread | None = None
        self._run: Run | None = None
        self._ending = False
        self._start = Start(self._begin, "Press Start, and take part while the agents work.")
        self.box, self.press = self._start.box, self._start.press

    def close(self) -> None:
        """Stop the agents; no thread and no workspace is left. Twice is no error."""
        if self._thread is None or self._run is None:
            return
        self._ending = True
        clock = self._run.clock
        while self._thread.is_alive():
            clock.stop_all()
            if isinstance(clock, VirtualClock):
                clock.skip()
            self._thread.join(0.05)
        self._thread, self._ending = None, False

    def _begin(self) -> list[Any]:
        self.close()
        with contextlib.ExitStack() as stack:
            stack.callback(PLAYING.over, self)
            PLAYING.begin(self._cell, self)
            run = self._run = self._opened(stack)
            work, handle = self._play(run)
            player = self._player(run, partial(self._clicked, handle))
            args = run, work, player, stack.pop_all()
        self._thread = threading.Thread(target=self._work, args=args, daemon=True)
        self._thread.start()
        return [player]

    def _player(self, run: Run, handle: Handle | None) -> Any:
        from learnkit.widget.host import Player

        player = Player(self._look(run.events, handle))
        player.settle()
        return player

    def _count(self, clock: Clock) -> None:
        """Say how late it is each second, until the clock is closed.

        A paced clock shortens a long wait in which nothing happens; with this nothing is longer
        than a second, so a learner who has to decide in time has that time.
        """
        over = clock.signal("the end")
        with clock.interruptible(over):
            while not over.is_set():
                self._start.count(f"{clock.time():.0f} s on the clock")
                clock.wait(over, timeout=1.0)

    def _clicked(self, handle: Handle, intent: Intent) -> None:
        if self._thread is not None and self._thread.is_alive():
            handle(intent)  # else its board is no longer there

    def _work(
        self, run: Run, work: Callable[[], object], player: Any, opened: contextlib.ExitStack
    ) -> None:
        error: BaseException | None = None
        with opened:
            try:
                with run.clock:
                    if getattr(run.clock, "pace", 1.0):  # else the time can't be watched
                        run.clock.spawn("seconds", self._count, run.clock)
                    work()
            except BaseException as raised:  # shown below the picture
                error = raised
        error = getattr(run.client.source, "stopped", None) or error
        if self._ending:
            return
        panel = self._panel(run, error) if error else None
        if panel:
            self._start.below.children = [player, panel]
        elif error:
            self._start.say(f"✗ {described(error)}")
        else:
            self._start.say(f"This run is over, after {run.clock.time():.0f} s on the clock.")
            self._start.below.children = [self._player(run, None)]
