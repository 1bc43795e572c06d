"""What the Messages API refuses about the tools of a request, one small function a rule.

A rule gets a :class:`Request` and returns the text of the refusal, or None. ``contract.py`` has
them in order, with where each one comes from.
"""

from __future__ import annotations

import re

from learnkit.clients.contract.request import Request

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def tools_missing(request: Request) -> str | None:
    if request.tools or not any(t.calls or t.results for t in request.messages.turns):
        return None
    return "Requests which include `tool_use` or `tool_result` blocks must define tools"


def tool_name(request: Request) -> str | None:
    for i, tool in request.own_tools:
        name = tool.get("name")
        if not isinstance(name, str):
            return f"tools.{i}.custom.name: Field required"
        if not _NAME.fullmatch(name):
            return f"tools.{i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    return None


def tool_names_unique(request: Request) -> str | None:
    names = [str(tool["name"]) for tool in request.tools if "name" in tool]
    return "tools: Tool names must be unique." if len(set(names)) < len(names) else None


def input_schema(request: Request) -> str | None:
    for i, tool in request.own_tools:
        where = f"tools.{i}.custom.input_schema"
        schema = tool.get("input_schema")
        if schema is None:
            return f"{where}: Field required"
        if not isinstance(schema, dict):
            return f"{where}: Input should be a valid dictionary"
        if "type" not in schema:
            return f"{where}.type: Field required"
        if schema["type"] != "object":
            return f"{where}.type: Input should be 'object'"
        if not schema.keys().isdisjoint(("oneOf", "allOf", "anyOf")):
            return f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    return None


def tool_choice(request: Request) -> str | None:
    choice = request.body.get("tool_choice")
    if choice is None:
        return None
    kind = choice.get("type")
    if kind not in ("auto", "any", "tool", "none"):
        return f"tool_choice: Input tag {kind!r} does not match any of the expected tags"
    if kind in ("any", "tool") and not request.tools:
        return f"tool_choice.{kind} may only be specified while providing tools"
    if kind == "tool" and "name" not in choice:
        return "tool_choice.tool.name: Field required"
    if kind == "tool" and choice["name"] not in [tool.get("name") for tool in request.tools]:
        return f"Tool '{choice['name']}' not found in provided tools"
    return None
