"""A teammate: an agent in a thread of its own, and its lifecycle in a team."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from learnkit.backends.files.mailbox import Mail, Type
from learnkit.core.agent import Agent, Outcome
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool, tool
from learnkit.mechanisms.teams.delivery import Delivery

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
    """What can be added to a team, as lessons 10 and 11 do; each method does nothing by default.

    The methods are in the order of the lifecycle of a teammate, ``mate``; see :class:`Teammate`.
    """

    def member(self, mate: Teammate) -> Sequence[Mechanism]:
        """Before it starts: new mechanisms for a teammate."""
        return []

    def assigned(self, mate: Teammate) -> None:
        """It begins a new assignment: its first prompt, or a task."""

    def changed(self, mate: Teammate) -> None:
        """It has another status."""

    def work(self, mate: Teammate) -> str | None:
        """It is idle and has no message: take something for it to do, and return that as text."""

    def has_work(self, mate: Teammate) -> bool:
        """Whether ``work`` would find something; this takes nothing."""
        return False

    def waits(self, mate: Teammate) -> bool:
        """It has found nothing for too long: whether it still waits for an answer."""
        return False

    def last(self, mate: Teammate) -> str | None:
        """It is about to shut down for want of work: text that makes it work once more."""

    def close(self) -> None:
        """The team has ended: leave no thread behind."""


class TeamServices(Protocol):
    """What a teammate needs of its team.

    ``poll`` and ``patience`` are seconds: how often an idle teammate looks for work, and how long
    it is idle without any before it shuts down; None for never.
    """

    poll: float | None
    patience: float | None
    types: Sequence[str]  # of messages that the model may send

    @property
    def handover(self) -> AbstractContextManager[Any]:
        """Lock that is held while a message or a task passes to a teammate."""

    @property
    def lead(self) -> Agent:
        """The agent to which teammates report."""

    @property
    def extensions(self) -> Sequence[Extension]:
        """What other mechanisms add to the team."""

    def send(self, agent: Agent, to: str, content: str, type: Type = "message") -> Mail:
        """Put a message from an agent into an inbox; see :meth:`Team.send`."""

    def status_changed(self, mate: Teammate) -> None:
        """Store and log a teammate's new status; see :meth:`Team.status_changed`."""


