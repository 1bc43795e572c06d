"""Be the model from a miss on: the page of the game, over a cell that is run again."""

from __future__ import annotations

from collections.abc import Callable

from learnkit.clients.scripted import Source
from learnkit.course.first_edit.rerun import ending
from learnkit.course.games.be_the_model.seat import Given, Json, Seat


class CellSeat(Seat):
    """The model's place in a cell that has missed."""

    def __init__(self, run: Callable[[Source], BaseException | None], team: bool) -> None:
        super().__init__("works", "The cell runs up to the request without a reply.")
        self._run, self._team = run, team

    def play(self, given: Given) -> BaseException | None:
        """Run the cell to the end of the replies."""
        return self._run(given)

    def asked(self, before: Json | None) -> str:
        """Say whose request waits."""
        whose = f"the model of {self.lane!r}" if self._team else "the model"
        return f"You are {whose}. This is everything you see: call a tool, or answer with text."

    def ended(self, error: BaseException | None) -> tuple[str, str]:
        """Return how the cell ended."""
        if error is None or isinstance(error, AssertionError):
            return "ended", f"The cell ran to its end. {ending(error)}".strip()
        return "broken", ending(error)
