"""A session in which the learner answers in the model's place: the loop, its thread, its pauses.

The loop runs in a thread of the system clock and waits there for each reply, so opening a session
returns at once, and closing it leaves no thread. A request that the API refuses does not end the
session: the learner can take back the reply that led to it.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from learnkit.core.agent import Agent, Outcome
from learnkit.core.mechanism import Mechanism
from learnkit.course.content import Remark
from learnkit.errors import UsageError
from learnkit.events.log import Event, EventLog
from learnkit.runtime.clock import SystemClock
from learnkit.runtime.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from learnkit.clients.scripted import Policy, Reply, Script, Source
    from learnkit.clients.transport import Client

Json = dict[str, Any]
Factory = Callable[["Client", EventLog], Agent]
Judge = Callable[[Agent], Sequence[Remark]]

#: Events after which there is something new to see while the harness works.
_SHOWN = ("message.added", "messages.rewritten", "tool.started", "tool.ended")
#: Seconds between two checks whether the process is about to end.
_CHECK = 1.0
#: Phases in which nothing runs any more.
OVER = ("ended", "left", "broken")


def silent(agent: Agent) -> Sequence[Remark]:
    """Say nothing about a run."""
    return ()


class Careless(Mechanism):
    """Gives the harness a fault for one reply, to show how the API answers it.

    Attributes:
        fault: ``forget`` drops the results of the calls, ``keep`` stores an empty reply and asks
            again; empty for no fault. It ends with the next request.
    """

    def __init__(self) -> None:
        self.fault = ""

    def before_model(self, agent: Agent) -> None:
        """Drop the results of the last calls, if that is the fault."""
        fault, self.fault = self.fault, ""
        content = agent.messages[-1]["content"]
        results = [b for b in content if isinstance(b, dict) and b["type"] == "tool_result"]
        if fault == "forget" and results:
            agent.rewrite(agent.messages[:-1], "the harness forgot the tool_result")

    def on_stop(self, agent: Agent) -> str | None:
        """Store the empty reply and continue, if that is the fault."""
        if self.fault != "keep":
            return None
        empty = {"role": "assistant", "content": []}
        agent.rewrite([*agent.messages, empty], "the harness kept an empty reply")
        return "Go on."


class Session:
    """One run of an agent whose model is the learner.

    Attributes:
        phase: ``yours`` (a request waits for a reply), ``works`` (the harness runs), ``refused``
            (by the API), or over: ``ended``, ``left``, ``broken``.
        head: what happened last, in a sentence.
        asks: how many requests have waited for a reply so far, with those of earlier sessions.
        request: the request that waits, or the last one that did.
        outcome: how the run ended; None before.
        remarks: what ``judge`` says about it; none before.
        error: what the API or a faulty mechanism raised.
        changed: called, in any thread, when there is something new to show.
    """

    def __init__(
        self,
        agent_factory: Factory,
        prompt: str,
        *,
        others: Policy | None,
        asked: int = 0,
        judge: Judge = silent,
        over: Callable[[], object] = lambda: None,
    ) -> None:
        from learnkit.clients.connect import from_source
        from learnkit.clients.human import Human

        self.phase = "works"
        self.head = "The harness makes its first request."
        self.asks = asked
        self.request: Json | None = None
        self.outcome: Outcome | None = None
        self.remarks: Sequence[Remark] = ()
        self.error: Exception | None = None
        self.changed: Callable[[], object] = lambda: None
        self._judge, self._over = judge, over
        self._lock = threading.Lock()
        self._closed = False
        self._clock = clock = SystemClock()
        self._back = clock.signal("the reply is taken back")
        self._idle = clock.signal("the session waits for the learner")
        self._human = Human(clock, others=others, asked=self._asked)
        self.agent = agent_factory(from_source(self._human, clock, "human"), EventLog())
        self._careless = Careless()
        self.agent.mechanisms = (*self.agent.mechanisms, self._careless)
        self.agent.start(prompt)
        self.agent.events.subscribe(self._happened)
        self._worker = clock.spawn("be the model", self._play)
        clock.spawn("the end of the process", self._watch)

    def send(self, reply: Reply, fault: str = "") -> None:
        """Answer the request that waits."""
        with self._lock:
            if self.phase != "yours":
                raise UsageError(f"no request waits for a reply: {self.why()}")
            self._careless.fault = fault
            self._set("works", "Sent. The harness reads the reply.")
        self._human.send(reply)

    def take_back(self) -> None:
        """After a refusal: go back to before the reply that led to it."""
        with self._lock:
            if self.phase != "refused" or self.request is None:
                raise UsageError(f"there is no reply to take back: {self.why()}")
            self._set("works", "The reply is taken back: the array is as it was before.")
        self._back.set()

    def wait(self, timeout: float | None) -> str:
        """Wait until the session needs the learner, or is over."""
        self._clock.wait(self._idle, timeout=timeout)
        return self.phase

    def leave(self) -> None:
        """Stop the run. Its thread ends soon."""
        if not self._worker.done:
            with self._lock:
                if self.phase in ("yours", "refused"):
                    self._set("works", "You leave the game.")
            self.agent.stop.set()
            self._human.leave()

    def close(self) -> None:
        """Stop the run, and wait for the threads. Twice is no error."""
        if not self._closed:
            self._closed = True
            self.leave()
            try:
                self._worker.join()
            finally:
                self._clock.close()
                self.agent.client.close()

    def why(self) -> str:
        """Return what the session waits for, or how it ended, in a sentence."""
        if self.phase == "yours":
            return f"turn {self.agent.turns} waits for your reply; a reply of text only ends it"
        if self.phase == "refused":
            return "the API refused the last request; take the reply back to go on"
        if self.phase == "left":
            return "the game was left before its end; play it again"
        return self.head

    # In the loop's thread

    def _play(self) -> None:
        try:
            with self._clock.interruptible(self.agent.stop):
                self._loop()
        except Exception as error:  # of a mechanism: it is shown now, and raised later
            self.error = error
            self._change("broken", f"The game broke off: {type(error).__name__}: {error}")

    def _loop(self) -> None:
        """The loop of ``Agent.run``, except that a refused request can be taken back."""
        import anthropic

        from learnkit.clients.human import Left

        agent = self.agent
        left = "left", "You left the game."
        while True:
            try:
                outcome = agent.step()
            except Left:
                return self._change(*left)
            except anthropic.APIStatusError as error:
                self.error = error
                self._change("refused", "The harness sent its next request, and it was refused.")
                self._clock.wait(self._back, agent.stop)
                self._back.clear()
                if agent.stop.is_set() or self.request is None:
                    return self._change(*left)
                agent.rewrite(copy.deepcopy(self.request["messages"]), "the reply was taken back")
                self.error = None
                continue
            if outcome is None:
                continue
            if outcome.reason == "cancelled":
                return self._change(*left)
            self.remarks, self.outcome = self._judge(agent), outcome
            return self._change("ended", _ending(outcome))

    def _watch(self) -> None:
        """Leave when the process ends, which must not wait for a learner who is gone."""
        main = threading.main_thread()
        while not self._clock.wait(self._worker.ended, timeout=_CHECK):
            if not main.is_alive():
                self.leave()

    def _asked(self, request: Json) -> None:
        before, self.request = self.request, request
        self.asks += 1
        self._change("yours", self._announced(before, request))

    def _announced(self, before: Json | None, request: Json) -> str:
        """What kind of request this is, and what the learner can do."""
        if self.agent.tools and not request.get("tools"):
            return (
                "Another request, beside the array: the harness asks for a summary. "
                "There are no tools in it. Answer with text."
            )
        head = "You are the model. This is everything you see"
        if before is not None and self.agent.tools and not before.get("tools"):
            head = "Your turn again: the array begins with your summary now"
        elif before is not None:
            same = request["messages"] == before["messages"]
            head = f"Your turn again: the array {'is as it was' if same else 'has grown'}"
        return f"{head}. Call a tool, or answer with text."

    def _happened(self, event: Event) -> None:
        from learnkit.views.words import describe

        if event.type not in _SHOWN:
            return
        with self._lock:  # another agent's thread must not overwrite the end of the run
            if self.phase != "works":
                return
            self.head = describe(event)
        self.changed()

    def _change(self, phase: str, head: str) -> None:
        """Update the screens first, and only then wake the callers of :meth:`wait`."""
        with self._lock:
            self._set(phase, head)
        try:
            self.changed()
        finally:
            if phase in OVER:
                with contextlib.ExitStack() as stack:
                    stack.callback(self._over)
                    stack.callback(self.agent.close)
            with self._lock:
                if self.phase != "works":  # a screen may have answered already
                    self._idle.set()

    def _set(self, phase: str, head: str) -> None:
        self.phase, self.head = phase, head
        if phase == "works":
            self._idle.clear()


class Played:
    """The same run, which a script has played to its end, or to the first refusal.

    Attributes:
        first: what the model sees first.
        outcome, remarks, error: as in :class:`Session`.
    """

    def __init__(
        self,
        agent_factory: Factory,
        prompt: str,
        script: Script | Source,
        *,
        judge: Judge = silent,
    ) -> None:
        import anthropic

        from learnkit.clients.connect import scripted

        self.outcome: Outcome | None = None
        self.remarks: Sequence[Remark] = ()
        self.error: Exception | None = None
        with VirtualClock() as clock, scripted(script, clock) as client:
            self.agent = agent_factory(client, EventLog())
            self.agent.start(prompt)
            self.first: Json = copy.deepcopy(self.agent.request())
            try:
                while self.outcome is None:
                    self.outcome = self.agent.step()
                self.remarks = judge(self.agent)
            except anthropic.APIStatusError as error:
                self.error = error

    def why(self) -> str:
        """Return why there is no outcome, in a sentence."""
        return f"the script ended in an error: {self.error}"

    def close(self) -> None:
        """End what the mechanisms still have open."""
        self.agent.close()


def _ending(outcome: Outcome) -> str:
    from learnkit.events.sentences import stopped
    from learnkit.events.text import count

    why = (
        "the last reply called no tool" if outcome.reason == "end_turn" else stopped(outcome.reason)
    )
    return f"The loop ends after {count(outcome.turns, 'turn')}: {why}."