class Teammate:
    """A member of a team: an agent, its thread, and its lifecycle.

    ========  ========================================================  ========
    status    until                                                     then
    ========  ========================================================  ========
    working   its turn has ended, or it has called ``idle``             idle
    idle      a message has come, or an extension has found work        working
    idle      it found nothing for ``patience`` s; it has a last word   working
    idle      it found nothing for ``patience`` s                       shutdown
    any       ``stop`` is set, or it is leaving and its calls are done  shutdown
    ========  ========================================================  ========

    ``_live`` is the loop over this table, and :meth:`rest` is its row ``idle``.

    Attributes:
        name: its lane in the log, and its address.
        role: what it is there for.
        agent: its own loop; set by the team.
        delivery: its inbox and transcript; set by the team.
        mail: set when a message has come.
        stop: shuts it down where it stands.
        leaving: shuts it down after the calls in hand.
        status: ``working``, ``idle`` or ``shutdown``.
        worker: its thread, once it has been started.

    Args:
        team: which it belongs to.
        name: its lane in the log, and its address.
        role: what it is there for.
        clock: on which it waits.
    """

    agent: Agent
    delivery: Delivery
    worker: Worker | None = None

    def __init__(self, team: TeamServices, name: str, role: str, clock: Clock) -> None:
        self.name, self.role = name, role
        self.stop = clock.signal(f"the stop of {name!r}")
        self.mail = clock.signal(f"mail for {name!r}")
        self.leaving = False
        self.status: Status = "idle"
        self._team, self._clock = team, clock

    @property
    def busy(self) -> bool:
        """Whether it works, or will: it has messages, or an extension has work for it.

        To ask this of several, hold ``handover``: otherwise work that one hands to another is seen
        at neither of them.
        """
        if self.status != "idle":
            return self.status == "working"
        return bool(self.delivery.inbox.look()) or any(
            one.has_work(self) for one in self._team.extensions
        )

    def start(self, prompt: str) -> None:
        """Start its thread.

        Args:
            prompt: its first task.
        """
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
        """Change its status, and let the team know.

        Args:
            status: the new one; nothing happens if it has it already.
        """
        with self._team.handover:
            changed, self.status = self.status != status, status
        if changed:
            self._team.status_changed(self)

    def rest(self, report: str) -> str | None:
        """Report to the lead, be idle, and return with something to do.

        Args:
            report: what came of the work; an empty one is not sent.

        Returns:
            What to work on next, with the status ``working``; None when it is to shut down.
        """
        team, clock = self._team, self._clock
        if report and not self.stop.is_set():
            team.send(self.agent, team.lead.name, report)
        if self.leaving or self.stop.is_set():
            return None
        self.become("idle")
        end = None if team.patience is None else clock.time() + team.patience
        while not self.stop.is_set():
            self.mail.clear()
            if text := self._take():
                return text
            late = end is not None and clock.time() >= end
            if late and not any(one.waits(self) for one in team.extensions):
                if text := next(filter(None, (one.last(self) for one in team.extensions)), None):
                    self.become("working")
                return text
            clock.wait(self.mail, self.stop, timeout=team.poll)
        return None

    def _live(self, prompt: str) -> None:
        """Work and rest in turn, until there is nothing more to do."""
        text: str | None = prompt
        try:
            with self._clock.interruptible(self.stop):
                while text is not None:
                    text = self.rest(self._work(text))
        finally:
            self.become("shutdown")

    def _work(self, text: str) -> str:
        """Do one piece of work; return the report on it for the lead."""
        from anthropic import APIError

        try:
            return _last_words(self.agent.run(text))
        except APIError as error:  # the array stays valid: a message can wake it again
            return f"failed: {type(error).__name__}: {error}"
        except Exception as error:
            self._team.send(
                self.agent, self._team.lead.name, f"failed: {type(error).__name__}: {error}"
            )
            raise
        finally:
            self.delivery.keep()

    def _take(self) -> str | None:
        """Take new messages, or else work, and be working from the same moment on."""
        with self._team.handover:
            found = (one.work(self) for one in self._team.extensions)
            text = self.delivery.deliver() or next(filter(None, found), None)
            if text is None:
                return None
            self.status = "working"
        self._team.status_changed(self)
        return text


class TeammateMessages(Mechanism):
    """A teammate's side of the team: its messages.

    Args:
        team: which it belongs to.
        mate: the teammate that it serves.
    """

    def __init__(self, team: TeamServices, mate: Teammate) -> None:
        self._team, self._mate = team, mate

    def before_model(self, agent: Agent) -> None:
        """What was delivered is in the transcript now, and safe."""
        self._mate.delivery.keep()

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """New messages; a teammate that is leaving stops now."""
        if self._mate.leaving:
            self._mate.stop.set()
            return None
        return self._mate.delivery.deliver()

    def on_stop(self, agent: Agent) -> str | None:
        """Messages that have come during its last reply."""
        return None if agent.stop.is_set() else self._mate.delivery.deliver()

    @property
    def tools(self) -> Sequence[Tool]:
        """``send_message`` and ``read_inbox``."""
        return [self.send_message.narrowed(msg_type=self._team.types), self.read_inbox]

    @tool(internal=True)
    def send_message(self, to: str, content: str, msg_type: Type = "message") -> str:
        """Write to somebody in the team; it is read before the next turn there.

        Args:
            to: the name.
            content: the message.
            msg_type: what kind of message it is.
        """
        self._team.send(self._mate.agent, to, content, msg_type)
        return f"Sent to {to}."

    @tool(internal=True)
    def read_inbox(self) -> str:
        """Read what has come for you. It also comes to you by itself."""
        return self._mate.delivery.deliver() or "There is no new mail."


def _last_words(outcome: Outcome) -> str:
    text = outcome.text.strip() or "(no summary)"
    if outcome.reason in _ENDS:
        text += f"\n\n[{_ENDS[outcome.reason].format(turns=outcome.turns)}]"
    return text
