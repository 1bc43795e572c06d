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
    lane, model, own = Lane(reading), "", 0
    for line, entry in entries(path, reading):
        payload, time = table(entry.get("payload")), seconds(entry.get("timestamp"))
        kind, item = text(entry.get("type")), text(payload.get("type"))
        if "ordinal" in entry and number(entry["ordinal"]) < own:
            reading.lines["of the parent"] += 1  # a subagent's begins with a copy of its rollout
            continue
        match kind, item:
            case "session_meta", _:
                own = number(payload.get("subagent_history_start_ordinal"))
                prompt = table(payload.get("base_instructions")).get("text")
                lane.system = reading.kept(text(prompt or payload.get("instructions")))
                reading.note(id=payload.get("id"), versions=payload.get("cli_version"))
                reading.note(branch=table(payload.get("git")).get("branch"), cwd=payload.get("cwd"))
            case "turn_context", _:
                model = text(payload.get("model"))
            case "response_item", _:
                if item in ("message", "reasoning") or item.endswith(("_call", "_output")):
                    _item(lane, line, reading.kept(payload), time, model)
                else:
                    kind = item
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
    return merged([lane])


def _item(lane: Lane, line: int, item: dict[str, Any], time: float | None, model: str) -> None:
    """Read a response item: a message, a result, or a part of a reply."""
    kind, role, turn = text(item.get("type")), item.get("role"), lane.turn
    if kind == "message" and role != "assistant":
        said = content_text(item.get("content"))
        lane.user(said, time, injected=role != "user" or bool(_INJECTED.match(said)))
    elif kind.endswith("_output"):
        said = content_text(item.get("output"))
        lane.result(text(item.get("call_id")), said, time, openai.failed(said))
    else:
        answered = turn and turn.ends and turn.ends.keys() == turn.begun.keys()
        goes_on = turn and not answered and "usage" not in turn.about
        id = turn.id if turn and goes_on else f"line {line}"
        lane.reply(id, openai.blocks(item), time, model=model)
