"""ATIF, the interchange format of Harbor: a trajectory is an agent and its steps, as one object.

In trajectories that learnkit has written, ``extra`` of each step has the events that the step
tells of, so that nothing is lost; those are read in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from learnkit.events.text import content_text, one_line
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.openai import counted
from learnkit.sessions.saved_log import OPENED, event
from learnkit.sessions.source import Reading, Told, document, number, seconds, table, tables, text

HEAD = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
#: The key in ``extra`` for what learnkit has written.
OURS = "learnkit"
_FIELDS = {
    *("schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "extra"),
    *("final_metrics", "continued_trajectory_ref", "subagent_trajectories"),
}


def read(path: Path, reading: Reading) -> tuple[list[Told], int | None]:
    """Read a trajectory and those of its subagents that are embedded in it."""
    data = document(path)
    reading.note(id=data.get("session_id"))
    if written := list(_written(data, reading)):
        reading.started = 0.0
        ordered = (told for _, told in sorted(written, key=lambda one: one[0]))
        return [told for told in ordered if told[2][0] != OPENED], None
    lanes: list[Lane] = []
    waiting: list[tuple[dict[str, Any], Lane | None]] = [(data, None)]
    calls: dict[str, tuple[Lane, str]] = {}
    while waiting:
        one, above = waiting.pop(0)
        id, lane = text(one.get("trajectory_id")), Lane("lead")
        if above is not None:
            lane.child_of(*calls.get(id, (above, "")), id)
        lanes.append(lane)
        for ref, call in _trajectory(one, lane, reading):
            calls[ref] = lane, call
        waiting += [(child, lane) for child in tables(one.get("subagent_trajectories"))]
    return merged(lanes), lanes[0].hidden


def _written(data: dict[str, Any], reading: Reading) -> Iterator[tuple[int, Told]]:
    """The events that learnkit has written into a trajectory, each with its place in the log."""
    for one in (data, *tables(data.get("subagent_trajectories"))):
        for step in tables(one.get("steps")):
            for each in tables(table(step.get("extra")).get(OURS)):
                if told := event(each, text(one.get("trajectory_id")), reading):
                    yield number(each.get("seq")), told


def _trajectory(data: dict[str, Any], lane: Lane, reading: Reading) -> Iterator[tuple[str, str]]:
    """Read the steps into a lane; yield each reference to a subagent, with the id of the call."""
    agent = table(data.get("agent"))
    name, version = text(agent.get("name")), text(agent.get("version"))
    reading.note(versions=f"{text(data.get('schema_version'))}, {name} {version}")
    lane.tools = tuple(map(_tool, tables(agent.get("tool_definitions"))))
    reading.check(lane, 0, "trajectory", data, _FIELDS)
    for place, step in enumerate(tables(data.get("steps")), start=1):
        source, time = text(step.get("source")), seconds(step.get("timestamp"))
        said = reading.kept(_content(step.get("message")))
        match source:
            case "agent":
                model = text(step.get("model_name") or agent.get("model_name"))
                reading.note(models=model)
                usage = _usage(table(step.get("metrics")))
                blocks = reading.kept(_blocks(step))
                lane.reply(str(place), blocks, time, usage=usage, model=model)
            case "user":
                reading.note(title=one_line(content_text(said), 200))
                lane.user(said, time)
            case "system" if not lane.messages:
                lane.system = f"{lane.system}\n\n{content_text(said)}".strip()
            case "system":
                lane.user(said, time, injected=True)
        for one in tables(table(step.get("observation")).get("results")):
            waiting = lane.turn.waiting if lane.turn else []
            call = text(one.get("source_call_id")) or "".join(waiting[:1])
            content = reading.kept(_content(one.get("content")))
            if call:
                lane.result(call, content, time)
            elif content:
                lane.user(content, time, injected=True)
            for ref in tables(one.get("subagent_trajectory_ref")):
                yield text(ref.get("trajectory_id")), call
        known = step.keys() if source in ("agent", "user", "system") else ()
        reading.check(lane, place, source, step, known)


def _blocks(step: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of an agent's step."""
    thought, said = text(step.get("reasoning_content")), content_text(_content(step.get("message")))
    blocks: list[dict[str, Any]] = []
    blocks += [{"type": "thinking", "thinking": thought}] if thought else []
    blocks += [{"type": "text", "text": said}] if said else []
    for call in tables(step.get("tool_calls")):
        id, name = text(call.get("tool_call_id")), text(call.get("function_name"))
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": call.get("arguments")})
    return blocks


def _content(value: Any) -> Any:
    """The content of a message or a result: text, or parts; those that are files are named."""
    return value if isinstance(value, str) else tables(value) and content_text(tables(value))


def _tool(definition: dict[str, Any]) -> dict[str, Any]:
    """A tool as our API has it; ATIF has them as OpenAI's."""
    if not isinstance(function := definition.get("function"), dict):
        return definition
    rest = {key: value for key, value in function.items() if key != "parameters"}
    return {**rest, "input_schema": table(function.get("parameters"))}


def _usage(metrics: dict[str, Any]) -> Any:
    written = number(table(metrics.get("extra")).get("cache_creation_input_tokens"))
    keys = ("prompt_tokens", "cached_tokens", "completion_tokens")
    sent, cached, out = (number(metrics.get(key)) for key in keys)
    return counted(sent, cached, written, out) if sent or out else None
