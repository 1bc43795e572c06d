"""Codex's rollouts: a line is ``{timestamp, type, payload}``, and its response items are what the
model sees. An event with counts of tokens ends a reply.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.events.text import content_text
from learnkit.sessions import openai
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, Told, entries, number, seconds, table, tables, text

_TYPES = {"session_meta", "response_item", "compacted", "turn_context", "event_msg", "world_state"}
_FIELDS = {"timestamp", "type", "payload", "ordinal"}
#: User messages that the harness writes.
_INJECTED = re.compile(r"\s*(<[a-zA-Z_]+[ >]|# AGENTS\.md instructions)")


def claims(entry: dict[str, Any]) -> bool:
    """Whether a line is one of Codex's."""
    return isinstance(entry.get("payload"), dict) and text(entry.get("type")) in _TYPES


def read(path: Path, reading: Reading) -> list[Told]:
    """Read a rollout."""
    rollout = _Rollout(reading)
    for line, entry in entries(path, reading):
        rollout.take(line, entry)
    return merged([rollout.lane])


class _Rollout:
    """The lines of a rollout, one after the other, into a lane."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.lane = reading, Lane(reading)
        self._reply, self._model, self._own = 0, "", 0

    def take(self, line: int, entry: dict[str, Any]) -> None:
        """Read one line."""
        reading, lane, kind = self.reading, self.lane, text(entry.get("type"))
        payload, time = table(entry.get("payload")), seconds(entry.get("timestamp"))
        item = text(payload.get("type"))
        if "ordinal" in entry and number(entry["ordinal"]) < self._own:
            reading.lines["of the parent"] += 1  # a subagent's begins with a copy of its rollout
            return
        match kind, item:
            case "session_meta", _:
                self._own = number(payload.get("subagent_history_start_ordinal"))
                prompt = table(payload.get("base_instructions")).get("text")
                lane.system = reading.kept(text(prompt or payload.get("instructions")))
                reading.note(id=payload.get("id"), versions=payload.get("cli_version"))
                reading.note(branch=table(payload.get("git")).get("branch"), cwd=payload.get("cwd"))
            case "turn_context", _:
                self._model = text(payload.get("model"))
            case "response_item", _:
                if not (item in ("message", "reasoning") or item.endswith(("_call", "_output"))):
                    kind = item
                else:
                    self._item(item, reading.kept(payload), time)
            case "compacted", _:
                history = [
                    {"role": text(one.get("role")), "content": content_text(one.get("content"))}
                    for one in tables(payload.get("replacement_history"))
                ]
                summary = {"role": "user", "content": text(payload.get("message"))}
                lane.compacted(time, reading.kept(history or [summary]))
            case "event_msg", "token_count":
                counts = openai.usage(table(payload.get("info")).get("last_token_usage"))
                if lane.turn:
                    lane.reply(lane.turn.id, [], usage=counts)
            case "event_msg", "turn_aborted":
                lane.end("cancelled")
        lane.line(line, kind, entry, _FIELDS if kind in _TYPES else ())

    def _item(self, kind: str, item: dict[str, Any], time: float | None) -> None:
        """Read a response item: a message, a result, or a part of a reply."""
        lane, role = self.lane, item.get("role")
        if kind == "message" and role != "assistant":
            said = content_text(item.get("content"))
            lane.user(said, time, injected=role != "user" or bool(_INJECTED.match(said)))
        elif kind.endswith("_output"):
            said = content_text(item.get("output"))
            lane.result(text(item.get("call_id")), said, time, openai.failed(said))
        else:
            turn = lane.turn
            answered = turn and turn.ends and turn.ends.keys() == turn.begun.keys()
            if answered or (turn and "usage" in turn.about):
                self._reply += 1
            lane.reply(str(self._reply), openai.blocks(item), time, model=self._model)
