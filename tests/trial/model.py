"""The model's part of a working day, and the server that plays it.

What the model says is a function of the request and of nothing else: it reads who is asking, what
was asked last, and which of the steps towards it are in the conversation. So a request that is
sent twice is answered twice alike, and what a compaction loses is lost to this model, too.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from messages_server import CUT, MessagesServer, listening

import learnkit as lk
from learnkit.clients.scripted import Reply, Scripted

Body = dict[str, Any]
Call = tuple[str, dict[str, Any]]

#: Characters a token, for this server: fewer than the four that the harness guesses at first.
CHARS_PER_TOKEN = 2.5
#: The errors that a server that misbehaves answers with, in order, before every third reply.
BURST = (429, 500, 529)


@dataclass(frozen=True, slots=True)
class Step:
    """One reply on the way to what was asked.

    Attributes:
        says: its text.
        calls: what it calls; the last step of a plan calls nothing.
        until: the results must hold this, else it is done again once there is something new.
        may_fail: an error in the results is no reason to do it again.
    """

    says: str
    calls: Sequence[Call] = ()
    until: str = ""
    may_fail: bool = False


#: What was asked -> its name, and the steps.
Plans = Mapping[str, tuple[str, Sequence[Step]]]


@dataclass(slots=True)
class Said:
    """A reply in a conversation, with what came back."""

    text: str
    results: list[tuple[str, bool]] = field(default_factory=list)


class View:
    """A conversation, as the model reads it.

    Attributes:
        who: the agent that asks; ``lead`` if the system prompt gives it no name.
        asked: what it was asked last.
        name: of the plan for that.
        steps: the steps of that plan.
        claims: how many tasks it has claimed.
        decision: what the user has decided, as far as the conversation has it.
        heard: the last text that was no tool result.
    """

    def __init__(self, body: Body, plans: Plans) -> None:
        system = "\n".join(_texts(body.get("system", "")))
        found = re.search(r"^You are (\w+), \w+, in the team", system, re.MULTILINE)
        self.who = found[1] if found else "lead"
        self.asked, self.name, self.steps, self.claims = "", "", (), 0
        self.decision = self.heard = ""
        self._replies: list[Said] = []
        self._earlier = ""  # what a summary says was done
        self._news = False  # something has come after the last result
        calls: dict[str, Said] = {}
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if message["role"] == "assistant":
                said = Said("\n".join(one["text"] for one in blocks if one["type"] == "text"))
                self._replies.append(said)
                calls.update((one["id"], said) for one in blocks if one["type"] == "tool_use")
                self._news = False
                continue
            for one in blocks:
                if one["type"] == "tool_result":
                    result = "\n".join(_texts(one.get("content", "")))
                    calls[one["tool_use_id"]].results.append((result, bool(one.get("is_error"))))
                else:
                    self._hear(one["text"], plans)

    def _hear(self, text: str, plans: Plans) -> None:
        self._news, self.heard = True, text
        if found := re.search(r"Decision: ([^.\n]+)", text):
            self.decision = found[1]
        if summary := re.search(r"<summary.*?</summary>", text, re.DOTALL):
            self._earlier += summary[0]
        for task in re.findall(r"<auto-claimed>Task #\d+: (.+)", text):
            self._ask(task.strip().removesuffix("</auto-claimed>"), plans)
            self.claims += 1
        request = re.search(r"<request>\n(.*)\n</request>", text, re.DOTALL)
        asked = request[1] if request else text
        if asked.strip() in plans:
            self._ask(asked.strip(), plans, again=bool(request))

    def _ask(self, asked: str, plans: Plans, again: bool = False) -> None:
        self.asked = asked
        self.name, self.steps = plans.get(asked, ("", ()))
        if not again:
            self._replies, self._earlier = [], ""

    def tag(self, number: int) -> str:
        """What marks the reply of a step."""
        return f"[{self.name} {number}]"

    def next(self) -> tuple[int, bool]:
        """The number of the step to take, and whether it is one that has to wait instead."""
        for number, step in enumerate(self.steps):
            if self.tag(number) in self._earlier:
                continue
            said = [one for one in self._replies if self.tag(number) in one.text]
            if not said or len(said[-1].results) < len(step.calls):
                if said and not self._news and step.until:
                    return number, True
                return number, False
            last = said[-1].results
            if any(failed for _, failed in last) and not step.may_fail:
                return number, False
            if step.until and step.until not in "\n".join(text for text, _ in last):
                return number, not self._news
        return len(self.steps) - 1, False


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    else:
        yield from (one["text"] for one in content if one["type"] == "text")


def model(plans: Plans) -> Callable[[Body], Reply]:
    """A model that follows plans."""

    def answer(body: Body) -> Reply:
        first = body["messages"][0]["content"]
        if "tools" not in body and isinstance(first, str):
            return lk.say(_summary(first))
        view = View(body, plans)
        if not view.steps:
            return lk.say(f"I am ready. ({view.who})")
        number, waits = view.next()
        step = view.steps[number]
        if waits:
            return lk.say(f"{view.name} {number}: I wait for the others.")
        says = step.says.replace("DECISION", view.decision or "nothing that I know of")
        text = f"{view.tag(number)} {says}"
        return lk.reply(text, *(lk.use(name, **given) for name, given in step.calls))

    return answer


def _summary(text: str) -> str:
    done = dict.fromkeys(re.findall(r"\[[\w-]+ \d+\]", text))
    decided = re.findall(r"Decision: ([^.\n]+)", text)[-1:]
    return "\n".join(["Done so far:", *done, *(f"Decision: {one}." for one in decided)])


@dataclass
class Gate:
    """A place at which a reply waits for the test.

    Attributes:
        at: says of a request, and the number of the step that answers it, whether it is this one.
        part: how many parts of the reply are sent before it waits.
        held: the reply is waiting.
        opened: it need not wait any more.
        cut: the connection is to end here.
        left: the reply does not wait any more.
    """

    at: Callable[[View, int], bool]
    part: int = 0
    held: threading.Event = field(default_factory=threading.Event)
    opened: threading.Event = field(default_factory=threading.Event)
    cut: bool = False
    left: threading.Event = field(default_factory=threading.Event)

    def reached(self) -> bool:
        """Whether a reply waits here."""
        return self.held.is_set()

    def wait(self) -> None:
        """Wait for the test; called by the server."""
        self.held.set()
        self.opened.wait(300)

    def open(self) -> None:
        """Let the reply go on."""
        self.opened.set()

    def close(self) -> None:
        """End the reply here: its reader is gone."""
        self.cut = True
        self.opened.set()
        if self.held.is_set():
            self.left.wait(60)


#: Of a reply: whose it is, where it waits, and what is to go wrong with it.
Sent = tuple[str, Gate | None, Collection[str]]
NOTHING: Sent = ("", None, ())


@dataclass
class Day(MessagesServer):
    """The server of a day's work.

    Attributes:
        plans: what the model does.
        gates: where replies wait.
        misbehaves: every third reply comes after a burst of errors, and then at first cut in the
            middle or without the arguments of its calls, in turn.
        delivered: usage of each reply that was sent whole, with the name of the agent.
        twice: agents that had two requests under way at one time.
    """

    plans: Plans = field(default_factory=dict)
    gates: list[Gate] = field(default_factory=list)
    misbehaves: bool = False
    delivered: list[tuple[str, dict[str, int]]] = field(default_factory=list)
    twice: set[str] = field(default_factory=set)
    summaries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    _under_way: Counter[str] = field(default_factory=Counter)
    _tries: Counter[str] = field(default_factory=Counter)
    _order: dict[str, int] = field(default_factory=dict)
    _sent: dict[str, Sent] = field(default_factory=dict)

    def respond(self, path: str, body: Body, beta: bool = False) -> tuple[int, dict[str, Any]]:
        view = View(body, self.plans)
        number, _ = view.next() if view.steps else (0, False)
        summary = "tools" not in body
        closed = (one for one in self.gates if not one.held.is_set() and not summary)
        gate = next((one for one in closed if one.at(view, number)), None)
        with self.lock:
            self._under_way[view.who] += 1
            if self._under_way[view.who] > 1:
                self.twice.add(view.who)
        try:
            if gate is not None and not gate.part:
                gate.wait()
            status, value, faults = self._answered(path, body, beta)
        finally:
            with self.lock:
                self._under_way[view.who] -= 1
            if gate is not None and not gate.part:
                gate.left.set()
        if status == 200 and "content" in value:
            value["usage"] = _usage(body, value)
            with self.lock:
                self.summaries += summary
                self._sent[value["id"]] = (view.who, gate, faults)
        return status, value

    def _answered(
        self, path: str, body: Body, beta: bool
    ) -> tuple[int, dict[str, Any], Collection[str]]:
        """Status and JSON for a request, and what is to go wrong on the way."""
        same = json.dumps(body, sort_keys=True)
        with self.lock:
            third = self._order.setdefault(same, len(self._order)) % 3 == 1
            attempt = self._tries[same]
            self._tries[same] += 1
        if self.misbehaves and third and attempt < len(BURST):
            status = BURST[attempt]
            self.failures[str(status)] += 1
            error = {"type": "api_error", "message": f"status {status}, for a try"}
            return status, {"type": "error", "error": error}, ()
        status, value = super().respond(path, body, beta)
        if status != 200 or "content" not in value:
            self.failures[f"{status} {value.get('error', {}).get('message', '')[:200]}"] += 1
            return status, value, ()
        calls = any(one["type"] == "tool_use" for one in value["content"])
        due = self.misbehaves and third and attempt == len(BURST)
        bare = calls and self.failures["bare"] < self.failures["cut"]
        faults = ["bare" if bare else "cut"] if due else []
        self.failures.update(faults)
        return status, value, faults

    def sending(self, value: dict[str, Any], number: int) -> None:
        _, gate, _ = self._sent.get(value.get("id", ""), NOTHING)
        if gate is not None and number == gate.part:
            if gate.part:
                gate.wait()
                gate.left.set()
            if gate.cut:
                raise ConnectionAbortedError

    def sent(self, value: dict[str, Any]) -> None:
        who, _, faults = self._sent.get(value.get("id", ""), NOTHING)
        if who and "cut" not in faults:
            with self.lock:
                self.delivered.append((who, value["usage"]))

    def left_out(self, message: dict[str, Any]) -> Collection[str]:
        return {"input"} if "bare" in self._sent[message["id"]][2] else self.omitted

    def encoded(self, message: dict[str, Any], streamed: bool) -> list[bytes]:
        parts = super().encoded(message, streamed)
        if self.misbehaves:  # such servers leave out the empty one at the start of a block, too
            parts = [part.replace(b', "input": {}', b"") for part in parts]
        if "cut" in self._sent[message["id"]][2]:
            whole = b"".join(parts)
            return [whole[: len(whole) // 2], CUT]
        return parts

    def completions(self) -> Counter[int]:
        """How often the server has seen each task completed: by the results that came back."""
        seen: dict[str, int] = {}
        for body in self.bodies:
            blocks = [
                one
                for message in body["messages"]
                if not isinstance(message["content"], str)
                for one in message["content"]
            ]
            wanted = {
                one["id"]: one["input"]["task_id"]
                for one in blocks
                if one["type"] == "tool_use"
                and one["name"] == "task_update"
                and one["input"].get("status") == "completed"
            }
            well = {
                one["tool_use_id"]
                for one in blocks
                if one["type"] == "tool_result" and not one.get("is_error")
            }
            seen.update((id, task) for id, task in wanted.items() if id in well)
        return Counter(seen.values())


def _usage(body: Body, value: dict[str, Any]) -> dict[str, int]:
    """What a request used: a prefix from the cache if it asks for the cache, the rest counted."""
    size = len(json.dumps([body.get("system"), body.get("tools"), body["messages"]]))
    sent = round(size / CHARS_PER_TOKEN)
    cached = sent // 2 if "cache_control" in body else 0
    written = (sent - cached) // 3 if "cache_control" in body else 0
    return {
        "input_tokens": sent - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": max(1, len(json.dumps(value["content"])) // 3),
    }


@contextmanager
def at_work(plans: Plans, **how: Any) -> Iterator[Day]:
    """A server that listens."""
    day = Day(Scripted(model(plans)), plans=plans, **how)
    with listening(day):
        try:
            yield day
        finally:
            for gate in day.gates:
                gate.close()
