"""A recorded conversation in the terminal: Enter plays its next turn, and Ctrl-C pauses it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from learnkit.errors import UsageError
from learnkit.terminal.input import PATIENCE

if TYPE_CHECKING:
    from learnkit.clients.recordings.recording import Recording

#: Lessons that the terminal can play, and the scenario that has the whole harness.
PLAYED = {"s12": "package"}


class Playback:
    """What is left of a recorded conversation, and whether it is paused."""

    def __init__(
        self, recording: Recording, scenario: str, unused: Callable[[], list[str]]
    ) -> None:
        self._said = recording.prompts(scenario, "lead")
        self._unused, self._over = unused, False
        self._goes_on = threading.Event()
        self._goes_on.set()

    @property
    def next(self) -> str | None:
        """What the user says next; None when the recording is over."""
        if self._over:
            return None
        return next((self._said[id] for id in self._unused() if id in self._said), None)

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return not self._goes_on.is_set()

    def end(self) -> None:
        """Play no more of it: the conversation is another one than the recorded one."""
        self._over = True

    def pause(self) -> None:
        """Stand still before the next request or piece of text."""
        self._goes_on.clear()

    def resume(self) -> None:
        """Go on."""
        self._goes_on.set()

    def wait(self) -> None:
        """Return when it is not paused."""
        while not self._goes_on.wait(PATIENCE):
            pass


def check(lesson: str) -> None:
    """Raise unless a lesson can be played."""
    if lesson not in PLAYED:
        raise UsageError(f"only {', '.join(PLAYED)} can be played, not {lesson!r}")
