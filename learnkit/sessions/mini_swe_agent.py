"""mini-swe-agent's trajectories: one JSON object with the messages, as the model's API has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.events.text import content_text, one_line
from learnkit.sessions import openai
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, Told, document, seconds, table, tables, text

HEAD = re.compile(rb'"(mini_version|trajectory_format|instance_cost)"\s*:')
_ROLES = {"system", "user", "assistant", "response", "tool", "function_call_output", "exit"}


def read(path: Path, reading: Reading) -> tuple[list[Told], int | None]:
    """Read a trajectory."""
    data, lane = document(path), Lane("lead")
    info = table(data.get("info"))
    settings = table(info.get("config"))
    model = text(table(settings.get("model")).get("model_name"))
    reading.note(versions=info.get("mini_version"), models=model)
    reading.note(cwd=table(settings.get("environment")).get("cwd"))
    reading.check(lane, 0, "trajectory", data, ("info", "messages", "trajectory_format"))
    for place, one in enumerate(tables(data.get("messages")), start=1):
        _take(lane, one, place, reading, model)
    lane.end(text(info.get("exit_status")))
    return merged([lane]), lane.hidden


def _take(lane: Lane, one: dict[str, Any], place: int, reading: Reading, model: str) -> None:
    """Read one message."""
    extra, role = table(one.get("extra")), text(one.get("role") or one.get("type") or "response")
    time = seconds(extra.get("timestamp") or one.get("created_at"))
    said = reading.kept(content_text(one.get("content")))
    failed = bool(extra.get("returncode"))
    waiting = lane.turn.waiting if lane.turn else []
    match role:
        case "system":
            lane.system = said
        case "assistant" | "response":
            counts = one.get("usage") or table(extra.get("response")).get("usage")
            blocks = reading.kept(_blocks(one, extra, said, place))
            lane.reply(str(place), blocks, time, usage=openai.usage(counts), model=model)
        case "tool" | "function_call_output":
            call = text(one.get("tool_call_id") or one.get("call_id"))
            shown = said or reading.kept(content_text(one.get("output")))
            lane.result(call, shown, time, failed=failed)
        case "user" if waiting:  # for a command that was in the text
            lane.result(waiting[0], said, time, failed=failed)
        case "user":
            reading.note(title=one_line(said, 200))
            lane.user(said, time, injected=bool(lane.messages))
    reading.check(lane, place, role, one, one.keys() if role in _ROLES else ())


def _blocks(
    one: dict[str, Any], extra: dict[str, Any], said: str, place: int
) -> list[dict[str, Any]]:
    """The content blocks of a reply; a command that is in the text is a call, too."""
    if items := tables(one.get("output")):
        return [block for item in items for block in openai.blocks(item)]
    thought = text(one.get("reasoning_content"))
    found = [{"type": "thinking", "thinking": thought}] if thought else []
    found += [{"type": "text", "text": said}] if said else []
    calls = tables(one.get("tool_calls"))
    for call in calls:
        function = table(call.get("function"))
        found.append(openai.call(call.get("id"), function.get("name"), function.get("arguments")))
    for number, action in enumerate([] if calls else tables(extra.get("actions")), start=1):
        found.append(openai.call(f"{place}.{number}", "bash", action))
    return found
