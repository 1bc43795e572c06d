"""``learnkit join``: a teammate in a process of its own, and what it does, a line for each step."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from learnkit.events.text import clean
from learnkit.mechanisms.settings import Settings
from learnkit.terminal.chat import be_silent
from learnkit.terminal.output import Output
from learnkit.terminal.permission import Consent

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from learnkit.mechanisms.teams.joined import JoinedTeam
    from learnkit.runtime.clock import Clock
    from learnkit.terminal.session import Session

#: Seconds that a reply on its way gets when the user, or a signal, ends the process.
LAST_REPLY = 5.0


@dataclass(frozen=True, slots=True)
class Seat:
    """A teammate's place in a team.

    Attributes:
        address: of the backend that keeps the team; empty for what LEARNKIT_BACKEND says.
        team: its name.
        name: of the teammate.
        role: what it is there for.
        lead: name of the agent that leads the team.
        max_idle: seconds without work after which it ends; None for never.
        lease: seconds after which others may claim its tasks when it has died.
        plan: whether the lead must approve its plan before it may write.
        remote: URL or name of the common remote of the clones; empty for none.
    """

    address: str
    team: str
    name: str
    role: str
    lead: str = "lead"
    max_idle: float | None = None
    lease: float = 60.0
    plan: bool = False
    remote: str = ""


class _Ended(BaseException):
    """A signal has come that ends the process."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Window(Output):
    """Where the steps are shown. A write that fails ends the process as SIGHUP does."""

    def show(self, what: RenderableType, *, stays: bool = True) -> None:
        try:
            super().show(what, stays=stays)
        except (OSError, SystemExit):  # rich ends the process when a pipe is broken
            be_silent()
            if callable(signal.getsignal(signal.SIGHUP)):
                os.kill(os.getpid(), signal.SIGHUP)


def join(
    seat: Seat, opened: AbstractContextManager[Session], console: Console, *, ask: bool
) -> int:
    """Be a teammate until it has nothing more to do, or a signal comes."""
    from learnkit.backends.connect import open_backend
    from learnkit.harness import full_teammate
    from learnkit.terminal.input import Lines

    output = _Window(console, name=seat.name)
    joined: JoinedTeam | None = None
    try:
        with opened as session, _signals():
            clock: Clock = session.client.clock  # type: ignore[attr-defined]
            output.api = str(session.client.base_url)
            session.events.subscribe(output.event)
            backend = open_backend(
                seat.address, clock=clock, patience=math.inf, waiting=output.wait
            )
            rules = Settings.load(session.workspace).rules(None if ask else "yes")
            permission = Consent(rules, Lines(input, output).ask)
            try:
                joined = full_teammate(
                    session.client,
                    session.workspace,
                    backend=backend,
                    team=seat.team,
                    name=seat.name,
                    role=seat.role,
                    lead=seat.lead,
                    max_idle=seat.max_idle,
                    lease=seat.lease,
                    plan_required=seat.plan,
                    remote=seat.remote,
                    permission=permission,
                    instructions=True,
                    daily=True,
                    events=session.events,
                )
                output.say(
                    f"{seat.name} ({seat.role}) is in the team {seat.team} at {backend.address}. "
                    "Ctrl-C ends it."
                )
                joined.wait()
            except _Ended as end:
                given = "gives back what it holds"
                if output.status.waiting:
                    given = "others may have what it holds when its lease is over"
                output.say(f"{seat.name} leaves, and {given}.", "dim")
                if joined is not None and not joined.leave(LAST_REPLY):
                    _exit(128 + end.number)
                raise
            finally:
                backend.close()
    except _Ended as end:
        return 128 + end.number
    except OSError as error:
        output.say(clean(str(error)), "red")
        return 1
    if joined.heartbeat.lost:
        output.say(clean(f"{seat.name} has ended: {joined.heartbeat.lost}."), "red")
        return 1
    return 0


@contextmanager
def _signals() -> Iterator[None]:
    """While the block runs, the first signal that asks the process to end is raised."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def heard(number: int, frame: object) -> NoReturn:
        for one in wanted:  # what ends now is not interrupted again
            signal.signal(one, signal.SIG_IGN)
        if number == signal.SIGHUP:  # the terminal is gone, and whatever is written to it fails
            be_silent()
        raise _Ended(number)

    before = {one: signal.signal(one, heard) for one in wanted}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _exit(code: int) -> NoReturn:
    """End the process although a thread waits for the API: nothing that it says counts any more."""
    os._exit(code)
