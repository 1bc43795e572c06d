"""The model's place in a run, and what its page shows.

Nothing waits for the learner. With each reply the run begins again in a fresh workspace, gets all
the replies so far, and stops at the next request. Taking a reply back means to run without it.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import anthropic

from learnkit.clients.scripted import Failure, Reply, Request
from learnkit.core import tool_form as forms
from learnkit.errors import Halted, UsageError
from learnkit.views import request as views

Json = dict[str, Any]


class Paused(anthropic.AnthropicError, Halted):
    """There is no reply to this request yet.

    Attributes:
        request: the JSON body.
        lane: the agent that asks.
    """

    def __init__(self, request: Request, lane: str) -> None:
        super().__init__(f"agent {lane!r} waits for a reply")
        self.request, self.lane = request, lane


class Given:
    """Replies that were given in advance, lane by lane; the next request after them pauses the run.

    Attributes:
        used: lane -> how many of its replies were asked for.
    """

    def __init__(self, replies: Mapping[str, Sequence[Reply | Failure]]) -> None:
        self._replies = replies
        self.used: Counter[str] = Counter()
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The next reply of the lane."""
        key = lane if lane in self._replies else ""
        with self._lock:
            replies, place = self._replies.get(key, ()), self.used[key]
            if place >= len(replies):
                raise Paused(request, lane)
            self.used[key] += 1
        return replies[place]


class Seat(ABC):
    """The model's place; ``README.md`` explains the keys of its state.

    Attributes:
        tell: gets each message for the page.
        phase: ``ready``, ``yours`` (a request waits for a reply), ``works`` (the harness runs),
            ``refused`` (by the API), or over: ``ended``, ``left``, ``broken``.
        head: what happened last, in a sentence.
        replies: agent and reply, in the order in which they were given.
        faults: what goes wrong in the harness with each of them; empty for nothing.
        lane: the agent whose request waits.
        request: that request, or the last one that did.
        error: what ended the run, or stopped it.
    """

    def __init__(self, phase: str, head: str) -> None:
        self.tell: Any = lambda message: None
        self.phase, self.head, self.lane = phase, head, ""
        self.replies: list[tuple[str, Reply]] = []
        self.faults: list[str] = []
        self.request: Json | None = None
        self.error: BaseException | None = None
        self._asks = self._seq = 0

    @abstractmethod
    def play(self, given: Given) -> BaseException | None:
        """Run to the end of these replies, and return what has stopped it."""

    @abstractmethod
    def asked(self, before: Json | None) -> str:
        """Say what kind of request waits, where another one did before."""

    @abstractmethod
    def ended(self, error: BaseException | None) -> tuple[str, str]:
        """Return the phase after the end of a run, and how it ended in a sentence."""

    def go(self) -> None:
        """Run with the replies so far, and show where it stops."""
        lanes: dict[str, list[Reply]] = {}
        for lane, reply in self.replies:
            lanes.setdefault(lane, []).append(reply)
        error = self.error = self.play(Given(lanes))
        if isinstance(error, Paused):
            before, self.request, self.lane = self.request, error.request, error.lane
            self._asks += 1
            self.show("yours", self.asked(before))
        elif isinstance(error, anthropic.APIStatusError) and self.replies:
            why = "because of what you broke" if any(self.faults) else "because of your last reply"
            self.show("refused", f"The next request was refused, {why}.")
        else:
            self.show(*self.ended(error))

    def answer(self, reply: Reply, fault: str = "") -> None:
        """Answer the request that waits."""
        if self.phase != "yours":
            raise UsageError("no request waits for a reply")
        self.replies.append((self.lane, reply))
        self.faults.append(fault)
        self.show("works", "Sent. The harness reads the reply.")
        self.go()

    def take_back(self) -> None:
        """After a refusal: go back to before the reply that led to it."""
        if self.phase != "refused":
            raise UsageError("there is no reply to take back")
        self.replies.pop()
        self.faults.pop()
        self.go()

    def act(self, intent: Json) -> None:
        """Do what the learner asked for on the page; if that is impossible, the page says why."""
        try:
            self.do(intent)
        except UsageError as error:
            problem: Json = {"problem": str(error)}
            if isinstance(error, forms.FormError):
                problem |= {"part": error.part, "field": error.field}
            self.tell(problem)

    def do(self, intent: Json) -> None:
        """Do what the learner asked for."""
        if intent.get("want"):
            self.tell(self.message())
        elif intent.get("stop"):
            self.show("left", "You left the model's place.")
        elif intent.get("back"):
            self.take_back()
        elif "reply" in intent:
            if intent.get("ask") != self._asks:
                raise UsageError("this answers an earlier request: look again, and send again")
            given, stop = intent["reply"], None
            if isinstance(given, str):
                content, stop = forms.parse(given)
            else:
                content = forms.assemble(given, (self.request or {}).get("tools") or [])
            self.answer(Reply(tuple(content), stop, latency=0.0), str(intent.get("fault") or ""))

    def show(self, phase: str, head: str) -> None:
        """Bring the page up to date."""
        self.phase, self.head = phase, head
        self.tell(self.message())

    def message(self) -> Json:
        """Return the state, numbered."""
        self._seq += 1
        return {"seq": self._seq, "state": self.state()}

    def state(self) -> Json:
        """Return what the page shows, ready for JSON."""
        body, refusal = self.body(), None
        if self.phase == "refused":
            body, refusal = json.loads(self.error.request.content), views.refusal(self.error)  # type: ignore[union-attr]
        over = self.phase in ("ended", "left", "broken")
        return {
            "ask": self._asks,
            "phase": self.phase,
            "head": self.head,
            "frame": [list(one) for one in views.fragments(body, refusal, over=over).items()],
            "tools": [forms.form(spec) for spec in body.get("tools") or []],
            "undo": self.phase == "refused",
            "faults": False,
            "again": "",
            "remarks": [],
        }

    def body(self) -> Json:
        """Return the request that the page shows."""
        return self.request or {"messages": []}
