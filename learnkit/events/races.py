"""The events of a race over an inbox, as the race finder runs it."""

from __future__ import annotations

from learnkit.events.declaration import event, record


@event("race.started", lesson="s09", sentence="{reader} reads what {writers:writer} send.")
class RaceStarted:
    """A run of the race finder begins; ``seed`` is None for one that is replayed from a list."""

    reader: str
    writers: tuple[str, ...] = ()
    seed: int | None = None


@record
class RaceStep:
    """A step of a race: the messages it is about, and what is in the inbox after it."""

    texts: tuple[str, ...] = ()
    content: tuple[str, ...] = ()


@event("race.wrote", lesson="s09", sentence="{texts:message} written.")
class RaceWrote(RaceStep):
    """A writer has put a message into the inbox."""


@event("race.read", lesson="s09", sentence="{texts:message} read, and not yet removed.")
class RaceRead(RaceStep):
    """The reader has read the inbox, and is in the middle of taking the messages out."""


@event("race.paused", lesson="s09", sentence="A step in the middle of an action.")
class RacePaused(RaceStep):
    """A participant is in the middle of an action, where others may move."""


@event("race.emptied", lesson="s09", sentence="The inbox is emptied.")
class RaceEmptied(RaceStep):
    """The reader has finished what it began, and the inbox is empty."""


@event("race.finished", lesson="s09", sentence="The reader has finished.")
class RaceFinished(RaceStep):
    """The reader has finished what it began, and messages that came meanwhile are in the inbox."""


@event("race.drained", lesson="s09", sentence="The inbox is drained in one step.")
class RaceDrained(RaceStep):
    """The reader has taken the messages out in one step."""


@event("race.lost", lesson="s09", sentence="{text:quoted} is lost.")
class RaceLost:
    """A message is gone from the inbox, and the reader never gets it."""

    content: tuple[str, ...] = ()
    text: str
    writer: str = "?"


@event("race.ended", lesson="s09", sentence="{sent:message} sent, {read} read.")
class RaceEnded:
    """The run is over; ``texts`` are in the inbox, or in the reader's hands."""

    texts: tuple[str, ...] = ()
    sent: int = 0
    read: int = 0
    content: tuple[str, ...] = ()
