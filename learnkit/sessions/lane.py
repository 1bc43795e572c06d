"""One agent's part of a session: what a reader finds in a file, as the events of a run.

Files tell a conversation in their own order: a reply arrives in pieces, results between them. A
lane keeps a turn open until it is over, then writes it as our loop would have: request, reply,
message, calls, results. So every view draws a session unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from learnkit.core.token_count import estimate_tokens
from learnkit.events.compaction import (
    ClearedResult,
    CompactionAsked,
    CompactionCleared,
    CompactionSummarised,
)
from learnkit.events.log import EventLog
from learnkit.events.loop import (
    How,
    MessageAdded,
    MessagesRewritten,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    RunEnded,
    RunStarted,
    ToolEnded,
    ToolStarted,
    UsageData,
)
from learnkit.events.subagents import SubagentEnded, SubagentStarted
from learnkit.events.text import content_text

#: The content of a result that compaction has taken out.
CLEARED = "[cleared by compaction]"
_LONGEST_NAME = 200


@dataclass(slots=True)
class _Turn:
    """A turn that may not be over: its reply, and what has come after it."""

    id: str
    time: float
    blocks: list[dict[str, Any]] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)
    ends: dict[str, tuple[float, ToolEnded]] = field(default_factory=dict)
    results: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    usage: UsageData = field(default_factory=UsageData)
    model: str | None = None
    stop: str | None = None


class Lane:
    """The events of one agent, and its message array as it grows.

    Args:
        name: of the lane.
        parent: of a subagent: the lane with the call that it works for.
        call: the id of that call; empty if the file doesn't say.

    Attributes:
        events: each with its time, in order.
        messages: the array as it is now.
        calls: name and input of every call so far, by id.
        hidden: tokens of the first request that no message holds, by the server's count.
    """

    def __init__(self, name: str, parent: Lane | None = None, call: str = "") -> None:
        self.name, self.parent, self.call = name, parent, call
        self.events: list[tuple[float, object]] = []
        self.messages: list[dict[str, Any]] = []
        self.calls: dict[str, tuple[str, Any]] = {}
        self.hidden: int | None = None
        self.turns = 0
        self._system = ""
        self._tools: tuple[dict[str, Any], ...] = ()
        self._run: int | None = None  # its first turn
        self._said = ""
        self._now = self._asked = 0.0
        self._turn: _Turn | None = None
        self._last: _Turn | None = None

    def child_name(self, call: str) -> str:
        """The lane of a subagent that works for a call, as our own subagents have it."""
        return f"{self.name[:_LONGEST_NAME]}.{call}"

    def add(self, event: object, time: float | None = None) -> None:
        """Add an event; time does not run backwards in a lane."""
        self._now = max(self._now, time or 0.0)
        self.events.append((self._now, event))

    def aside(self, event: object, time: float | None) -> None:
        """Add what is no part of the conversation: the open turn stays open."""
        self.events.append((time or self._now, event))

    # What a file says, in its order

    def fixed(self, system: str, tools: tuple[dict[str, Any], ...] = ()) -> None:
        """The system prompt and the tools, if the file has them, of the runs to come."""
        self._system, self._tools = system, tools

    def user(self, content: Any, time: float | None = None, *, injected: bool = False) -> None:
        """A user message: of a person, which begins a run, or injected by the harness."""
        if injected and self._turn and self._turn.results:  # in one message with the results
            self._turn.notes += _blocks(content)
            return
        self.over()
        if not injected:
            self.end()
            self._run, self._last = self.turns, None
            run = RunStarted(prompt=content, system=self._system, tools=self._tools)
            self.add(run, time)
        self._append({"role": "user", "content": content}, time, injected)

    def reply(
        self,
        id: str,
        blocks: list[dict[str, Any]],
        time: float | None = None,
        *,
        usage: UsageData | None = None,
        model: str | None = None,
        stop: str | None = None,
    ) -> None:
        """A reply, or one more piece of the reply with this id."""
        time = max(self._now, time or 0.0)
        if self._turn is None or not id or self._turn.id != id:
            self.over()
            self._turn = _Turn(id, time)
        turn = self._turn
        turn.time = max(turn.time, time)
        turn.blocks += blocks
        for block in blocks:
            if block.get("type") == "tool_use":
                name, call = str(block.get("name", "?")), str(block.get("id", ""))
                turn.begun[call] = time
                self.calls[call] = name, block.get("input")
        turn.usage = usage or turn.usage  # it grows while the reply streams: the last one counts
        turn.model, turn.stop = model or turn.model, stop or turn.stop

    def result(
        self,
        call: str,
        content: Any,
        time: float | None = None,
        *,
        failed: bool = False,
        how: How = "ran",
        seconds: float | None = None,
    ) -> None:
        """The result of a call."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        if failed:
            block["is_error"] = True
        if self._turn is None:  # the file begins in the middle, or the call was in another lane
            self._append({"role": "user", "content": [block]}, time)
            return
        turn = self._turn
        time = max(self._now, time or 0.0)
        ended = ToolEnded(
            id=call,
            name=self.calls.get(call, ("?", None))[0],
            is_error=failed,
            output=content_text(content),
            seconds=time - turn.begun.get(call, time) if seconds is None else seconds,
            how=how,
        )
        if call not in turn.ends:
            turn.ends[call] = time, ended
            turn.results.append(block)

    def failed(
        self, kind: str, message: str, time: float | None, status: int | None = None
    ) -> None:
        """A request without a reply."""
        self.over()
        self._request()
        failed = ModelFailed(turn=self.turns, status=status, error_type=kind, message=message)
        self.add(failed, time)

    def cancelled(self) -> None:
        """A person has stopped the run."""
        self.over()
        self.end("cancelled")

    def rewind(self, length: int) -> None:
        """The array is taken back to its first messages; what follows takes the others' place."""
        self.over()
        del self.messages[length:]

    def cleared(self, ids: set[str], before: int, after: int, time: float | None) -> None:
        """Old results have been taken out of the array."""
        self.over()
        found: list[ClearedResult] = []
        for index, message in enumerate(self.messages):
            blocks = message["content"] if isinstance(message["content"], list) else []
            if not any(block.get("tool_use_id") in ids for block in blocks):
                continue
            kept = []
            for block in blocks:
                id = block.get("tool_use_id")
                if id in ids:
                    chars = len(content_text(block.get("content")))
                    name = self.calls.get(id, ("", None))[0]
                    found.append(ClearedResult(index=index, id=id, name=name, chars=chars))
                    block = {**block, "content": CLEARED}
                kept.append(block)
            self.messages[index] = {**message, "content": kept}
        self.add(MessagesRewritten(messages=tuple(self.messages), why="results cleared"), time)
        self.add(CompactionCleared(before=before, after=after, results=tuple(found)))

    def asked_for_summary(self, by: Any, time: float | None) -> None:
        """The conversation is to be replaced by a summary."""
        self.over()
        self.end()
        self.add(CompactionAsked(by=by), time)

    def summarised(
        self, messages: list[dict[str, Any]], before: int, after: int, time: float | None
    ) -> None:
        """The conversation has been replaced by a summary."""
        self.over()
        before = before or (self._last.usage.sent if self._last else 0)
        self.messages = messages
        self.add(MessagesRewritten(messages=tuple(messages), why="summarised"), time)
        self.add(CompactionSummarised(before=before, after=after or estimate_tokens(messages)))
        self._asked = self._now

    # The end of a turn, of a run, and of the lane

    def over(self) -> None:
        """Write the open turn, if there is one."""
        if (turn := self._turn) is None:
            return
        self._turn, self._last = None, turn
        self._request()
        if self.hidden is None and turn.usage.known:
            held = estimate_tokens(self._system) + estimate_tokens(list(self._tools))
            self.hidden = max(0, turn.usage.sent - held - estimate_tokens(self.messages))
        calls = [block for block in turn.blocks if block.get("type") == "tool_use"]
        replied = ModelReplied(
            turn=self.turns,
            stop_reason=turn.stop or ("tool_use" if calls else None),
            usage=turn.usage,
            model=turn.model,
            seconds=max(0.0, turn.time - self._asked),
        )
        self.add(replied, turn.time)
        self._said = "\n".join(b["text"] for b in turn.blocks if isinstance(b.get("text"), str))
        self._append({"role": "assistant", "content": turn.blocks}, turn.time)
        happened: list[tuple[float, object]] = []
        for block in calls:
            id, name = str(block.get("id", "")), str(block.get("name", "?"))
            started = ToolStarted(id=id, name=name, input=block.get("input"))
            happened.append((turn.begun[id], started))
        happened += turn.ends.values()
        for time, event in sorted(happened, key=lambda one: one[0]):
            self.add(event, time)
        if turn.results or turn.notes:
            self._append({"role": "user", "content": [*turn.results, *turn.notes]})

    def end(self, reason: str = "") -> None:
        """Write the end of the run, if one goes on and the last reply has ended it."""
        last, done = self._last, reason
        if self._run is None:
            return
        if not done and last and not last.begun:
            done = last.stop or "end_turn"
        if done:
            turns = self.turns - self._run
            self.add(RunEnded(reason=done, text=self._said, turns=turns))
            self._run = None

    def close(self) -> None:
        """The file is over."""
        self.over()
        self.end()
        if self.parent is None:
            return
        name, asked = self.parent.calls.get(self.call, ("", None))
        given = asked if isinstance(asked, dict) else {}
        prompt, title, kind = (
            str(given.get(key) or "") for key in ("prompt", "description", "subagent_type")
        )
        last = self._last
        started = SubagentStarted(
            parent=self.parent.name,
            call=self.call,
            prompt=prompt,
            description=title or ("" if prompt else name),
            kind=kind,
        )
        self.events.insert(0, (self.events[0][0] if self.events else 0.0, started))
        ended = SubagentEnded(
            parent=self.parent.name,
            call=self.call,
            reason=(last.stop or "end_turn") if last and not last.begun else "",
            turns=self.turns,
            tokens=estimate_tokens(self.messages),
            returned=estimate_tokens(self._said),
        )
        self.add(ended)

    def _request(self) -> None:
        self.turns += 1
        self.add(ModelRequested(turn=self.turns, messages=len(self.messages)), self._asked)

    def _append(
        self, message: dict[str, Any], time: float | None = None, injected: bool = False
    ) -> None:
        index = len(self.messages)
        self.messages.append(message)
        self.add(MessageAdded(index=index, message=message, injected=injected), time)
        self._asked = self._now


