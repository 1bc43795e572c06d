"""Time, threads and signals, real or simulated, behind one interface.

``SystemClock`` is the wall clock. ``VirtualClock`` is a discrete-event scheduler over real
threads: exactly one of its participants runs at a time, and another takes over only where one
sleeps, waits or ends. So a team of threads is reproducible to the byte, and an idle minute takes
no time. Nothing may hold a lock while it sleeps.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import random
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Self

from learnkit.errors import LearnkitError, UsageError

#: What a virtual clock calls its second 0, where a date has to be written down.
VIRTUAL_START = datetime(2026, 1, 1, tzinfo=UTC)


class StuckError(LearnkitError):
    """Everyone waits and nothing can wake anyone; the message says who waits for what."""


class _Unwind(BaseException):
    """Ends a parked thread when its clock closes; not an Exception, so tools do not catch it."""


class Signal:
    """A flag that a wait can watch: it is set once for everybody, until it is cleared."""

    __slots__ = ("_clock", "_on", "name")

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock, self.name, self._on = clock, name, False

    def set(self) -> None:
        """Turn the signal on; whoever waits for it goes on."""
        self._clock._turn(self, True)

    def clear(self) -> None:
        """Turn the signal off again."""
        self._clock._turn(self, False)

    def is_set(self) -> bool:
        """Whether the signal is on."""
        return self._on

    def __repr__(self) -> str:
        return f"<Signal {self.name!r} {'set' if self._on else 'not set'}>"


class Worker:
    """A thread that a clock has started."""

    def __init__(self, clock: Clock, name: str) -> None:
        self.name = name
        self.ended = clock.signal(f"the end of {name!r}")
        self._clock = clock
        self._error: BaseException | None = None
        self._value: Any = None
        self._thread: threading.Thread | None = None

    @property
    def done(self) -> bool:
        """Whether the thread's function has returned or raised."""
        return self.ended.is_set()

    def join(self, timeout: float | None = None) -> Any:
        """Wait for the thread to end.

        Args:
            timeout: at most so many seconds on the clock; None waits for ever.

        Returns:
            What its function returned; None when it is still running at the timeout.

        Raises:
            BaseException: the very exception that ended the thread's function.
        """
        if not self._clock.wait(self.ended, timeout=timeout):
            return None
        if self._thread is not None:
            self._thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._value

    def _work(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            self._value = function(*args)
        except _Unwind:
            pass  # the clock has closed: nobody is left to tell
        except BaseException as error:
            self._error = error


class Clock(ABC):
    """What agents, mechanisms and tools use instead of ``time`` and ``threading``."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []
        self._stops: list[Signal] = []
        self._closed = False

    @abstractmethod
    def time(self) -> float:
        """Seconds since the clock was made."""

    @abstractmethod
    def now(self) -> datetime:
        """The date and time, in UTC, for what is written to files."""

    @abstractmethod
    def new_id(self) -> str:
        """Eight characters that this clock has not given before."""

    @abstractmethod
    def wait(self, *signals: Signal, timeout: float | None = None) -> bool:
        """Wait until one of the signals is set, or for ``timeout`` seconds.

        Returns:
            True when a signal is set, False at the timeout.
        """

    @abstractmethod
    def _turn(self, signal: Signal, on: bool) -> None: ...

    @abstractmethod
    def _start(self, worker: Worker, run: Callable[[], None]) -> None: ...

    def sleep(self, seconds: float, stop: Signal | None = None) -> bool:
        """Let ``seconds`` pass, or less if ``stop`` is set meanwhile.

        Returns:
            True when ``stop`` is set, which ends the sleep at once.

        Raises:
            UsageError: if ``seconds`` is negative or no number.
        """
        if not seconds >= 0:
            raise UsageError(f"cannot sleep for {seconds!r} seconds; give a number from 0 up")
        return self.wait(*([stop] if stop else []), timeout=seconds)

    def signal(self, name: str = "a signal") -> Signal:
        """A new signal; its name stands in reports of who waits for what."""
        return Signal(self, name)

    @contextlib.contextmanager
    def interruptible(self, stop: Signal) -> Iterator[None]:
        """While the block runs, an interrupt of the main thread's wait also sets ``stop``."""
        self._stops.append(stop)
        try:
            yield
        finally:
            self._stops.remove(stop)

    def spawn(self, name: str, function: Callable[..., Any], *args: Any) -> Worker:
        """Run ``function(*args)`` in a thread of its own.

        Args:
            name: for reports and debuggers.

        Returns:
            The worker, to be joined. What the function raises is kept, and raised by ``join``.
        """
        if self._closed:
            raise UsageError(f"cannot start {name!r}: this clock has been closed; make a new one")
        worker = Worker(self, name)
        context = contextvars.copy_context()
        self._workers = [one for one in self._workers if not one.done or one._error]
        self._workers.append(worker)
        self._start(worker, lambda: context.run(worker._work, function, args))
        return worker

    def close(self) -> None:
        """Set the stop signals of everything that runs, and join all threads.

        Raises:
            BaseException: the first exception of a thread that nobody has joined.
        """
        self._closed = True
        for stop in list(self._stops):
            stop.set()
        errors = []
        for worker in self._workers:
            try:
                worker.join()
            except StuckError:
                break  # a virtual clock unwinds the rest
            except Exception as error:
                errors.append(error)
        self._workers = []
        if errors:
            raise errors[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:  # the error on its way out matters more than one found while tidying up
            with contextlib.suppress(Exception):
                self.close()


class SystemClock(Clock):
    """The wall clock, and ordinary threads. A script ends only when its threads have ended."""

    def __init__(self) -> None:
        super().__init__()
        self._zero = time.monotonic()
        self._changed = threading.Condition()

    def time(self) -> float:
        return time.monotonic() - self._zero

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new_id(self) -> str:
        return uuid.uuid4().hex[:8]

    def wait(self, *signals: Signal, timeout: float | None = None) -> bool:
        limit = None if timeout is None else min(timeout, threading.TIMEOUT_MAX)
        try:
            with self._changed:
                return self._changed.wait_for(lambda: any(one._on for one in signals), limit)
        except KeyboardInterrupt:
            for stop in list(self._stops):
                stop.set()
            raise

    def _turn(self, signal: Signal, on: bool) -> None:
        with self._changed:
            signal._on = on
            self._changed.notify_all()

    def _start(self, worker: Worker, run: Callable[[], None]) -> None:
        def body() -> None:
            run()
            worker.ended.set()

        worker._thread = threading.Thread(target=body, name=worker.name, daemon=False)
        worker._thread.start()


@dataclass(slots=True, eq=False)
class _Participant:
    """One thread of a virtual clock: what it waits for, and the baton that wakes it."""

    name: str
    until: float = math.inf
    tie: float = 0.0
    signals: tuple[Signal, ...] = ()
    baton: threading.Event = field(default_factory=threading.Event)
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
        pace: real seconds for a virtual second, so that a picture can be watched growing.
            0 waits for nothing.

    The thread that first sleeps or waits is the main participant; others come from ``spawn``.
    Method: next-event time advance as in any discrete-event simulation, with a baton (one event
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
        self._main = self._running = _Participant("main")
        self._main_thread: threading.Thread | None = None
        self._parked: list[_Participant] = []
        self._to_main = False  # an interrupt: main is next, whatever the time
        self._owed = 0.0  # virtual seconds passed but not yet paced
        self._hurry = threading.Event()

    def time(self) -> float:
        return self._now

    def now(self) -> datetime:
        return VIRTUAL_START + timedelta(seconds=self._now)

    def new_id(self) -> str:
        return f"{next(self._ids):08x}"

    def skip(self) -> None:
        """Stop pacing: from now on virtual time takes no real time."""
        self.pace = 0.0
        self._hurry.set()

    def wait(self, *signals: Signal, timeout: float | None = None) -> bool:
        me = self._me()
        if any(signal._on for signal in signals):
            return True
        me.until = math.inf if timeout is None else self._now + timeout
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
            raise _Unwind
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
        chosen.baton.set()

    def _await_baton(self, me: _Participant) -> None:
        # A baton may be handed twice after an interrupt; who runs is what counts.
        while self._running is not me:
            me.baton.wait()
            me.baton.clear()
        if self._owed:
            owed, self._owed = self._owed, 0.0
            if self.pace:
                self._hurry.wait(owed * self.pace)

    def _take_back(self, main: _Participant) -> None:
        """After an interrupt: stop the agents, and run main alone again.

        Whoever runs now goes on to its next wait, which a stop signal makes soon. A second
        interrupt does not wait for that: that thread is disowned, and ends at its next wait.
        """
        for stop in list(self._stops):
            stop.set()
        while True:
            try:
                with self._mutex:
                    if self._running is main:
                        if main in self._parked:
                            self._parked.remove(main)
                        self._to_main = False
                        if self.pace:
                            self._hurry.clear()
                        return
                    self._to_main = True
                    self._hurry.set()
                    self._running.baton.set()
                while self._running is not main:
                    main.baton.wait()
                    main.baton.clear()
            except KeyboardInterrupt:
                with self._mutex:
                    if self._running is not main:
                        self._running.disowned = True
                        self._running = main

    def _turn(self, signal: Signal, on: bool) -> None:
        signal._on = on  # read by others only when they hold the baton

    def _start(self, worker: Worker, run: Callable[[], None]) -> None:
        self._me()
        participant = _Participant(worker.name, until=self._now)

        def body() -> None:
            self._here.me = participant
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

    def close(self) -> None:
        """As above; threads that no signal and no time would wake end where they wait."""
        try:
            super().close()
        finally:
            self._unwind()

    def _unwind(self) -> None:
        while self._parked:
            for one in self._parked:
                one.error, one.until = _Unwind(), self._now
            self.sleep(0)
