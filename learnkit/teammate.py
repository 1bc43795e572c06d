"""A teammate: one agent's life in a team. It works, reports, waits for mail, and works again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from learnkit.agent import Agent, Outcome
from learnkit.mailbox import Mail, Type
from learnkit.mechanism import Call, Mechanism
from learnkit.post import Post
from learnkit.tools import tool

if TYPE_CHECKING:
    from learnkit.timing import Clock, Signal, Worker

Status = Literal["working", "idle", "shutdown"]

_ENDS = {
    "turn_limit": "It reached its limit of {turns} turns.",
    "cancelled": "It was cancelled.",
    "max_tokens": "Its last message was cut off.",
    "refusal": "The model refused.",
    "model_context_window_exceeded": "Its context window is full.",
}


class Office(Protocol):
    """What a teammate needs of its team."""

    @property
    def lead(self) -> Agent: ...
    def send(self, agent: Agent, to: str, content: str, type: Type = "message") -> Mail: ...
    def noted(self, member: Teammate) -> None: ...


class Teammate:
    """A member of a team.

    Attributes:
        name: its lane in the log, and its address.
        role: what it is there for.
        agent: its own loop; set by the team.
        post: its inbox and transcript; set by the team.
        mail: set when something has come.
        stop: ends its life.
        status: ``working``, ``idle`` or ``shutdown``.
        worker: its thread, once it has been started.
    """

    agent: Agent
    post: Post
    worker: Worker | None = None

    def __init__(self, office: Office, name: str, role: str, clock: Clock, stop: Signal) -> None:
        self.name, self.role, self.stop = name, role, stop
        self.mail = clock.signal(f"mail for {name!r}")
        self.status: Status = "idle"
        self._office, self._clock = office, clock

    @property
    def busy(self) -> bool:
        """Whether it works, or has mail that it will work on."""
        if self.status == "working":
            return True
        return self.status == "idle" and bool(self.post.inbox.look())

    def start(self, prompt: str) -> None:
        """Begin its life in a thread of its own."""
        self.become("working")
        self.worker = self._clock.spawn(self.name, self._live, prompt)

    def become(self, status: Status) -> None:
        """Have another status, and let the team know."""
        changed, self.status = self.status != status, status
        if changed:
            self._office.noted(self)

    def _live(self, prompt: str) -> None:
        """Work, report, wait for mail, until the stop."""
        text: str | None = prompt
        try:
            with self._clock.interruptible(self.stop):
                while text is not None:
                    self._report(self._work(text))
                    self.become("idle")
                    text = self._next()
        finally:
            self.become("shutdown")

    def _work(self, text: str) -> str:
        """Do one piece of work; return what the lead is told of it."""
        from anthropic import APIError

        self.become("working")
        try:
            return _last_words(self.agent.run(text))
        except APIError as error:  # the array stays valid: it can be woken again
            return f"failed: {type(error).__name__}: {error}"
        except Exception as error:
            self._report(f"failed: {type(error).__name__}: {error}")
            raise
        finally:
            self.post.keep()

    def _report(self, text: str) -> None:
        if not self.stop.is_set():
            self._office.send(self.agent, self._office.lead.name, text)

    def _next(self) -> str | None:
        """Wait for mail; None at the stop."""
        while not self.stop.is_set():
            self.mail.clear()
            if text := self.post.told():
                return text
            self._clock.wait(self.mail, self.stop)
        return None


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
        """Mail that has come."""
        return self._mate.post.told()

    def on_stop(self, agent: Agent) -> str | None:
        """Mail that has come while it was at its last words."""
        return None if agent.stop.is_set() else self._mate.post.told()

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
