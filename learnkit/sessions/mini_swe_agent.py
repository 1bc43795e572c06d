"""mini-swe-agent's trajectories: one JSON object with the messages, as the model's API has them.

A model without tools writes its command into its text, and the next message is the result.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from learnkit.events.text import content_text
from learnkit.sessions import openai
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, Told, document, seconds, table, tables, text

HEAD = re.compile(rb'"(mini_version|trajectory_format|instance_cost)"\s*:')
_COMMAND = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_ROLES = {"system", "user", "assistant", "response", "tool", "function_call_output", "exit"}


def read(path: Path, reading: Reading) -> list[Told]:
    """Read a trajectory."""
    data, lane = document(path), Lane(reading)
    info = table(data.get("info"))
    settings = table(info.get("config"))
    model = text(table(settings.get("model")).get("model_name"))
    where = table(settings.get("environment")).get("cwd")
    reading.note(versions=info.get("mini_version"), models=model, cwd=where)
    lane.line(0, "trajectory", data, ("info", "messages", "trajectory_format"))
    for place, one in enumerate(tables(data.get("messages")), start=1):
        extra, kind = table(one.get("extra")), one.get("role") or one.get("type") or "response"
        role, time = text(kind), seconds(extra.get("timestamp") or one.get("created_at"))
        said = reading.kept(content_text(one.get("content") or one.get("output")))
        failed = bool(extra.get("returncode")) or openai.failed(said)
        match role:
            case "system":
                lane.system = said
            case "assistant" | "response":
                counts = openai.usage(one.get("usage") or table(extra.get("response")).get("usage"))
                blocks = reading.kept(_blocks(place, one))
                lane.reply(str(place), blocks, time, usage=counts, model=model)
            case "tool" | "function_call_output":
                call = text(one.get("tool_call_id") or one.get("call_id"))
                lane.result(call, said, time, failed)
            case "user" if lane.turn and lane.turn.begun and "returncode" in (*extra, said[1:11]):
                lane.result(next(iter(lane.turn.begun)), said, time, failed)
            case "user":
                lane.user(said, time, injected=bool(lane.messages))
        lane.line(place, role, one, one.keys() if role in _ROLES else ())
    lane.end(text(info.get("exit_status")))
    return merged([lane])


def _blocks(place: int, one: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of a reply, which is a message, or a response with items."""
    found = [block for item in tables(one.get("output")) for block in openai.blocks(item)]
    found += openai.reply(one)
    written = _COMMAND.findall(content_text(one.get("content")))
    if len(written) == 1 and not any(block["type"] == "tool_use" for block in found):
        found.append(openai.call(f"command {place}", "bash", {"command": written[0]}))
    return found
