"""Threads that a test lets run beside its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from processes import until


@contextmanager
def beside(act: Callable[[], object]) -> Iterator[None]:
    """Do something in a thread while the block runs, and wait for its end."""
    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def once(holds: Callable[[], object], act: Callable[[], object]) -> Callable[[], None]:
    """What waits until something holds, and then does something."""

    def wait_and_act() -> None:
        until(holds)
        act()

    return wait_and_act


def all_at_once(act: Callable[[Any], object], *given: object) -> None:
    """Call a function with each of these, in threads of their own, and wait for the last one."""
    threads = [threading.Thread(target=act, args=(one,)) for one in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
