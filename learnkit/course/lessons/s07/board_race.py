"""Lesson 7's race on simulated time: workers that create tasks on one board of ``agent.py``.

A worker that waits for a lock waits on the virtual clock, so a worker may hold one while it pauses.
"""

from __future__ import annotations

import fcntl
import os
import random
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from learnkit.runtime.virtual_clock import VirtualClock


def tasks_lost(
    agent: Any,
    boards: Mapping[str, str],
    runs: int,
    *,
    workers: int,
    each: int,
    think: float,
    gap: float,
) -> dict[str, list[int]]:
    """Let workers create tasks on a virtual clock, and count what each board loses in each run.

    Args:
        agent: the module, as the cells have made it.
        boards: name -> definitions that take the place of some of its own.
        runs: how many there are, each with pauses of its own; they are the same on each board.
        workers, each: how many workers there are, and how many tasks each one creates.
        think: seconds that a worker takes at most before each task.
        gap: seconds that each board pauses between deciding and writing.
    """
    modules = {name: _module(agent, instead) for name, instead in boards.items()}
    return {
        name: [_lost(module, seed, think, gap, workers, each) for seed in range(runs)]
        for name, module in modules.items()
    }


def _module(agent: Any, instead: str) -> ModuleType:
    module = ModuleType("agent")
    text = str(agent.__source__.changed(instead))
    exec(compile(text, "agent.py", "exec"), module.__dict__)
    return module


def _lost(agent: Any, seed: int, think: float, gap: float, workers: int, each: int) -> int:
    with tempfile.TemporaryDirectory() as name, VirtualClock(seed=seed) as clock:
        agent.ROOT, chance, save = Path(name), random.Random(seed), agent.save_task
        pauses = [[think * chance.random() for _ in range(each)] for _ in range(workers)]

        def work(number: int) -> None:
            _OWN.wait = lambda: clock.sleep(gap / 10)
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
    """Before a worker blocks on a lock, or tries again to get one, let the others go on.

    Only one thread of the clock runs at a time. If it blocked, the holder could not finish its
    pause, and no worker could go on. A learner's lock may be a file or a folder that only one can
    create, with or without a pause between two tries.
    """
    if (wait := getattr(_OWN, "wait", None)) is None:
        return
    if event in ("time.sleep", "os.mkdir") or (event == "open" and details[2] & os.O_EXCL):
        wait()
    if event != "fcntl.flock" or details[1] & (fcntl.LOCK_NB | fcntl.LOCK_UN):
        return
    descriptor, operation = details
    while True:
        try:
            fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
            return  # taken: taking it again, as the caller will, changes nothing
        except BlockingIOError:
            wait()


sys.addaudithook(_wait_for_the_lock)
