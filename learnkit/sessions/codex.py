"""Codex's rollouts: a line is ``{timestamp, type, payload}``, and its response items are what the
model sees. An event with counts of tokens ends a reply.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.events.text import content_text, one_line
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.openai import blocks, usage
from learnkit.sessions.source import (
    Reading,
    Told,
    entries,
    number,
    seconds,
    table,
    tables,
    text,
)

_TYPES = {"session_meta", "response_item", "compacted", "turn_context", "event_msg", "world_state"}
_FIELDS = {"timestamp", "type", "payload", "ordinal"}
#: User messages that the harness writes.
_INJECTED = re.compile(r"\s*(<[a-zA-Z_]+[ >]|# AGENTS\.md instructions)")
_FAILED = re.compile(r'(Exit code: |exited with code |"exit_code":\s*)[1-9-]')


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of Codex's."""
    return isinstance(entry.get("payload"), dict) and entry.get("type") in _TYPES


def read(path: Path, reading: Reading) -> tuple[list[Told], int | None]:
    """Read a rollout."""
    rollout = _Rollout(reading)
    for line, entry in entries(path, reading):
        rollout.take(line, entry)
    return merged([rollout.lane]), rollout.lane.hidden


class _Rollout:
    """The lines of a rollout, one after the other, into a lane."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.lane = reading, Lane("lead")
        self._reply, self._model = 0, ""
        self._open = False  # whether no counts have ended the reply
        self._prompts: list[int] = []

    def take(self, line: int, entry: dict[str, Any]) -> None:
        """Read one line."""
        reading, lane, kind = self.reading, self.lane, text(entry.get("type"))
        payload, time = table(entry.get("payload")), seconds(entry.get("timestamp"))
        known = kind in _TYPES
        match kind, payload.get("type"):
            case "session_meta", _:
                prompt = table(payload.get("base_instructions")).get("text")
                lane.system = reading.kept(text(prompt or payload.get("instructions")))
                reading.note(id=payload.get("id"), versions=payload.get("cli_version"))
                reading.note(branch=table(payload.get("git")).get("branch"), cwd=payload.get("cwd"))
            case "turn_context", _:
                self._model = text(payload.get("model"))
                reading.note(models=self._model)
            case "response_item", str(item):
                known = self._item(item, reading.kept(payload), time)
                kind = kind if known else item
            case "compacted", _:
                history = [_message(one) for one in tables(payload.get("replacement_history"))]
                summary = {"role": "user", "content": text(payload.get("message"))}
                lane.summarised(reading.kept(history or [summary]), time)
            case "event_msg", "token_count":
                counts = usage(table(payload.get("info")).get("last_token_usage"))
                if counts and self._open and lane.turn:
                    lane.reply(str(self._reply), [], usage=counts)
                    self._open = False
            case "event_msg", "turn_aborted":
                lane.end("cancelled")
            case "event_msg", "thread_rolled_back":
                if 0 < (turns := number(payload.get("num_turns"))) <= len(self._prompts):
                    lane.rewind(self._prompts[-turns])
                    del self._prompts[-turns:]
        reading.check(lane, line, kind, entry, _FIELDS if known else ())

    def _item(self, kind: str, item: dict[str, Any], time: float | None) -> bool:
        """Read a response item; returns whether its type is known."""
        lane, role = self.lane, item.get("role")
        if kind == "message" and role != "assistant":
            said = content_text(item.get("content"))
            injected = role != "user" or bool(_INJECTED.match(said))
            if not injected:
                lane.over()
                self._prompts.append(len(lane.messages))
                self.reading.note(title=one_line(said, 200))
            lane.user(said, time, injected=injected)
        elif kind.endswith("_output"):
            said = content_text(item.get("output"))
            call, failed = text(item.get("call_id")), bool(_FAILED.search(said[:400]))
            lane.result(call, said, time, failed=failed)
        elif kind in ("message", "reasoning") or kind.endswith("_call"):
            turn = lane.turn
            answered = turn is not None and bool(turn.ends) and not turn.waiting
            if not self._open or answered:
                self._reply, self._open = self._reply + 1, True
            lane.reply(str(self._reply), blocks(item), time, model=self._model)
        else:
            return False
        return True


def _message(item: dict[str, Any]) -> dict[str, Any]:
    """An item of the history that compaction has made, as a message."""
    if item.get("type") != "message":
        return {"role": "user", "content": [item]}
    role = "assistant" if item.get("role") == "assistant" else "user"
    return {"role": role, "content": content_text(item.get("content"))}
