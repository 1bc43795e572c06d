"""A team as one teammate in a process of its own sees it: the lead and the others are elsewhere.

``learnkit join`` starts such a teammate, on any machine that reaches the team's backend. It has the
lifecycle of every teammate (:class:`.teammate.Teammate`) and the same extensions. What differs is
here: it begins idle, says by its beats that it is alive, and claims tasks under a lease.

The beats have a thread of their own, so a model that answers slowly or a long command does not stop
them. When the process dies, they end, and after its lease another worker may claim its tasks.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.backends.leased import LeasedBoard
from learnkit.core.agent import Agent
from learnkit.errors import ToolError, UsageError
from learnkit.events.teams import TeamJoined
from learnkit.mechanisms.teams.teammate import TeamBase, Teammate, looking
from learnkit.runtime.clock import stopped_by
from learnkit.runtime.interrupts import uninterrupted
from learnkit.runtime.virtual_clock import VirtualClock

if TYPE_CHECKING:
    import anthropic

    from learnkit.backends.interface import Backend
    from learnkit.backends.roster import Member
    from learnkit.backends.tracker import Tracker
    from learnkit.core.mechanism import Mechanism
    from learnkit.runtime.clock import Clock, Worker

#: Beats in the time of one lease: two may be missed.
BEATS = 3


class JoinedTeam(TeamBase):
    """A team that one teammate joins from a process of its own.

    Attributes:
        board: the team's tasks; this teammate's claims are leases.
        incarnation: which run of the teammate this is: an id that no other run has.
        teammate: the teammate.
        lost: why the teammate was stopped; empty as long as the name is its own.
        where: where it runs, as the others see it.
    """

    def __init__(
        self,
        backend: Backend,
        member: str,
        role: str,
        *,
        transcripts: str | Path,
        clock: Clock,
        name: str = "team",
        lead: str = "lead",
        where: str = "",
        lease: float = 60.0,
    ) -> None:
        super().__init__(Path(transcripts), name, backend.mail(name), backend.roster(name))
        self._backend = backend
        self._unwatch: Callable[[], object] = lambda: None
        self.incarnation = uuid.uuid4().hex[:12]
        self.board = LeasedBoard(backend.board(name), member, self.incarnation, lease)
        self.where, self._lead_name, self._clock, self._lease = where, lead, clock, lease
        if member == lead:
            raise UsageError(f"{member!r} is the lead; join under another name")
        if not role.strip():
            raise UsageError("the role is empty; say what the teammate is there for")
        for address in (member, lead):  # reports wait for a lead that is not there yet
            self.mailbox.open(address)
        for entry in self.roster.members():
            apart = "incarnation" in entry
            if entry["name"] == member and not apart and entry["status"] != "shutdown":
                raise UsageError(
                    f"{member} is a teammate in the lead's process, and {entry['status']}; join "
                    "under another name"
                )
        self.teammate = Teammate(self, member, role, clock)
        self.lost = ""
        self._over = clock.signal(f"the end of the heartbeat of {member!r}")
        self._beats: Worker | None = None

    @property
    def lead(self) -> Agent:
        raise UsageError("the lead of this team is in another process")

    def tracker(self) -> Tracker:
        return self._backend.requests(self.name)

    @property
    def lead_name(self) -> str:
        return self._lead_name

    @property
    def clock(self) -> Clock:
        return self._clock

    def start(
        self, client: anthropic.Anthropic, mechanisms: Sequence[Mechanism] = (), **options: Any
    ) -> Teammate:
        """Join: take the name, and look for messages and work in a thread.

        A process that has joined under the same name before is replaced: it ends at its next beat.
        What it holds is not inherited, and can be claimed when its leases are over.
        """
        teammate = self.teammate
        own, said = self._begins_with(teammate)
        agent = Agent(
            client,
            [*own, *mechanisms],
            name=teammate.name,
            system=said,
            stop=teammate.stop,
            clock=self.clock,
            **options,
        )
        self._admit(teammate, agent)
        entry = {"name": teammate.name, "role": teammate.role, "status": "idle"}
        try:
            self.roster.note({**entry, "incarnation": self.incarnation})
            self.start_beating()
            teammate.agent.emit(
                TeamJoined(name=teammate.name, role=teammate.role, where=self.where)
            )
            self.assigned(teammate)
            if not isinstance(self.clock, VirtualClock):
                self._unwatch = looking(teammate.agent.wake.set)
            teammate.start(None)
        except Exception:
            self._close()
            raise
        except BaseException:  # a signal, while it was joining
            with uninterrupted():
                self.leave(0.0)
            raise
        return teammate

    def wait(self) -> None:
        """Wait until the teammate has ended; by then it has given back what it held."""
        error = self.teammate.ended()
        self._close()
        if error:
            raise error

    def leave(self, patience: float) -> bool:
        """Stop the teammate, and give back what it holds.

        A reply that is on its way cannot be stopped. After a while the tasks are given back without
        waiting for it; whatever it says then about one of them is refused. A backend that is away
        is not waited for: what it holds is free when its leases are over.
        """
        teammate = self.teammate
        teammate.stop.set()
        if teammate.worker is not None:
            self.clock.wait(teammate.worker.ended, timeout=patience)
        ended = teammate.worker is not None and teammate.worker.done
        if not ended:
            with suppress(OSError), stopped_by(teammate.stop):  # else its leases end by themselves
                self.board.release(teammate.name, self.incarnation)
                self._note({"name": teammate.name, "role": teammate.role, "status": "shutdown"})
        self._close()
        return ended or teammate.worker is None

    def start_beating(self) -> None:
        """Beat for the first time, and then from a thread, until :meth:`end_beating`."""
        self._beat()
        name = f"the heartbeat of {self.teammate.name}"
        self._beats = self.clock.spawn(name, self._beat_on)

    def end_beating(self) -> None:
        """Stop beating, and wait for the thread."""
        self._over.set()
        if self._beats is not None:
            self._beats.join()

    def _beat(self) -> bool:
        """Say once that the teammate is alive; whether the name is its own."""
        name = self.teammate.name
        if not self.lost:
            try:
                if not self.roster.beat(name, self.incarnation, self.where):
                    self.lost = f"the name {name} belongs to another process now, or was taken back"
                self.board.renew(name, self.incarnation, self._lease)
            except ToolError as error:
                self.lost = str(error)
        if self.lost:
            self.teammate.stop.set()
        return not self.lost

    def _beat_on(self) -> None:
        with stopped_by(self._over):
            while not self.clock.wait(self._over, timeout=self._lease / BEATS):
                with suppress(OSError, UsageError):  # its leases run on; the next may get through
                    self._beat()

    def _close(self) -> None:
        self._unwatch()
        self.end_beating()

    def _note(self, entry: Member) -> None:
        if self._beat():  # else the entry is another one's now; it may be so any moment
            mine = self.incarnation
            self.roster.note({**entry, "incarnation": mine}, held_by=mine)

    def _wake_lead(self) -> None:
        """It is in another process, which looks by itself."""
