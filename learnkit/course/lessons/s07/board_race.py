"""Lesson 7's trials: workers on simulated time that create tasks on one board.

With another seed, the threads of a virtual clock run in another order. So you can search for a rare
race, and find it again. A worker that waits for a file lock waits on that clock too, so a board may
hold one while it pauses, as a repaired board does.
"""

from __future__ import annotations

import fcntl
import random
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError
from learnkit.runtime.clock import SystemClock
from learnkit.runtime.virtual_clock import VirtualClock

PATIENCE = 10.0  # real seconds after which a run counts as stuck; one takes milliseconds


@dataclass(frozen=True, slots=True)
class Race:
    """The result of one run.

    Attributes:
        created: tasks that the workers believe they have created.
        on_disk: tasks that exist.
        lost: the difference.
    """

    created: int
    on_disk: int
    lost: int


def races(
    make: Callable[[Path, Callable[[], None]], Any],
    seeds: Iterable[int],
    *,
    workers: int = 4,
    each: int = 5,
    gap: float = 0.1,
) -> list[Race]:
    """Let workers create tasks; before each one, a worker thinks for up to a virtual second."""
    return [_in_time(make, seed, workers, each, gap) for seed in seeds]


def _in_time(*run: Any) -> Race:
    """Run a race in a thread of its own, because one that is stuck must not block the notebook."""
    worker = SystemClock().spawn("race", _race, *run)
    result: Race = worker.join(timeout=PATIENCE)
    if worker.done:
        return result
    raise UsageError(
        f"the race has not ended in {PATIENCE:g} s: the board waits for something that only a "
        "worker in its pause can free. Lock a file with fcntl.flock, which may be held there."
    )


def _race(make: Callable[..., Any], seed: int, workers: int, each: int, gap: float) -> Race:
    with tempfile.TemporaryDirectory() as name, VirtualClock(seed=seed + 1) as clock:
        folder, chance = Path(name), random.Random(seed)
        board = make(folder, lambda: clock.sleep(gap) and None)
        pauses = [[chance.random() for _ in range(each)] for _ in range(workers)]

        def work(number: int) -> None:
            _OWN.wait = lambda: clock.sleep(gap)
            for pause in pauses[number]:
                clock.sleep(pause)
                board.create(f"found by worker {number}")

        for worker in [clock.spawn(f"worker {n}", work, n) for n in range(workers)]:
            worker.join()
        there = len(list(folder.glob("task_*.json")))
    return Race(workers * each, there, workers * each - there)


_OWN = threading.local()  # the wait of a worker's thread; other threads have none


def _wait_for_the_lock(event: str, details: tuple[Any, ...]) -> None:
    """Before a worker blocks on a file lock, wait on its clock until the lock is free.

    Only one thread of the clock runs at a time. If it blocked, the holder could not finish its
    pause, and no worker could go on.
    """
    if event != "fcntl.flock" or (wait := getattr(_OWN, "wait", None)) is None:
        return
    descriptor, operation = details
    if operation & (fcntl.LOCK_NB | fcntl.LOCK_UN):
        return
    while True:
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            return  # taken: taking it again, as the caller will, changes nothing
        except BlockingIOError:
            wait()


sys.addaudithook(_wait_for_the_lock)
