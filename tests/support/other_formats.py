"""Lines of a Codex rollout, a trajectory in ATIF and one of mini-swe-agent."""

from __future__ import annotations

from typing import Any

META = {
    **{"id": "019e", "cwd": "/w", "cli_version": "0.128.0", "git": {"branch": "main"}},
    "base_instructions": {"text": "You are Codex."},
}


def item(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A response item."""
    return "response_item", {"type": kind, **fields}


def said(role: str, text: str) -> tuple[str, dict[str, Any]]:
    """A message."""
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def counts(sent: int, cached: int) -> tuple[str, dict[str, Any]]:
    """The counts that end a reply."""
    last = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": 9}
    return "event_msg", {"type": "token_count", "info": {"last_token_usage": last}}


ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.7",
    "session_id": "run-1",
    "agent": {
        **{"name": "other", "version": "3", "model_name": "m-1"},
        "tool_definitions": [{"type": "function", "function": {"name": "read"}}],
    },
    "steps": [
        {"source": "system", "message": "Be brief."},
        {"source": "user", "message": [{"type": "text", "text": "Fix it"}]},
        {
            **{"source": "agent", "message": "Looking.", "reasoning_content": "hm"},
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "task", "arguments": {"prompt": "Look"}},
            ],
            "observation": {
                "results": [
                    {
                        **{"source_call_id": "c1", "content": "found"},
                        "subagent_trajectory_ref": [{"trajectory_id": "child-1"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 900, "cached_tokens": 600, "completion_tokens": 30},
        },
        {"source": "agent", "message": "Done."},
    ],
    "subagent_trajectories": [
        {
            "trajectory_id": "child-1",
            "steps": [
                {"source": "user", "message": "Look"},
                {"source": "agent", "message": "found"},
            ],
        }
    ],
    "new_field": 1,
}

MINI: dict[str, Any] = {
    "info": {
        **{"mini_version": "2.4.6", "exit_status": "Submitted"},
        "config": {"model": {"model_name": "m-1"}, "environment": {"cwd": "/w"}},
    },
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Fix it"},
        {
            **{"role": "assistant", "content": "First"},
            "extra": {"response": {"usage": {"prompt_tokens": 70, "completion_tokens": 5}}},
            "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"a": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py", "extra": {"returncode": 0}},
        {
            **{"object": "response", "usage": {"input_tokens": 90, "output_tokens": 6}},
            "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "And"}]},
                {"type": "function_call", "call_id": "c2", "name": "bash", "arguments": "{}"},
            ],
        },
        {
            **{"type": "function_call_output", "call_id": "c2", "output": "no"},
            "extra": {"returncode": 1},
        },
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
    ],
    "trajectory_format": "mini-swe-agent-1.1",
}
