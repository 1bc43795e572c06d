"""A log as a trajectory in ATIF, which other tools for agents read.

The trajectory's ``extra`` has the events as well: opened again, nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from learnkit.events import compaction, loop
from learnkit.events.log import Event
from learnkit.events.sessions import SessionOpened
from learnkit.events.subagents import SubagentStarted
from learnkit.events.text import blocks_of, content_text
from learnkit.events.vocabulary import read
from learnkit.sessions.atif import OURS
from learnkit.sessions.source import LATEST, parsed
from learnkit.views.words import describe

VERSION = "ATIF-v1.7"
#: Events that are a step of the system, with their sentence; fields of steps tell of the others.
_NEWS = (loop.ModelFailed, compaction.CompactionCleared, compaction.CompactionSummarised)


def to_atif(log: Iterable[Event]) -> dict[str, Any]:
    """Return a log as a trajectory in ATIF 1.7, ready for ``json.dump``.

    The first agent's is the trajectory; all others are embedded in it, and a call that has run a
    subagent refers to that one's.

    Args:
        log: of a run, or of a session.
    """
    events, lanes = list(log), dict[str, _Steps]()
    id, began = OURS, 0.0
    for event in events:
        typed = read(event)
        if isinstance(typed, SessionOpened):
            id, began = typed.id or id, typed.started
        lane = lanes.setdefault(event.lane, _Steps(event.lane, began))
        lane.take(event, typed)
        if isinstance(typed, SubagentStarted) and typed.parent in lanes:
            lanes[typed.parent].children[typed.call] = event.lane
    main, *others = (lane.trajectory() for lane in lanes.values() or (_Steps("lead", began),))
    main |= {"session_id": id, "extra": {OURS: [event._asdict() for event in events]}}
    main |= {"subagent_trajectories": others} if others else {}
    # Half a surrogate pair is no text elsewhere.
    return parsed(json.dumps(main, ensure_ascii=False).encode("utf-8", "replace"))


class _Steps:
    """The steps of one agent, as its events come."""

    def __init__(self, lane: str, began: float) -> None:
        self.lane, self._began = lane, began
        self.children: dict[str, str] = {}  # by call
        self._agent: dict[str, Any] = {"name": OURS, "version": metadata.version("learnkit")}
        self._steps: list[dict[str, Any]] = []
        self._turn: dict[str, Any] = {}  # the step of the last reply

    def take(self, event: Event, typed: object) -> None:
        """Add what an event tells."""
        match typed:
            case loop.RunStarted():
                self._agent |= {"model_name": typed.model} if typed.model else {}
                if typed.tools:
                    self._agent["tool_definitions"] = list(map(_function, typed.tools))
                if typed.system and not self._steps:
                    self._step("system", event, typed.system)
            case loop.MessageAdded(message=message) if message.get("role") == "assistant":
                if not self._turn or self._turn["message"]:  # the log has no reply for it
                    self._turn = self._step("agent", event)
                self._turn |= _said(blocks_of(message.get("content")))
            case loop.MessageAdded(message=message):
                blocks = blocks_of(message.get("content"))
                kinds = ("tool_result",) if self._turn else ()
                if rest := [one for one in blocks if one.get("type") not in kinds]:
                    self._step("user", event, content_text(rest))
            case loop.ModelReplied(usage=usage, purpose="conversation"):
                self._turn = self._step("agent", event)
                self._turn |= {"model_name": typed.model} if typed.model else {}
                self._turn |= {"metrics": _metrics(usage)} if usage.known else {}
            case loop.ToolEnded():
                calls = self._turn.get("tool_calls", ())
                if typed.id in [call["tool_call_id"] for call in calls]:
                    result = {"source_call_id": typed.id, "content": typed.output}
                    observed = self._turn.setdefault("observation", {"results": []})
                    observed["results"].append(result)
            case _ if isinstance(typed, _NEWS):
                self._step("system", event, describe(event))

    def trajectory(self) -> dict[str, Any]:
        """The trajectory, once all events were taken."""
        if not self._steps:
            self._step("system", Event(0, 0.0, "", "", {}), "Nothing was said.")
        for number, step in enumerate(self._steps, start=1):
            step["step_id"] = number
            for result in step.get("observation", {}).get("results", ()):
                if lane := self.children.get(result["source_call_id"]):
                    result["subagent_trajectory_ref"] = [{"trajectory_id": lane}]
        used = [step["metrics"] for step in self._steps if "metrics" in step]
        keys = ("prompt_tokens", "completion_tokens", "cached_tokens")
        totals = {f"total_{key}": sum(one[key] for one in used) for key in keys}
        return {
            "schema_version": VERSION,
            "trajectory_id": self.lane,
            "agent": self._agent,
            "steps": self._steps,
            "final_metrics": {**totals, "total_steps": len(self._steps)},
        }

    def _step(self, source: str, event: Event, message: str = "") -> dict[str, Any]:
        """One more step; an agent's gets its message later."""
        time = datetime.fromtimestamp(min(self._began + event.time, LATEST), UTC)
        step = {"timestamp": time.isoformat(), "source": source, "message": message}
        self._steps.append(step)
        return step


def _said(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of a step for the content of a reply."""
    texts = [one for one in blocks if one.get("type") not in ("thinking", "tool_use")]
    thoughts = [str(one["thinking"]) for one in blocks if one.get("thinking")]
    calls = [
        {
            "tool_call_id": str(one.get("id")),
            "function_name": str(one.get("name")),
            "arguments": given if isinstance(given := one.get("input"), dict) else {"input": given},
        }
        for one in blocks
        if one.get("type") == "tool_use"
    ]
    fields = {"reasoning_content": "\n".join(thoughts), "tool_calls": calls}
    return {"message": content_text(texts)} | {key: one for key, one in fields.items() if one}


def _metrics(usage: loop.UsageData) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.sent,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cache_read_input_tokens,
        "extra": {"cache_creation_input_tokens": usage.cache_creation_input_tokens},
    }


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as ATIF has it: in the form of OpenAI's API."""
    rest = {key: value for key, value in tool.items() if key != "input_schema"}
    return {"type": "function", "function": {**rest, "parameters": tool.get("input_schema", {})}}
