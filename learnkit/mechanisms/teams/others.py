"""The teammates that live in processes of their own, as the lead's process sees them.

They are known only by what the backend says: the roster has their status and their last beat, and
their inboxes show what they have read. What changes there is logged here as a teammate in a thread
would log it itself, so that the views show both alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from learnkit.events.declaration import part
from learnkit.events.mail import MailData, MailRead, MailSent
from learnkit.events.teams import Status, TeamJoined, TeamLost, TeamStatus

if TYPE_CHECKING:
    from learnkit.backends.mail import Mail
    from learnkit.backends.roster import Member
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.teammate import TeamBase

#: Seconds between two looks of a lead that waits for such a teammate.
LOOK = 1.0
#: Seconds without a beat after which it counts as gone.
SILENCE = 60.0


@dataclass(frozen=True, slots=True)
class Other:
    """A teammate in a process of its own.

    Attributes:
        name: its address.
        role: what it is there for.
        status: working, idle or shutdown, as it has said itself.
        incarnation: which run of it this is.
        where: where it runs; empty before its first beat.
        silent: whole seconds since its last beat.
        lost: whether that is so long that it counts as gone; while the server of the backend was
            away, it could not be heard.
    """

    name: str
    role: str
    status: Status
    incarnation: str
    where: str = ""
    silent: int = 0
    lost: bool = False

    @property
    def there(self) -> bool:
        """Whether it has not shut down, and was heard from."""
        return self.status != "shutdown" and not self.lost

    @property
    def doing(self) -> str:
        """What it is doing, where it lives and when it was last heard from, for the lead."""
        where = f" on {self.where}" if self.where else ""
        if self.status == "shutdown":
            return f"shutdown{where}"
        if self.lost:
            return f"not heard from for {self.silent} s (it was {self.status}{where})"
        return f"{self.status}{where}, last heard from {self.silent} s ago"


class Others:
    """Logs in the lead's process what the teammates of other processes do.

    Emits, in the lane of the teammate: ``team.joined`` with ``name``, ``role`` and ``where``;
    ``team.status``; ``team.lost`` with ``name`` and ``seconds``; and ``mail.sent`` and
    ``mail.read`` for the messages between it and the lead.
    """

    def __init__(self, team: TeamBase) -> None:
        self._team = team
        self._known: dict[str, Other] = {}
        self._unread: dict[str, list[str]] = {}  # ids of what the lead's process has sent them

    def look(self, lead: Agent) -> list[Other]:
        """Read the roster and the inboxes, and log what has changed."""
        entries = map(self.known, self._team.roster.members())
        found = [one for one in entries if one is not None]
        with lead.events.ordered():
            for one in found:
                self._log(lead, one, self._known.get(one.name))
            self._known = {one.name: one for one in found}
            for name in [name for name, ids in self._unread.items() if ids]:
                left = {mail.id for mail in self._team.mailbox.unread(name)}
                read = [id for id in self._unread[name] if id not in left]
                self._unread[name] = [id for id in self._unread[name] if id in left]
                if read:
                    _emit(lead, name, MailRead(ids=tuple(read), by=name))
        return found

    def find(self, name: str) -> Other | None:
        """Return a teammate that lives in a process of its own, as the roster has it now."""
        entries = (one for one in self._team.roster.members() if one["name"] == name)
        return next(map(self.known, entries), None)

    def known(self, entry: Member) -> Other | None:
        """Return what the roster says of a teammate; None if that lives in the lead's process."""
        if not entry.get("incarnation"):
            return None
        silent = int(entry.get("silent") or 0)
        return Other(
            entry["name"],
            entry["role"],
            cast(Status, entry["status"]),
            entry["incarnation"],
            where=entry.get("where", ""),
            silent=silent,
            lost=int(entry.get("up", silent)) >= SILENCE,
        )

    def sent(self, mail: Mail) -> None:
        """Take note of a message that was sent in this process."""
        if mail.to in self._known:
            self._unread.setdefault(mail.to, []).append(mail.id)

    def arrived(self, lead: Agent, mail: Mail) -> None:
        """Log that a message was sent, if that has happened in another process."""
        if mail.sender in self._known:
            _emit(lead, mail.sender, MailSent(mail=part(MailData, mail.to_json())))

    def _log(self, lead: Agent, now: Other, before: Other | None) -> None:
        if before is None or before.incarnation != now.incarnation:
            if now.status == "shutdown" or now.lost:
                return  # of an earlier day
            _emit(lead, now.name, TeamJoined(name=now.name, role=now.role, where=now.where))
            before = None
        if now.lost and not (before and before.lost):
            _emit(lead, now.name, TeamLost(name=now.name, seconds=now.silent))
        elif not now.lost and (
            before is None or (before.status, before.lost) != (now.status, False)
        ):
            _emit(lead, now.name, TeamStatus(name=now.name, role=now.role, status=now.status))


def _emit(lead: Agent, lane: str, event: object) -> None:
    lead.events.append(event, lane, lead.clock.time())
