"""The heartbeat of a teammate in a process of its own: it is alive, and keeps what it has claimed.

It has a thread of its own, so a model that answers slowly or a long command does not stop it. When
the process dies, the beats end, and after its lease another worker may claim its tasks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnkit.errors import ToolError, UsageError
from learnkit.runtime.clock import stopped_by

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.backends.roster import Roster
    from learnkit.mechanisms.teams.teammate import Teammate
    from learnkit.runtime.clock import Clock, Worker

#: Beats in the time of one lease: two may be missed.
BEATS = 3


class Heartbeat:
    """Says that a teammate is alive and prolongs its leases, until it is ended.

    Attributes:
        lost: why the teammate was stopped; empty as long as the name is its own.
    """

    def __init__(
        self,
        teammate: Teammate,
        roster: Roster,
        board: BoardBackend,
        clock: Clock,
        *,
        incarnation: str,
        where: str,
        lease: float,
    ) -> None:
        self.lost = ""
        self._mate, self._roster, self._board, self._clock = teammate, roster, board, clock
        self._incarnation, self._where, self._lease = incarnation, where, lease
        self._over = clock.signal(f"the end of the heartbeat of {teammate.name!r}")
        self._worker: Worker | None = None

    def start(self) -> None:
        """Beat for the first time, and then from a thread, until :meth:`end`."""
        self.beat()
        name = f"the heartbeat of {self._mate.name}"
        self._worker = self._clock.spawn(name, self._run)

    def beat(self) -> bool:
        """Say once that the teammate is alive."""
        name = self._mate.name
        if not self.lost:
            try:
                if not self._roster.beat(name, self._incarnation, self._where):
                    self.lost = f"the name {name} belongs to another process now, or was taken back"
                self._board.renew(name, self._incarnation, self._lease)
            except ToolError as error:
                self.lost = str(error)
        if self.lost:
            self._mate.stop.set()
        return not self.lost

    def end(self) -> None:
        """Stop beating, and wait for the thread."""
        self._over.set()
        if self._worker is not None:
            self._worker.join()

    def _run(self) -> None:
        with stopped_by(self._over):
            while not self._clock.wait(self._over, timeout=self._lease / BEATS):
                try:
                    self.beat()
                except (OSError, UsageError):
                    continue  # its leases run on, and the next beat may get through
