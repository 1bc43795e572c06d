"""Lesson 7's race on simulated time: workers that create tasks on one board of ``agent.py``.

With another seed, the threads of a virtual clock run in another order. A worker that waits for a
file lock waits on that clock too, so a worker may hold one while it pauses.
"""

from __future__ import annotations

import fcntl
import random
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from learnkit.course.agent_file.source import Source
from learnkit.runtime.virtual_clock import VirtualClock

SEEDS = 5


def tasks_lost(
    boards: Mapping[str, str], gap: float, *, workers: int, each: int
) -> dict[str, dict[str, float]]:
    """Let workers create tasks; before each one, a worker thinks for up to a virtual second.

    Args:
        boards: name -> definitions that take the place of those in the file of the lesson's end.
        gap: virtual seconds that each board pauses between deciding and writing.
        workers, each: how many workers there are, and how many tasks each one creates.

    Returns:
        How many of the tasks each board loses, in the mean of some runs.
    """
    modules = {name: _module(instead) for name, instead in boards.items()}
    lost = {
        name: [_lost(module, seed, gap, workers, each) for seed in range(SEEDS)]
        for name, module in modules.items()
    }
    return {name: {"tasks lost": sum(numbers) / SEEDS} for name, numbers in lost.items()}


def _module(instead: str) -> ModuleType:
    module = ModuleType("agent")
    text = str(Source.reference("s07").changed(instead))
    exec(compile(text, "agent.py", "exec"), module.__dict__)
    return module


def _lost(agent: Any, seed: int, gap: float, workers: int, each: int) -> int:
    with tempfile.TemporaryDirectory() as name, VirtualClock(seed=seed + 1) as clock:
        agent.ROOT, chance, save = Path(name), random.Random(seed), agent.save_task
        pauses = [[chance.random() for _ in range(each)] for _ in range(workers)]

        def work(number: int) -> None:
            _OWN.wait = lambda: clock.sleep(gap)
            for pause in pauses[number]:
                clock.sleep(pause)
                agent.task_create(None, f"found by worker {number}")

        agent.save_task = lambda task: (clock.sleep(gap), save(task))
        for worker in [clock.spawn(f"worker {n}", work, n) for n in range(workers)]:
            worker.join()
        agent.save_task = save
        return workers * each - len(list(Path(name).glob(".tasks/task_*.json")))


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
