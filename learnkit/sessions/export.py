"""A log as a trajectory in ATIF, which other tools for agents read.

The trajectory's ``extra`` has the events as well: opened again, nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from learnkit.events import loop
from learnkit.events.log import Event
from learnkit.events.text import blocks_of, content_text
from learnkit.events.vocabulary import read
from learnkit.sessions.atif import OURS
from learnkit.sessions.source import LATEST, parsed
from learnkit.sessions.turns import Call, Session, Thread, Turn, session_of

VERSION = "ATIF-v1.7"
Step = dict[str, Any]


def to_atif(log: Iterable[Event]) -> dict[str, Any]:
    """Return a log as a trajectory in ATIF 1.7, ready for ``json.dump``.

    The first agent's is the trajectory; all others are embedded in it, and a call that has run a
    subagent refers to that one's.

    Args:
        log: of a run, or of a session.
    """
    session = session_of(log)
    threads = session.threads.values() or (Thread("lead"),)
    main, *others = (_trajectory(session, one) for one in threads)
    main["session_id"] = session.about.id or OURS
    main["extra"] = {OURS: [event._asdict() for event in session.events]}
    main |= {"subagent_trajectories": others} if others else {}
    # Half a surrogate pair is no text elsewhere.
    return parsed(json.dumps(main, ensure_ascii=False).encode("utf-8", "replace"))


def _trajectory(session: Session, thread: Thread) -> dict[str, Any]:
    """What one agent did."""
    steps: list[Step] = []

    def step(source: str, time: float, message: str, **fields: Any) -> None:
        when = datetime.fromtimestamp(min(session.about.started + time, LATEST), UTC).isoformat()
        about = {"step_id": len(steps) + 1, "timestamp": when, "source": source}
        steps.append({**about, "message": message, **fields})

    agent = {"name": OURS, "version": metadata.version("learnkit")}
    typed = (read(event) for event in session.events if event.lane == thread.lane)
    run = next((one for one in typed if isinstance(one, loop.RunStarted)), loop.RunStarted())
    if run.system:
        step("system", session.begin, run.system)
    tools = {"tool_definitions": [_function(tool) for tool in run.tools]} if run.tools else {}
    calls: dict[int, list[Call]] = {}
    for call in thread.calls.values():
        calls.setdefault(call.turn, []).append(call)
    turns = [*thread.turns, Turn(0, session.end, shown=thread.coming)]  # not asked yet
    shown = [(turn, message) for turn in turns for message, _ in turn.shown]
    for turn, message in shown:
        blocks = blocks_of(message.get("content"))
        if message.get("role") == "assistant":
            reply = _reply(blocks, turn, calls.pop(turn.number, []), session)
            step("agent", turn.replied or turn.asked, **reply)
        elif rest := [one for one in blocks if one.get("type") != "tool_result"]:
            step("user", turn.asked, content_text(rest))
    if not steps:
        step("system", session.begin, "Nothing was said.")
    used = [one["metrics"] for one in steps if "metrics" in one]
    keys = ("prompt_tokens", "completion_tokens", "cached_tokens")
    totals = {f"total_{key}": sum(one[key] for one in used) for key in keys}
    return {
        **{"schema_version": VERSION, "trajectory_id": thread.lane, "steps": steps},
        "agent": agent | tools,
        "final_metrics": {**totals, "total_steps": len(steps)},
    }


def _reply(blocks: list[Step], turn: Turn, calls: list[Call], session: Session) -> Step:
    """The fields of a step for a reply, with its calls and their results."""
    thoughts = "\n".join(str(one["thinking"]) for one in blocks if one.get("thinking"))
    texts = [one for one in blocks if one.get("type") not in ("thinking", "tool_use")]
    made, results = list[Step](), list[Step]()
    for call in calls:
        given = call.input if isinstance(call.input, dict) else {"input": call.input}
        made.append({"tool_call_id": call.id, "function_name": call.name, "arguments": given})
        ref = [{"trajectory_id": call.child}] if call.child in session.threads else None
        about = {"subagent_trajectory_ref": ref} if ref else {}
        if call.end is not None:
            results.append({"source_call_id": call.id, "content": call.output, **about})
    usage, written = turn.usage, turn.usage.cache_creation_input_tokens
    metrics = {
        **{"prompt_tokens": usage.sent, "completion_tokens": usage.output_tokens},
        "cached_tokens": usage.cache_read_input_tokens,
        "extra": {"cache_creation_input_tokens": written},
    }
    fields = {
        **{"reasoning_content": thoughts, "model_name": turn.model, "tool_calls": made},
        "metrics": metrics if usage.known else None,
        "observation": {"results": results} if results else None,
    }
    return {"message": content_text(texts)} | {key: one for key, one in fields.items() if one}


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as ATIF has it: in the form of OpenAI's API."""
    rest = {key: value for key, value in tool.items() if key != "input_schema"}
    return {"type": "function", "function": {**rest, "parameters": tool.get("input_schema", {})}}
