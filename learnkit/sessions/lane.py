"""One agent's part of a session: what a reader finds in a file, as the events of a run.

Files tell a conversation in their own order: a reply arrives in pieces, results between them. A
lane keeps a turn open until it is over, then writes it as our loop would have: request, reply,
message, calls, results. So every view draws a session unchanged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from learnkit.core.token_count import estimate_tokens
from learnkit.events import compaction, loop, subagents
from learnkit.events.sessions import SessionLine
from learnkit.events.text import blocks_of, content_text
from learnkit.sessions.source import UNKNOWN, Reading, Told, table, text

Message = dict[str, Any]
#: Seconds since 1970, if the file says them.
Time = float | None


@dataclass(slots=True)
class _Turn:
    """A turn that may not be over: its reply, and what has come after it."""

    id: str
    time: float
    blocks: list[Message] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)
    ends: dict[str, tuple[float, loop.ToolEnded]] = field(default_factory=dict)
    answer: list[Message] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        """Why the model stopped, as far as the file tells."""
        return self.about.get("stop_reason") or ("tool_use" if self.begun else "")

    @property
    def said(self) -> str:
        """The text of the reply."""
        return content_text([block for block in self.blocks if block.get("type") == "text"])


class Lane:
    """The events of one agent, and its message array as it grows.

    Args:
        reading: what is found out of the whole session.
        part: of its name; empty for the main agent's.

    Attributes:
        parent: of a subagent: the lane that has called it.
        call: the id of that call; empty if the file doesn't say.
        title: what it is for, where the call doesn't say it.
        events: each with its time, in seconds since 1970; 0 where the file has none.
        messages: the array as it is now.
        calls: name and input of every call so far, by id.
        turn: the one that may not be over.
        turns: how many there have been.
        system: the prompt of the runs to come, if the file has it.
        tools: theirs, if the file has them.
    """

    def __init__(self, reading: Reading, part: str = "") -> None:
        self.reading = reading
        self.part, self.call, self.title, self.system = part, "", "", ""
        self.parent: Lane | None = None
        self.events: list[tuple[float, object]] = []
        self.messages: list[Message] = []
        self.calls: dict[str, tuple[str, Any]] = {}
        self.tools: tuple[Message, ...] = ()
        self.turn: _Turn | None = None
        self.turns = 0
        self._run: int | None = None  # turns before it
        self._now = 0.0
        self._last = _Turn("", 0)

    def child_of(self, parent: Lane, call: str, id: str) -> None:
        """Make it the lane of a subagent, named by its call as our own are, or else by an id."""
        self.parent, self.call, self.part = parent, call, (call or id)[:80]

    @property
    def name(self) -> str:
        """As our own lanes are named; files can have agents that call each other in a circle."""
        parts, lane = list[str](), self
        while lane.parent and len(parts) < 20:
            parts.append(lane.part)
            lane = lane.parent
        return ".".join(["lead", *reversed(parts)])

    def add(self, event: object, time: Time = None) -> None:
        """Add an event; time does not run backwards in a lane."""
        self._now = max(self._now, time or 0.0)
        self.events.append((self._now, event))

    def line(self, number: int, kind: str, entry: Message, known: Collection[str]) -> None:
        """Count a line, and keep what no reader knows: fields, or all of it if no field is."""
        reading, kind = self.reading, kind[:80] or "no type"
        reading.lines[kind] += 1
        odd = {f"field {kind}.{key}"[:80]: {key: entry[key]} for key in entry.keys() - known}
        for name, data in (odd if known else {f"line {kind}": entry}).items():
            reading.unknown[name] += 1
            if reading.unknown[name] <= UNKNOWN:
                self.add(SessionLine(line=number, kind=name, data=reading.kept(data)))

    def user(self, content: Any, time: Time = None, *, injected: bool = False) -> None:
        """A user message: of a person, which begins a run, or injected by the harness."""
        if injected and self.turn and self.turn.begun:  # in one message with the results
            self.turn.answer += blocks_of(content)
            return
        self.over()
        if not injected:
            self.end()
            self._run, self._last = self.turns, _Turn("", 0)
            self.reading.note(title="" if self.part else content_text(content))
            self.add(loop.RunStarted(prompt=content, system=self.system, tools=self.tools), time)
        self._append("user", content, time, injected)

    def reply(self, id: str, blocks: list[Message], time: Time = None, **about: Any) -> None:
        """A reply, or one more piece of the reply with this id.

        ``about`` has its usage, model and stop_reason, as ``ModelReplied`` has them.
        """
        self.reading.note(models=about.get("model"))
        if self.turn is None or self.turn.id != id:
            self.over()
            self.turn = _Turn(id, self._now)
        turn = self.turn
        turn.time = max(turn.time, time or 0.0)
        turn.blocks += blocks
        for block in blocks:
            if block.get("type") == "tool_use":
                call = str(block.get("id"))
                turn.begun[call] = turn.time
                self.calls[call] = str(block.get("name", "?")), block.get("input")
        # The usage grows while the reply streams: the last one counts.
        turn.about |= {name: value for name, value in about.items() if value}

    def result(self, call: str, content: Any, time: Time, failed: bool, refused: Any = "") -> None:
        """The result of a call; a second one is left out."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        block |= {"is_error": True} if failed else {}
        turn = self.turn
        if turn is None:  # the file begins in the middle, or the call is in another lane
            self._append("user", [block], time)
        elif call not in turn.ends:
            begun = turn.begun.setdefault(call, turn.time)
            time = max(begun, time or 0.0)
            ended = loop.ToolEnded(
                id=call,
                name=self.calls.get(call, ("?",))[0],
                is_error=failed,
                output=content_text(content),
                seconds=time - begun,
                how="ran" if not failed else "refused" if refused else "raised",
            )
            turn.ends[call] = time, ended
            turn.answer.append(block)

    def compacted(self, time: Time, messages: list[Message], before: int = 0) -> None:
        """The conversation has been replaced by a summary; 0 tokens: the file doesn't say."""
        self.end()
        before = before or self._last.about.get("usage", loop.UsageData()).sent
        self.messages = messages
        self.add(loop.MessagesRewritten(messages=tuple(messages), why="summarised"), time)
        after = estimate_tokens(messages)
        self.add(compaction.CompactionSummarised(before=before, after=after))

    def over(self) -> None:
        """Write the open turn, if there is one."""
        if (turn := self.turn) is None:
            return
        self.turn, self._last = None, turn
        if self._run is None:  # the harness went on by itself, after a notice
            self._run = self.turns
        self.asked()
        about = {"stop_reason": turn.reason or None, **turn.about}
        took = max(0.0, turn.time - self._now)
        self.add(loop.ModelReplied(turn=self.turns, seconds=took, **about), turn.time)
        if turn.blocks:
            self._append("assistant", turn.blocks)
        for id in turn.begun:
            name, given = self.calls.get(id, ("?", None))
            _, ended = turn.ends.get(id, (0.0, None))
            why = ended.output if ended and ended.how == "refused" else ""
            self.add(loop.ToolStarted(id=id, name=name, input=given, refused=why))
        for time, ended in turn.ends.values():
            self.add(ended, time)
        if turn.answer:
            self._append("user", turn.answer)

    def asked(self) -> None:
        """A request has been sent, after all that there is so far."""
        self.turns += 1
        self.add(loop.ModelRequested(turn=self.turns, messages=len(self.messages)))

    def end(self, reason: str = "") -> None:
        """Write the end of the run, if one goes on and the last reply has ended it."""
        self.over()
        last = self._last
        if last.blocks and not last.begun:
            reason = reason or last.reason or "end_turn"
        if reason and self._run is not None:
            turns = self.turns - self._run
            self.add(loop.RunEnded(reason=reason, text=last.said, turns=turns))
            self._run = None

    def _close(self) -> None:
        """The file is over: write the ends of the run and of the subagent."""
        self.end()
        if self.parent is None or not self.events:
            return
        given = table(self.parent.calls.get(self.call, ("", None))[1])
        names = {"prompt": "prompt", "description": "description", "kind": "subagent_type"}
        about: Message = {name: text(given.get(key)) for name, key in names.items()}
        about["description"] = about["description"] or self.title
        link: dict[str, Any] = {"parent": self.parent.name, "call": self.call}
        self.events.insert(0, (self.events[0][0], subagents.SubagentStarted(**link, **about)))
        link |= {"turns": self.turns, "reason": self._last.reason}
        tokens, returned = estimate_tokens(self.messages), estimate_tokens(self._last.said)
        self.add(subagents.SubagentEnded(**link, tokens=tokens, returned=returned))

    def _append(self, role: str, content: Any, time: Time = None, injected: bool = False) -> None:
        message = {"role": role, "content": content}
        index = len(self.messages)
        self.messages.append(message)
        self.add(loop.MessageAdded(index=index, message=message, injected=injected), time)


def merged(lanes: list[Lane]) -> list[Told]:
    """Close the lanes, the main one first; their events with the names of the lanes, by time."""
    for lane in lanes:
        lane._close()
    every = [(time, lane.name, event) for lane in lanes for time, event in lane.events]
    return sorted(every, key=lambda one: one[0])
