"""``learnkit join``: a teammate in a process of its own, and what it does, a line for each step."""

from __future__ import annotations

import math
import os
import signal
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NoReturn

from learnkit.events.text import clean
from learnkit.mechanisms.settings import Settings
from learnkit.terminal.output import Output
from learnkit.terminal.permission import Consent
from learnkit.terminal.signals import LAST_REPLY, be_silent, heard

if TYPE_CHECKING:
    from rich.console import RenderableType

    from learnkit.mechanisms.teams.joined import JoinedTeam
    from learnkit.runtime.clock import Clock
    from learnkit.terminal.session import Session


class _Ended(BaseException):
    """A signal has come that ends the process."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Window(Output):
    """Where the steps are shown. A write that fails ends the process as SIGHUP does."""

    def show(self, what: RenderableType) -> None:
        try:
            super().show(what)
        except (OSError, SystemExit):  # rich ends the process when a pipe is broken
            be_silent()
            if callable(signal.getsignal(signal.SIGHUP)):
                os.kill(os.getpid(), signal.SIGHUP)


def join(opened: AbstractContextManager[Session], *, address: str, ask: bool, **place: Any) -> int:
    """Be a teammate until it has nothing more to do, or a signal comes.

    Args:
        opened: what it runs on.
        address: of the backend that keeps the team; empty for what LEARNKIT_BACKEND says.
        ask: whether the user is asked about commands and edits.
        place: its name, role and team, as for :func:`learnkit.harness.full_teammate`.
    """
    from rich.console import Console

    from learnkit.backends.connect import open_backend
    from learnkit.harness import full_teammate
    from learnkit.terminal.input import Lines

    name = place["name"]
    output = _Window(Console(highlight=False), name=name)
    joined: JoinedTeam | None = None
    try:
        with opened as session, heard(_end, *_SIGNALS):
            clock: Clock = session.client.clock  # type: ignore[attr-defined]
            output.api = str(session.client.base_url)
            session.events.subscribe(output.event)
            backend = open_backend(address, clock=clock, patience=math.inf, waiting=output.wait)
            rules = Settings.load(session.workspace).rules(None if ask else "yes")
            permission = Consent(rules, Lines(input, output).ask)
            try:
                joined = full_teammate(
                    session.client,
                    session.workspace,
                    backend=backend,
                    **place,
                    permission=permission,
                    events=session.events,
                )
                output.say(
                    f"{name} ({place['role']}) is in the team {place['team']} at "
                    f"{backend.address}. Ctrl-C ends it."
                )
                joined.wait()
            except _Ended as end:
                given = "gives back what it holds"
                if output.status.waiting:
                    given = "others may have what it holds when its lease is over"
                output.say(f"{name} leaves, and {given}.", "dim")
                if joined is not None and not joined.leave(LAST_REPLY):
                    os._exit(128 + end.number)  # nothing that it says counts any more
                raise
            finally:
                backend.close()
    except _Ended as end:
        return 128 + end.number
    except OSError as error:
        output.say(clean(str(error)), "red")
        return 1
    if joined.lost:
        output.say(clean(f"{name} has ended: {joined.lost}."), "red")
        return 1
    return 0


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _end(number: int, frame: object) -> NoReturn:
    """The first signal that asks the process to end is raised."""
    for one in _SIGNALS:  # what ends now is not interrupted again
        signal.signal(one, signal.SIG_IGN)
    if number == signal.SIGHUP:  # the terminal is gone, and whatever is written to it fails
        be_silent()
    raise _Ended(number)
