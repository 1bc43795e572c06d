"""A teammate: one agent's life in a team. It works, reports, waits for mail, and works again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from learnkit.backends.files.mailbox import Mail, Type
from learnkit.core.agent import Agent, Outcome
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool, tool
from learnkit.mechanisms.teams.delivery import Post

if TYPE_CHECKING:
    from learnkit.runtime.clock import Clock, Worker

Status = Literal["working", "idle", "shutdown"]

_ENDS = {
    "turn_limit": "It reached its limit of {turns} turns.",
    "cancelled": "It was cancelled.",
    "max_tokens": "Its last message was cut off.",
    "refusal": "The model refused.",
    "model_context_window_exceeded": "Its context window is full.",
}


class Extension:
    """What can be added to a team, as lessons 10 and 11 do; each method does nothing by default."""

    def member(self, mate: Teammate) -> Sequence[Mechanism]:
        """New mechanisms for a teammate that starts."""
        return []

    def assigned(self, mate: Teammate) -> None:
        """A teammate has got a new assignment: its first prompt, or a task."""

    def changed(self, mate: Teammate) -> None:
        """A teammate's status is another one."""

    def work(self, mate: Teammate) -> str | None:
        """Something to do for a teammate that is idle and has no mail."""

    def has_work(self, mate: Teammate) -> bool:
        """Whether there is something to do for it; looking takes nothing."""
        return False

    def waits(self, mate: Teammate) -> bool:
        """Whether it waits for an answer, so that it does not end for want of work."""
        return False

    def last(self, mate: Teammate) -> str | None:
        """A last word to one that would now end for want of work."""

    def close(self) -> None:
        """The team has ended: leave no thread behind."""


class Office(Protocol):
    """What a teammate needs of its team.

    ``poll`` and ``patience`` are seconds: how often one that is idle looks for work, and after how
    long without any it shuts down; None for never.
    """

    poll: float | None
    patience: float | None
    types: Sequence[str]  # of messages that may be sent by hand

    @property
    def moves(self) -> AbstractContextManager[Any]: ...
    @property
    def lead(self) -> Agent: ...
    @property
    def extensions(self) -> Sequence[Extension]: ...
    def send(self, agent: Agent, to: str, content: str, type: Type = "message") -> Mail: ...
    def noted(self, mate: Teammate) -> None: ...


class Teammate:
    """A member of a team.

    Attributes:
        name: its lane in the log, and its address.
        role: what it is there for.
        agent: its own loop; set by the team.
        post: its inbox and transcript; set by the team.
        mail: set when something has come.
        stop: ends its life, where it stands.
        leaving: ends its life with the calls in hand.
        status: ``working``, ``idle`` or ``shutdown``.
        worker: its thread, once it has been started.
    """

    agent: Agent
    post: Post
    worker: Worker | None = None

    def __init__(self, office: Office, name: str, role: str, clock: Clock) -> None:
        self.name, self.role = name, role
        self.stop = clock.signal(f"the stop of {name!r}")
        self.mail = clock.signal(f"mail for {name!r}")
        self.leaving = False
        self.status: Status = "idle"
        self._office, self._clock = office, clock

    @property
    def busy(self) -> bool:
        """Whether it works, or will: it has mail, or there is something to do for it.

        To ask this of several, hold ``moves``: else what one hands to the next is seen at neither.
        """
        if self.status != "idle":
            return self.status == "working"
        return bool(self.post.inbox.look()) or any(
            one.has_work(self) for one in self._office.extensions
        )

    def start(self, prompt: str) -> None:
        """Begin its life in a thread of its own."""
        self.become("working")
        self.worker = self._clock.spawn(self.name, self._live, prompt)

    def ended(self) -> Exception | None:
        """Wait until its thread has ended; return the exception that ended it, if one did."""
        try:
            if self.worker is not None:
                self.worker.join()
        except Exception as error:
            return error
        return None

    def become(self, status: Status) -> None:
        """Have another status, and let the team know."""
        with self._office.moves:
            changed, self.status = self.status != status, status
        if changed:
            self._office.noted(self)

    def rest(self, report: str) -> str | None:
        """Report, be idle, and come back with something to do; None at the end of its life."""
        if report and not self.stop.is_set():
            self._office.send(self.agent, self._office.lead.name, report)
        if self.leaving or self.stop.is_set():
            return None
        self.become("idle")
        text = self._next()
        if text is not None:
            self.become("working")
        return text

    def _live(self, prompt: str) -> None:
        """Work and rest, until the end."""
        text: str | None = prompt
        try:
            with self._clock.interruptible(self.stop):
                while text is not None:
                    text = self.rest(self._work(text))
        finally:
            self.become("shutdown")

    def _work(self, text: str) -> str:
        """Do one piece of work; return what the lead is told of it."""
        from anthropic import APIError

        try:
            return _last_words(self.agent.run(text))
        except APIError as error:  # the array stays valid: it can be woken again
            return f"failed: {type(error).__name__}: {error}"
        except Exception as error:
            self._office.send(
                self.agent, self._office.lead.name, f"failed: {type(error).__name__}: {error}"
            )
            raise
        finally:
            self.post.keep()

    def _next(self) -> str | None:
        """Wait for mail or work; None at the stop, or when nothing has come for too long."""
        office, clock = self._office, self._clock
        end = None if office.patience is None else clock.time() + office.patience
        while not self.stop.is_set():
            self.mail.clear()
            if text := self._take():
                return text
            late = end is not None and clock.time() >= end
            if late and not any(one.waits(self) for one in office.extensions):
                return next(filter(None, (one.last(self) for one in office.extensions)), None)
            clock.wait(self.mail, self.stop, timeout=office.poll)
        return None

    def _take(self) -> str | None:
        """Mail that has come, or else work: who takes it is at work in the same moment."""
        with self._office.moves:
            found = (one.work(self) for one in self._office.extensions)
            text = self.post.told() or next(filter(None, found), None)
            if text is None:
                return None
            self.status = "working"
        self._office.noted(self)
        return text


class Member(Mechanism):
    """A teammate's side of the team: its mail.

    Args:
        office: the team.
        mate: whose mail it is.
    """

    def __init__(self, office: Office, mate: Teammate) -> None:
        self._office, self._mate = office, mate

    def before_model(self, agent: Agent) -> None:
        """What was told stands in the transcript now, and is safe."""
        self._mate.post.keep()

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """Mail that has come; one that is leaving goes now."""
        if self._mate.leaving:
            self._mate.stop.set()
            return None
        return self._mate.post.told()

    def on_stop(self, agent: Agent) -> str | None:
        """Mail that has come while it was at its last words."""
        return None if agent.stop.is_set() else self._mate.post.told()

    @property
    def tools(self) -> Sequence[Tool]:
        """``send_message`` and ``read_inbox``."""
        return [self.send_message.narrowed(msg_type=self._office.types), self.read_inbox]

    @tool
    def send_message(self, to: str, content: str, msg_type: Type = "message") -> str:
        """Write to somebody in the team; it is read before the next turn there.

        Args:
            to: the name.
            content: the message.
            msg_type: what kind of message it is.
        """
        self._office.send(self._mate.agent, to, content, msg_type)
        return f"Sent to {to}."

    @tool
    def read_inbox(self) -> str:
        """Read what has come for you. It also comes to you by itself."""
        return self._mate.post.told() or "There is no new mail."


def _last_words(outcome: Outcome) -> str:
    text = outcome.text.strip() or "(no summary)"
    if outcome.reason in _ENDS:
        text += f"\n\n[{_ENDS[outcome.reason].format(turns=outcome.turns)}]"
    return text
