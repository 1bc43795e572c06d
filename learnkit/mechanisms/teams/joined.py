"""A team as one teammate in a process of its own sees it: the lead and the others are elsewhere.

``learnkit join`` starts such a teammate, on any machine that reaches the team's backend. It has the
lifecycle of every teammate (:class:`.teammate.Teammate`) and the same extensions. What differs is
here: it begins idle, says by its beats that it is alive, and claims tasks under a lease.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.backends.leased import LeasedBoard
from learnkit.core.agent import Agent
from learnkit.errors import UsageError
from learnkit.events.teams import TeamJoined
from learnkit.mechanisms.teams.base import MEMBER, TeamBase
from learnkit.mechanisms.teams.delivery import Delivery
from learnkit.mechanisms.teams.heartbeat import Heartbeat
from learnkit.mechanisms.teams.teammate import Teammate, TeammateMessages
from learnkit.runtime.clock import stopped_by
from learnkit.runtime.interrupts import uninterrupted
from learnkit.runtime.virtual_clock import VirtualClock

if TYPE_CHECKING:
    import anthropic

    from learnkit.backends.interface import Backend, Member, RequestBackend
    from learnkit.core.mechanism import Mechanism
    from learnkit.runtime.clock import Clock


class JoinedTeam(TeamBase):
    """A team that one teammate joins from a process of its own.

    Attributes:
        board: the team's tasks; this teammate's claims are leases.
        incarnation: which run of the teammate this is: an id that no other run has.
        mate: the teammate.
        heartbeat: says that it is alive.
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
        self.where, self._lead_name, self._clock = where, lead, clock
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
        self.mate = Teammate(self, member, role, clock)
        self.heartbeat = Heartbeat(
            self.mate,
            self.roster,
            self.board,
            clock,
            incarnation=self.incarnation,
            where=where,
            lease=lease,
        )

    @property
    def lead(self) -> Agent:
        raise UsageError("the lead of this team is in another process")

    def tracker(self) -> RequestBackend:
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
        mate = self.mate
        mate.agent = Agent(
            client,
            [
                TeammateMessages(self, mate),
                *(more for one in self.extensions for more in one.member(mate)),
                *mechanisms,
            ],
            name=mate.name,
            system=MEMBER.format(
                name=mate.name, role=mate.role, team=self.name, lead=self.lead_name
            ),
            stop=mate.stop,
            clock=self.clock,
            **options,
        )
        mate.delivery = Delivery(self.mailbox, mate.agent, self._transcript(mate.name))
        self._members[mate.name] = mate
        entry = {"name": mate.name, "role": mate.role, "status": "idle"}
        try:
            self.roster.note({**entry, "incarnation": self.incarnation})
            self.heartbeat.start()
            mate.agent.emit(TeamJoined(name=mate.name, role=mate.role, where=self.where))
            self.assigned(mate)
            if not isinstance(self.clock, VirtualClock):
                self._unwatch = self._backend.watch(self.name, mate.agent.wake.set)
            mate.start(None)
        except Exception:
            self._close()
            raise
        except BaseException:  # a signal, while it was joining
            with uninterrupted():
                self.leave(0.0)
            raise
        return mate

    def wait(self) -> None:
        """Wait until the teammate has ended; by then it has given back what it held."""
        error = self.mate.ended()
        self._close()
        if error:
            raise error

    def leave(self, patience: float) -> bool:
        """Stop the teammate, and give back what it holds.

        A reply that is on its way cannot be stopped. After a while the tasks are given back without
        waiting for it; whatever it says then about one of them is refused. A backend that is away
        is not waited for: what it holds is free when its leases are over.
        """
        mate = self.mate
        mate.stop.set()
        if mate.worker is not None:
            self.clock.wait(mate.worker.ended, timeout=patience)
        ended = mate.worker is not None and mate.worker.done
        if not ended:
            with suppress(OSError), stopped_by(mate.stop):  # else its leases end by themselves
                self.board.release(mate.name, self.incarnation)
                self._note({"name": mate.name, "role": mate.role, "status": "shutdown"})
        self._close()
        return ended or mate.worker is None

    def _close(self) -> None:
        self._unwatch()
        self.heartbeat.end()

    def _note(self, entry: Member) -> None:
        if self.heartbeat.beat():  # else the entry is another one's now; it may be so any moment
            mine = self.incarnation
            self.roster.note({**entry, "incarnation": mine}, held_by=mine)

    def _wake_lead(self) -> None:
        """It is in another process, which looks by itself."""
