"""Which games this kernel is playing, and the end of each.

A game belongs to the reader who has started it, not to the lab: it goes on when the lab is closed,
until it is over, its cell is run again, the lab is reset, or the kernel ends.
"""

from __future__ import annotations

import atexit
import threading
from typing import Protocol

from learnkit.course.jupyter.edited_cells import RAN


class Closes(Protocol):
    """What is being played."""

    def close(self) -> None:
        """End it; nothing of it is left."""
        ...


class Playing:
    """The games that run, at most one for each cell."""

    def __init__(self) -> None:
        self._games: dict[str, Closes] = {}
        self._lock = threading.Lock()
        self._ends_with_the_kernel = False

    def place(self) -> str:
        """End the game of the cell that runs now, which is about to show another one."""
        self._end(RAN.id)
        return RAN.id

    def begin(self, cell: str, game: Closes) -> None:
        """Note that a game begins; another one of the same cell ends."""
        with self._lock:
            before, self._games[cell] = self._games.get(cell), game
            if not self._ends_with_the_kernel:
                atexit.register(self.end_all)
                self._ends_with_the_kernel = True
        if before is not None and before is not game:
            before.close()

    def over(self, game: Closes) -> None:
        """Forget a game that has come to its end."""
        with self._lock:
            self._games = {cell: one for cell, one in self._games.items() if one is not game}

    def end_all(self) -> None:
        """End every game that runs."""
        for cell in list(self._games):
            self._end(cell)

    def __len__(self) -> int:
        return len(self._games)

    def _end(self, cell: str) -> None:
        with self._lock:
            game = self._games.pop(cell, None)
        if game is not None:
            game.close()


#: One process: one kernel, one notebook.
PLAYING = Playing()
