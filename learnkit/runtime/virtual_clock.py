"""Simulated time: a discrete-event scheduler over real threads.

Exactly one of its participants runs at a time, and another takes over only where one sleeps, waits
or ends. So a team of threads is reproducible to the byte, and an idle minute takes no time.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from learnkit.errors import UsageError
from learnkit.runtime.clock import PATIENCE, Clock, Signal, StuckError, Unwind, Worker
from learnkit.runtime.interrupts import held_back, more

#: What a virtual clock calls its second 0, where a date has to be written down.
VIRTUAL_START = datetime(2026, 1, 1, tzinfo=UTC)

#: Real seconds that a paced clock waits at most in one go: half an hour has to be watched too.
LONGEST = 1.0


def _taken_lock() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


def _release(lock: threading.Lock) -> None:
    """Free the lock for the thread that waits for it, or the next one; twice is as good as once."""
    with contextlib.suppress(RuntimeError):
        lock.release()


@dataclass(slots=True, eq=False)
class _Participant:
    """One thread of a virtual clock: what it waits for, and the baton that wakes it.

    The baton is a bare lock: unlike ``threading.Event``, an interrupt cannot leave it broken.
    """

    name: str
    until: float = math.inf
    tie: float = 0.0
    signals: tuple[Signal, ...] = ()
    baton: threading.Lock = field(default_factory=_taken_lock)
    patience: float = -1  # seconds for which it blocks in one go; -1 is for ever
    error: BaseException | None = None
    disowned: bool = False

    def __str__(self) -> str:
        if self.until < math.inf:
            return f"{self.name} sleeps until {self.until:g} s"
        what = " or ".join(signal.name for signal in self.signals) or "nothing that can happen"
        return f"{self.name} waits for {what}"


class VirtualClock(Clock):
    """A discrete-event scheduler over real threads.

    Args:
        seed: 0 keeps ties in order of arrival; any other number permutes them, which is how
            races are searched for.
        pace: real seconds for a virtual second, so that a picture can be watched growing; at most
            one real second between two moments at which something happens. 0 waits for nothing.

    The thread that first sleeps or waits is the main participant; others come from ``spawn``.
    Method: next-event time advance as in any discrete-event simulation, with a baton (one lock
    a thread) that makes sure only one of the threads runs.
    """

    def __init__(self, seed: int = 0, pace: float = 0.0) -> None:
        super().__init__()
        self.pace = pace
        self._now = 0.0
        self._ids = count(1)
        arrivals = count()
        chance = random.Random(seed)
        self._tie: Callable[[], float] = chance.random if seed else lambda: next(arrivals)
        self._mutex = threading.Lock()
        self._here = threading.local()
        self._main = self._running = _Participant("main", patience=PATIENCE)
        self._main_thread: threading.Thread | None = None
        self._parked: list[_Participant] = []
        self._to_main = False  # an interrupt: main is next, whatever the time
        self._owed = 0.0  # virtual seconds passed but not yet paced
        self._hurry = _taken_lock()

    def time(self) -> float:
        return self._now

    def now(self) -> datetime:
        return VIRTUAL_START + timedelta(seconds=self._now)

    def new_id(self) -> str:
        return f"{next(self._ids):08x}"

    def skip(self) -> None:
        """Stop pacing: from now on virtual time takes no real time."""
        self.pace = 0.0
        _release(self._hurry)

    def wait(self, *signals: Signal, timeout: float | None = None) -> bool:
        me = self._me()
        if any(signal._on for signal in signals):
            return True
        me.until = math.inf if timeout is None else self._now + max(0.0, timeout)
        me.signals = signals
        try:
            with self._mutex:
                me.tie = self._tie()
                self._parked.append(me)
                self._pass_on()
            self._await_baton(me)
        except KeyboardInterrupt:
            self._take_back(me)
            raise
        if me.error is not None:
            error, me.error = me.error, None
            raise error
        return any(signal._on for signal in signals)

    def _me(self) -> _Participant:
        me: _Participant | None = getattr(self._here, "me", None)
        if me is None:
            thread = threading.current_thread()
            if self._main_thread is None or not self._main_thread.is_alive():
                self._main_thread = thread
            if self._main_thread is not thread:
                raise UsageError(
                    f"thread {thread.name!r} is no part of this virtual clock, so it cannot wait "
                    "on it; start it with clock.spawn(name, function)"
                )
            me = self._here.me = self._main
        if me.disowned:
            raise Unwind
        return me

    def _pass_on(self) -> None:
        """Choose who runs next, and hand over the baton. The caller holds the mutex."""
        signalled = [one for one in self._parked if any(signal._on for signal in one.signals)]
        if self._to_main:
            chosen = self._main
        elif signalled:
            chosen = min(signalled, key=lambda one: one.tie)
        else:
            chosen = min(self._parked, key=lambda one: (one.until, one.tie))
            if chosen.until == math.inf:
                waits = "; ".join(str(one) for one in self._parked)
                chosen = self._main
                chosen.error = StuckError(
                    f"nobody can go on at {self._now:g} s: {waits}. "
                    "Set one of these signals, or wait with a timeout."
                )
            else:
                self._owed += max(0.0, chosen.until - self._now)
                self._now = max(self._now, chosen.until)
        # In this order, so that an interrupt between two lines leaves a state to recover from.
        self._running = chosen
        self._parked.remove(chosen)
        _release(chosen.baton)

    def _await_baton(self, me: _Participant) -> None:
        # A baton may be handed twice after an interrupt; who runs is what counts.
        while self._running is not me:
            if me.disowned:
                raise Unwind
            me.baton.acquire(timeout=me.patience)
            if more():
                raise KeyboardInterrupt
        if self._owed:
            owed, self._owed = self._owed, 0.0
            self._hurry.acquire(blocking=False)  # one may be left over
            if self.pace and not self._to_main:
                self._hurry.acquire(timeout=min(owed * self.pace, LONGEST))

    def _take_back(self, main: _Participant) -> None:
        """After an interrupt: stop the agents, and run main alone again.

        Whoever runs now goes on to its next wait, which a stop signal makes soon. A second
        interrupt does not wait for that: that thread is disowned, and ends at its next wait.
        """
        impatient = held_back()
        while True:
            try:
                self.stop_all()
                with self._mutex:
                    running = self._running
                    if running is not main and running in self._parked:
                        self._parked.remove(running)  # the interrupt came while it was chosen
                    if impatient and running is not main:
                        running.disowned = True
                        self._running = main
                        _release(running.baton)
                    if self._running is main:
                        if main in self._parked:
                            self._parked.remove(main)
                        main.error, self._to_main = None, False
                        return
                    self._to_main = True
                    _release(self._hurry)
                    _release(running.baton)
                while self._running is not main:
                    main.baton.acquire(timeout=main.patience)
            except KeyboardInterrupt:
                impatient = True

    def _turn(self, signal: Signal, on: bool) -> None:
        signal._on = on  # read by others only when they hold the baton

    def _start(self, worker: Worker, run: Callable[[], None]) -> None:
        self._me()
        participant = _Participant(worker.name, until=self._now)

        def body() -> None:
            self._here.me = participant
            with contextlib.suppress(Unwind):
                self._await_baton(participant)
                if participant.error is None:  # else the clock closed before it began
                    run()
            with self._mutex:
                worker.ended._on = True
                if not participant.disowned:
                    self._pass_on()

        # A daemon: parked for ever when a script just ends, it must not hold up the exit.
        worker._thread = threading.Thread(target=body, name=worker.name, daemon=True)
        worker._thread.start()
        with self._mutex:
            participant.tie = self._tie()
            self._parked.append(participant)

    def _end_stuck(self, workers: list[Worker]) -> None:
        self._me()  # only a participant may
        while self._parked:
            for one in self._parked:
                one.error, one.until = Unwind(), self._now
            with contextlib.suppress(KeyboardInterrupt):  # a further one; the first is held
                self.sleep(0)
        for worker in workers:
            if worker.done and worker._thread is not None:
                worker._thread.join()