def _blocks(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def merged(lanes: list[Lane], log: EventLog, began: float) -> None:
    """Write the events of all lanes into a log, by time; a subagent's come after its call.

    Args:
        lanes: the main one first.
        log: gets them.
        began: seconds since 1970 of the log's time 0.
    """
    children: dict[tuple[str, str], list[Lane]] = {}
    for lane in lanes[1:]:
        parent = lane.parent.name if lane.parent else ""
        children.setdefault((parent, lane.call), []).append(lane)
    every = list(_nested(lanes[0], children))
    while children:  # of those whose call is nowhere
        _, left = children.popitem()
        for lane in left:
            every += _nested(lane, children)
    every.sort(key=lambda one: one[0])  # stable: of the same time, in the order they are in
    every.reverse()
    while every:  # so that what is copied into the log can go
        time, name, event = every.pop()
        log.append(event, lane=name, time=max(0.0, time - began))


def _nested(
    lane: Lane, children: dict[tuple[str, str], list[Lane]]
) -> Iterator[tuple[float, str, object]]:
    open_lanes = [(lane.name, iter(lane.events))]
    while open_lanes:
        name, events = open_lanes[-1]
        for time, event in events:
            yield time, name, event
            if isinstance(event, ToolStarted):
                found = children.pop((name, event.id), [])
                open_lanes += [(child.name, iter(child.events)) for child in reversed(found)]
                if found:
                    break
        else:
            open_lanes.pop()
