"""Lesson 7's trials: workers on simulated time who create tasks on one board.

A virtual clock with another seed lets its threads meet in another order. So a race that is rare
can be searched for, and found again.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.runtime.virtual_clock import VirtualClock


@dataclass(frozen=True, slots=True)
class Race:
    """What came of one run.

    Attributes:
        created: tasks that the workers believe to have created.
        on_disk: tasks that are there.
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
) -> list[Race]:
    """Let workers create tasks, each after a while of thinking, at most a second.

    Args:
        make: makes a board from a folder, and from what to call between reading and writing: a
            tenth of a second passes there.
        seeds: one run each.
        workers: how many.
        each: tasks that each of them creates.
    """
    return [_race(make, seed, workers, each) for seed in seeds]


def _race(make: Callable[..., Any], seed: int, workers: int, each: int) -> Race:
    with tempfile.TemporaryDirectory() as name, VirtualClock(seed=seed + 1) as clock:
        folder, chance = Path(name), random.Random(seed)
        board = make(folder, lambda: clock.sleep(0.1) and None)
        pauses = [[chance.random() for _ in range(each)] for _ in range(workers)]

        def work(number: int) -> None:
            for pause in pauses[number]:
                clock.sleep(pause)
                board.create(f"found by worker {number}")

        for worker in [clock.spawn(f"worker {n}", work, n) for n in range(workers)]:
            worker.join()
        there = len(list(folder.glob("task_*.json")))
    return Race(workers * each, there, workers * each - there)
