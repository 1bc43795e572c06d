"""The loop that lesson 1 builds, for the lessons that continue from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def agent_loop(
    client: Any,
    tools: Sequence[dict[str, Any]],
    messages: list[dict[str, Any]],
    run_call: Callable[[dict[str, Any]], str],
) -> str:
    """Ask the model, run its calls and return the results to it, until it calls no tool."""
    while True:
        reply = client.messages.create(
            model=client.model, max_tokens=16_000, tools=tools, messages=messages
        )
        content = [block.to_dict() for block in reply.content]
        messages.append({"role": "assistant", "content": content})
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            return str(reply.stop_reason)
        results = [result_of(call, run_call(call)) for call in calls]
        messages.append({"role": "user", "content": results})


def result_of(call: dict[str, Any], output: str) -> dict[str, Any]:
    """Return the ``tool_result`` block that answers a call."""
    text = output or "(no output)"
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text}
