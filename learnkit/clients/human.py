"""Be the model: requests wait until a person answers them.

The loop runs in a thread; the person who plays the model sees the request and sends a reply, from
a widget or from code. Other agents are answered by a function.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import anthropic

from learnkit.clients.scripted import Failure, Policy, Reply, Request, Script, Scripted
from learnkit.errors import UsageError
from learnkit.runtime.clock import Clock, Signal

_LEFT = "the game was left; start it again to go on"


class Left(anthropic.AnthropicError):
    """The person who played the model has stopped."""


class Human:
    """A source that asks a person."""

    def __init__(
        self,
        clock: Clock,
        *,
        lane: str = "lead",
        others: Policy | None = None,
        asked: Callable[[Request], None] | None = None,
    ) -> None:
        self.pending: Request | None = None
        self.asked = asked
        self._clock, self._lane = clock, lane
        lines: Script = others if others is not None else []
        self._others = Scripted(lines)
        self._answered: Signal = clock.signal("the learner's reply")
        self._reply: Reply | Failure | None = None
        self._left = False
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """Wait for the person's reply."""
        if lane != self._lane:
            return self._others.answer(request, lane)
        with self._lock:
            if self._left:
                raise Left(_LEFT)
            self._answered.clear()
            self.pending = request
        closed = self._clock.signal("the end of the game")
        try:
            if self.asked is not None:
                self.asked(request)
            with self._clock.interruptible(closed):
                self._clock.wait(self._answered, closed)
        finally:
            with self._lock:
                self.pending, reply, self._reply = None, self._reply, None
        if reply is None:
            raise Left(_LEFT)
        return reply

    def send(self, reply: Reply | Failure) -> None:
        """Answer the request that waits."""
        with self._lock:
            if self.pending is None or self._reply is not None:
                raise UsageError("no request waits for an answer: start the agent first")
            self._reply = reply
        self._answered.set()

    def leave(self) -> None:
        """Stop playing: the request that waits, and each later one, ends in :class:`Left`."""
        with self._lock:
            self._left = True
        self._answered.set()
