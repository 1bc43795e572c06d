"""ATIF, the interchange format of Harbor: a trajectory is an agent and its steps, as one object.

A trajectory that learnkit has written also has the events of its log, in ``extra``, so that nothing
is lost; they are read in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from learnkit.events.text import content_text
from learnkit.sessions import openai, saved_log
from learnkit.sessions.lane import Lane, merged
from learnkit.sessions.source import Reading, Told, document, seconds, table, tables, text

HEAD = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
#: The key in ``extra`` for what learnkit has written.
OURS = "learnkit"
_FIELDS = {
    *("schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "extra"),
    *("final_metrics", "continued_trajectory_ref", "subagent_trajectories"),
}
_SOURCES = {"agent", "user", "system"}


def read(path: Path, reading: Reading) -> list[Told]:
    """Read a trajectory and those of its subagents that are embedded in it."""
    data, told = document(path), list[Told]()
    reading.note(id=data.get("session_id"))
    for event in tables(table(data.get("extra")).get(OURS)):
        saved_log.take(event, told, reading)
    if told:
        return told
    lanes: list[Lane] = []
    waiting: list[tuple[dict[str, Any], Lane | None]] = [(data, None)]
    calls: dict[str, tuple[Lane, str]] = {}
    for one, above in waiting:  # it grows
        id, lane = text(one.get("trajectory_id")), Lane(reading)
        if above is not None:
            lane.child_of(*calls.get(id, (above, "")), id)
        lanes.append(lane)
        for ref, call in _trajectory(one, lane, reading):
            calls[ref] = lane, call
        waiting += [(child, lane) for child in tables(one.get("subagent_trajectories"))]
    return merged(lanes)


def _trajectory(data: dict[str, Any], lane: Lane, reading: Reading) -> Iterator[tuple[str, str]]:
    """Read the steps into a lane; yield each reference to a subagent, with the id of the call."""
    agent = table(data.get("agent"))
    name, version = text(agent.get("name")), text(agent.get("version"))
    reading.note(versions=f"{text(data.get('schema_version'))}, {name} {version}")
    tools = tables(reading.kept(agent.get("tool_definitions")))
    lane.tools = tuple(table(tool.get("function")) or tool for tool in tools)
    lane.line(0, "trajectory", data, _FIELDS)
    for place, step in enumerate(tables(data.get("steps")), start=1):
        source, time = text(step.get("source")), seconds(step.get("timestamp"))
        said = reading.kept(content_text(step.get("message")))
        match source:
            case "agent":
                model = text(step.get("model_name") or agent.get("model_name"))
                usage, blocks = openai.usage(step.get("metrics")), reading.kept(openai.reply(step))
                lane.reply(str(place), blocks, time, usage=usage, model=model)
            case "user":
                lane.user(said, time)
            case "system" if not lane.messages:
                lane.system = f"{lane.system}\n\n{said}".strip()
            case "system":
                lane.user(said, time, injected=True)
        made = [text(call.get("tool_call_id")) for call in tables(step.get("tool_calls"))]
        for one in tables(table(step.get("observation")).get("results")):
            # Without an id, results are those of the calls in their order.
            call = text(one.get("source_call_id")) or next(iter(made), "")
            made = [id for id in made if id != call]
            content = reading.kept(content_text(one.get("content")))
            if call:
                lane.result(call, content, time, openai.failed(content))
            elif content:
                lane.user(content, time, injected=True)
            for ref in tables(one.get("subagent_trajectory_ref")):
                yield text(ref.get("trajectory_id")), call
        lane.line(place, source, step, step.keys() if source in _SOURCES else ())
