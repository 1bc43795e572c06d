"""Wake-ups: a function that is called when something of a team may have changed.

A call is a hint to look. Nothing depends on it: who looks from time to time finds everything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

#: Seconds between two calls when nothing is known of a change.
EVERY = 5.0

Wait = Callable[[float], bool]

#: Told what a call waits for, in a line, and again about each second; at last what has come of it,
#: perhaps an empty text, and True. It may be called from any thread, and must be quick.
Waiting = Callable[[str, bool], object]


def looking(changed: Callable[[], object]) -> Callable[[], None]:
    """Call a function every :data:`EVERY` seconds, in a thread."""

    def look(wait: Wait) -> None:
        while not wait(EVERY):
            changed()

    return in_thread("look for changes", look)


def in_thread(name: str, body: Callable[[Wait], None]) -> Callable[[], None]:
    """Run a function in a thread that does not keep the process alive."""
    stop = threading.Event()
    thread = threading.Thread(target=body, args=(stop.wait,), name=name, daemon=True)
    thread.start()

    def end() -> None:
        stop.set()
        if threading.current_thread() is not thread:
            thread.join()

    return end
