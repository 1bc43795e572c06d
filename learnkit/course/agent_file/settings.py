"""Other values for the module ``agent`` in a block: who answers it, say, and where it works."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, chdir, contextmanager
from pathlib import Path
from typing import Any

Locked = Callable[[str], AbstractContextManager[Path]]


@contextmanager
def with_settings(agent: Any, **own: Any) -> Iterator[None]:
    """Give the module other values, in a block."""
    before = {name: vars(agent)[name] for name in own if name in vars(agent)}
    vars(agent).update(own)
    try:
        yield
    finally:
        for name in own:
            del vars(agent)[name]
        vars(agent).update(before)


@contextmanager
def working_in(agent: Any, folder: Path, **own: Any) -> Iterator[None]:
    """Let the module work in a folder, with other values, in a block.

    A thread that would wait for itself gets an error, and os.chdir leaves nobody in the folder.
    """
    if hasattr(agent, "locked"):
        own = {"locked": _never_twice(agent.locked), **own}
    with with_settings(agent, ROOT=folder, **own), chdir(Path.cwd()):
        yield


def _never_twice(locked: Locked) -> Locked:
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
