"""A lock of ``agent.py`` that is held already: an error where there would be an endless wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

Locked = Callable[[str], AbstractContextManager[Path]]


def never_twice(locked: Locked) -> Locked:
    """``locked`` of the learner's file, which raises if its thread holds that lock already."""
    held = set[tuple[int, str]]()

    @contextmanager
    def once(name: str) -> Iterator[Path]:
        mine = threading.get_ident(), name
        if mine in held:
            raise RuntimeError("you hold this lock already, and would wait for ever")
        with locked(name) as folder:
            held.add(mine)
            try:
                yield folder
            finally:
                held.discard(mine)

    return once
