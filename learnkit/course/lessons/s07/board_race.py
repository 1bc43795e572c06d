"""Lesson 7's trials: workers on simulated time that create tasks on one board.

With another seed, the threads of a virtual clock run in another order. So you can search for a rare
race, and find it again.
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
    """Let workers create tasks; before each one, a worker thinks for up to a virtual second.

    Args:
        make: makes a board from its folder and a ``pause``, which the board calls between reading
            and writing; a tenth of a virtual second passes there.
        seeds: one run each.
        workers: how many.
        each: how many tasks each of them creates.
        gap: virtual seconds that a ``pause`` takes.
    """
    return [_race(make, seed, workers, each, gap) for seed in seeds]


def _race(make: Callable[..., Any], seed: int, workers: int, each: int, gap: float) -> Race:
    with tempfile.TemporaryDirectory() as name, VirtualClock(seed=seed + 1) as clock:
        folder, chance = Path(name), random.Random(seed)
        board = make(folder, lambda: clock.sleep(gap) and None)
        pauses = [[chance.random() for _ in range(each)] for _ in range(workers)]

        def work(number: int) -> None:
            for pause in pauses[number]:
                clock.sleep(pause)
                board.create(f"found by worker {number}")

        for worker in [clock.spawn(f"worker {n}", work, n) for n in range(workers)]:
            worker.join()
        there = len(list(folder.glob("task_*.json")))
    return Race(workers * each, there, workers * each - there)
