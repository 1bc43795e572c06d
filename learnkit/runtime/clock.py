"""Time, threads and signals behind one interface, and the wall clock.

Agents, mechanisms and tools use a ``Clock`` instead of ``time`` and ``threading``, so that the
same code runs on real and on simulated time: signals to wait for, threads that can be joined, one
way to stop. Nothing may hold a lock while it sleeps.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Self

from learnkit.errors import LearnkitError, UsageError
from learnkit.runtime.interrupts import held_back, more, unbroken, uninterrupted

#: Seconds for which the main thread blocks in one go. An interrupt that comes in the instant before
#: it blocks is not heard before it wakes, so it must not block for ever.
PATIENCE = 0.5

#: Seconds that the threads of a system clock get to end when the process ends.
EXIT_PATIENCE = 5.0


class StuckError(LearnkitError):
    """Everyone waits and nothing can wake anyone; the message says who waits for what."""


class Unwind(BaseException):
    """Ends a parked thread when its clock closes; not an Exception, so tools do not catch it."""


class Signal:
    """A flag that a wait can watch: set for every thread, until it is cleared.

    Attributes:
        name: what it says, such as ``the stop of 'alice'``.
    """

    __slots__ = ("_clock", "_on", "name")

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock, self.name, self._on = clock, name, False

    def set(self) -> None:
        """Turn the signal on; every thread that waits for it continues."""
        self._clock._turn(self, True)

    def clear(self) -> None:
        """Turn the signal off again."""
        self._clock._turn(self, False)

    def is_set(self) -> bool:
        """Whether the signal is on."""
        return self._on


#: What the caller of this code may be stopped by, from the outermost block to the innermost.
_STOPS: contextvars.ContextVar[tuple[Signal, ...]] = contextvars.ContextVar("stops", default=())


@contextlib.contextmanager
def stopped_by(stop: Signal) -> Iterator[None]:
    """While the block runs, this signal also ends waits on which no clock is asked."""
    token = _STOPS.set((*_STOPS.get(), stop))
    try:
        yield
    finally:
        _STOPS.reset(token)


def stopped() -> bool:
    """Whether a stop is set that this code runs under, or the main thread waits to be interrupted.

    See :func:`stopped_by`. What waits may hold a lock that the main thread needs to get there.
    """
    return held_back() or any(stop.is_set() for stop in _STOPS.get())


class Worker:
    """A thread that a clock has started.

    Attributes:
        name: of the thread.
        ended: is set when the thread's function has returned or raised.
        error: what it raised, if it did.
    """

    def __init__(self, clock: Clock, name: str) -> None:
        self.name = name
        self.ended = clock.signal(f"the end of {name!r}")
        self._clock = clock
        self.error: BaseException | None = None
        self._raised = False  # the error was raised by a join
        self._value: Any = None
        self._thread: threading.Thread | None = None

    @property
    def done(self) -> bool:
        """Whether the thread's function has returned or raised."""
        return self.ended.is_set()

    @property
    def _alive(self) -> bool:
        """Whether the thread has not ended yet, which it does a moment after ``done``."""
        return not self.done or (self._thread is not None and self._thread.is_alive())

    def join(self, timeout: float | None = None) -> Any:
        """Wait for the thread to end."""
        if not self._clock.wait(self.ended, timeout=timeout):
            return None
        if self._thread is not None:
            self._thread.join()
        if self.error is not None:
            self._raised = True
            raise self.error
        return self._value

    def _work(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            self._value = function(*args)
        except Unwind:
            pass  # the clock has closed: no one joins this thread any more
        except BaseException as error:
            self.error = error


class Clock(ABC):
    """What agents, mechanisms and tools use instead of ``time`` and ``threading``."""

    def __init__(self) -> None:
        self._workers: list[Worker] = []
        self._stops: list[Signal] = []
        self._closed = False
        self._guard = threading.Lock()

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

        Args:
            signals: any one of them ends the wait.
            timeout: seconds; None waits for ever.

        Returns:
            True when a signal is set, False at the timeout.
        """

    @abstractmethod
    def _turn(self, signal: Signal, on: bool) -> None: ...

    @abstractmethod
    def _start(self, worker: Worker, run: Callable[[], None]) -> None: ...

    def sleep(self, seconds: float, stop: Signal | None = None) -> bool:
        """Let ``seconds`` pass, or less if ``stop`` is set meanwhile.

        Args:
            seconds: 0 or more.
            stop: ends the sleep early.

        Returns:
            True when ``stop`` is set, which ends the sleep at once.

        Raises:
            UsageError: if ``seconds`` is negative or no number.
        """
        if not seconds >= 0:
            raise UsageError(f"cannot sleep for {seconds!r} seconds; give a number from 0 up")
        return self.wait(*([stop] if stop else []), timeout=seconds)

    def signal(self, name: str = "a signal") -> Signal:
        """A new signal; its name appears in reports of who waits for what.

        Args:
            name: what it stands for.
        """
        return Signal(self, name)

    @contextlib.contextmanager
    def interruptible(self, stop: Signal) -> Iterator[None]:
        """While the block runs, an interrupt of the main thread's wait also sets ``stop``.

        So does closing the clock, also when one of its threads comes here after that.

        Args:
            stop: the signal of what runs in the block; as for :func:`stopped_by`.
        """
        self._stops.append(stop)
        if self._closed and self._runs_here():
            stop.set()
        try:
            with stopped_by(stop):
                yield
        finally:
            self._stops.remove(stop)

    def spawn(self, name: str, function: Callable[..., Any], *args: Any) -> Worker:
        """Run ``function(*args)`` in a thread of its own.

        Args:
            name: for reports and debuggers.
            function: what the thread runs.
            args: its arguments.

        Returns:
            The worker, to be joined. What the function raises is kept, and raised by ``join``.

        Raises:
            UsageError: if the clock has been closed.
        """
        if self._closed:
            raise UsageError(f"cannot start {name!r}: this clock has been closed; make a new one")
        worker = Worker(self, name)
        context = contextvars.copy_context()
        with self._guard:
            workers = self._workers
            keep = [w for w in workers if w._alive or (w.error and not w._raised)]
            self._workers = [*keep, worker]
        with uninterrupted():  # a thread that runs is known, and one that is known runs
            try:
                self._start(worker, lambda: context.run(worker._work, function, args))
            except BaseException:
                with self._guard:
                    self._workers.remove(worker)
                raise
        return worker

    def stop_all(self) -> None:
        """Set the stop signals of everything that runs, as an interrupt of a wait does."""
        for stop in list(self._stops):
            stop.set()

    @unbroken
    def close(self) -> None:
        """Set the stop signals of everything that runs, and join all threads.

        Raises:
            BaseException: the first exception of a thread that was not joined.
            UsageError: if one of the clock's own threads calls it.
        """
        workers = self._workers
        if self._runs_here():
            raise UsageError("a thread of this clock cannot close it: it would wait for itself")
        self._closed = True
        self.stop_all()
        told = [worker.error for worker in workers if worker._raised]
        errors = [error for error in joined(workers, stuck=True) if error not in told]
        self._end_stuck(workers)
        self._workers = []
        if errors:
            raise errors[0]

    def _runs_here(self) -> bool:
        """Whether the thread that asks is one of the clock's own."""
        return threading.current_thread() in [worker._thread for worker in self._workers]

    @abstractmethod
    def _end_stuck(self, workers: list[Worker]) -> None:
        """End the threads that nothing would wake any more."""

    def __enter__(self) -> Self:
        return self

    @unbroken
    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:  # the error on its way out matters more than one found while tidying up
            with contextlib.suppress(Exception):
                self.close()


def joined(workers: Iterable[Worker], *, stuck: bool = False) -> list[BaseException]:
    """Wait for the end of threads that have been stopped; return the exceptions that ended them.

    An interrupt that comes while another is held gives up the wait for one of them.
    """
    errors = []
    for worker in workers:
        try:
            worker.join()
        except BaseException as error:
            if error is worker.error:
                errors.append(error)
            elif not (
                isinstance(error, KeyboardInterrupt) or (stuck and isinstance(error, StuckError))
            ):
                raise
    return errors


class SystemClock(Clock):
    """The wall clock, and ordinary threads.

    When a script ends without closing it, its threads are stopped and waited for, at most
    ``EXIT_PATIENCE`` seconds: an idle teammate would keep the process alive for ever.

    Args:
        start: the time at which it begins, in seconds: where a log that goes on has ended.
    """

    def __init__(self, start: float = 0.0) -> None:
        super().__init__()
        self._zero = time.monotonic() - start
        self._changed = threading.Condition()
        self._threads: set[threading.Thread] = set()
        weakref.finalize(self, _stop_and_join, self._stops, self._threads)

    def time(self) -> float:
        return time.monotonic() - self._zero

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new_id(self) -> str:
        return os.urandom(4).hex()

    def wait(self, *signals: Signal, timeout: float | None = None) -> bool:
        end = math.inf if timeout is None else time.monotonic() + max(0.0, timeout)
        try:
            with self._changed:
                while not any(signal._on for signal in signals):
                    left = end - time.monotonic()
                    if left <= 0:
                        return False
                    self._changed.wait(min(left, PATIENCE))
                    if more():
                        raise KeyboardInterrupt
            return True
        except KeyboardInterrupt:
            self.stop_all()
            raise

    def _turn(self, signal: Signal, on: bool) -> None:
        with self._changed:
            signal._on = on
            self._changed.notify_all()

    def _start(self, worker: Worker, run: Callable[[], None]) -> None:
        def body() -> None:
            try:
                run()
            finally:
                self._threads.discard(thread)
                worker.ended.set()

        # A daemon, because the interpreter joins all others before it lets anybody stop them.
        thread = threading.Thread(target=body, name=worker.name, daemon=True)
        worker._thread = thread
        self._threads.add(thread)
        try:
            thread.start()
        except BaseException:
            self._threads.discard(thread)
            raise

    def _end_stuck(self, workers: list[Worker]) -> None:
        """None is left: joining waits for as long as it takes."""


def _stop_and_join(stops: list[Signal], threads: set[threading.Thread]) -> None:
    """At the end of the process: stop what runs, and give it some seconds to end."""
    end = time.monotonic() + EXIT_PATIENCE
    while threads and time.monotonic() < end:
        for stop in list(stops):  # a thread may only now come to where it can be stopped
            stop.set()
        for thread in list(threads):
            thread.join(0.05)
