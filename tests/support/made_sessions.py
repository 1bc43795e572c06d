"""Sessions made of events, a turn a line, for the tests of findings and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from learnkit.core.catalog import MODELS
from learnkit.events.log import EventLog
from learnkit.events.loop import (
    MessageAdded,
    ModelReplied,
    ModelRequested,
    RunEnded,
    RunStarted,
    ToolEnded,
    ToolStarted,
    UsageData,
)

#: Models with windows of 200,000 tokens and of a million.
SMALL = next(one.id for one in MODELS.values() if one.window == 200_000)
LARGE = next(one.id for one in MODELS.values() if one.window == 1_000_000)


def text(tokens: int, word: str = "abc") -> str:
    """A text of about so many tokens."""
    return (f"{word} " * (4 * tokens // (len(word) + 1) + 1))[: 4 * tokens]


@dataclass
class Use:
    """A call: its tool, its arguments, its output, and how it ended."""

    name: str
    given: dict[str, Any]
    output: str = "ok"
    failed: bool = False
    seconds: float = 1.0


def read(path: str, output: str = "x = 1", **given: Any) -> Use:
    return Use("Read", {"file_path": path, **given}, output)


def edit(path: str, *, failed: bool = False) -> Use:
    return Use("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "ok", failed)


def bash(command: str, output: str = "ok", *, failed: bool = False, seconds: float = 1.0) -> Use:
    return Use("Bash", {"command": command}, output, failed, seconds)


@dataclass
class Made:
    """A log that grows by turns; the cache holds each request until the next one.

    Args:
        counted: the server says how long each request is.
    """

    counted: bool = False
    log: EventLog = field(default_factory=EventLog)
    now: float = 0.0
    messages: dict[str, int] = field(default_factory=dict)
    turns: int = 0

    def add(self, event: object, lane: str = "lead") -> None:
        self.log.append(event, lane=lane, time=self.now)

    def message(self, role: str, content: Any, lane: str = "lead") -> None:
        index = self.messages.get(lane, 0)
        self.messages[lane] = index + 1
        self.add(MessageAdded(index=index, message={"role": role, "content": content}), lane)

    def prompt(self, said: str = "Do it.", lane: str = "lead") -> Made:
        self.add(RunStarted(prompt=said), lane)
        self.message("user", said, lane)
        return self

    def turn(
        self,
        *uses: Use,
        says: str = "",
        thinks: str = "",
        lane: str = "lead",
        usage: tuple[int, ...] | None = None,
        model: str = SMALL,
        hour: bool = False,
    ) -> Made:
        """A request and its reply; ``usage`` is what the cache gave, what was written, the rest.

        For an ``hour``, or for five minutes.
        """
        self.turns += 1
        self.add(ModelRequested(turn=self.turns, messages=self.messages.get(lane, 0)), lane)
        self.now += 1
        cached, new, plain = (*(usage or (0, 0)), 0)[:3]
        kinds = {"ephemeral_1h_input_tokens": new if hour else 0}
        whole = {
            **{"input_tokens": plain, "output_tokens": 1, "cache_creation": kinds},
            **{"cache_read_input_tokens": cached, "cache_creation_input_tokens": new},
        }
        counts = UsageData(whole=whole) if usage else UsageData()
        stop = "tool_use" if uses else "end_turn"
        self.add(ModelReplied(turn=self.turns, stop_reason=stop, usage=counts, model=model), lane)
        ids = [f"{lane}-{self.turns}-{number}" for number in range(len(uses))]
        blocks: list[dict[str, Any]] = [{"type": "text", "text": says}] if says else []
        blocks += [{"type": "thinking", "thinking": thinks}] if thinks else []
        pairs = list(zip(ids, uses, strict=True))
        blocks += [
            {"type": "tool_use", "id": id, "name": use.name, "input": use.given}
            for id, use in pairs
        ]
        self.message("assistant", blocks, lane)
        for id, use in pairs:
            self.add(ToolStarted(id=id, name=use.name, input=use.given), lane)
            self.now += use.seconds
            ended = ToolEnded(id=id, name=use.name, is_error=use.failed, output=use.output)
            self.add(ended, lane)
        if uses:
            self.message("user", [_result(id, use) for id, use in pairs], lane)
        return self

    def each(self, uses: Sequence[Use]) -> Made:
        """A turn for each call."""
        for use in uses:
            self.turn(use)
        return self

    def end(self, says: str = "I stopped.", stop: str = "end_turn") -> EventLog:
        """The last reply, and the end of the run."""
        self.turn(says=says)
        self.add(RunEnded(reason=stop, turns=self.turns))
        return self.log


def _result(id: str, use: Use) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": use.output}
    return {**block, "is_error": True} if use.failed else block
