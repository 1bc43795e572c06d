"""You as the model, at the terminal: read each request, and type the reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from learnkit.clients.scripted import Reply, Request, ScriptEnded, reply, use
from learnkit.errors import UsageError
from learnkit.events.text import blocks_of, clean, content_text, count

HELP = (
    "Answer with a text, or call a tool: its name, then its argument (bash ls) or its arguments as "
    "JSON. Several lines are one reply; an empty line sends it."
)


@dataclass(slots=True)
class Person:
    """The person at the terminal as the model: reads each request, and types a reply."""

    lines: TextIO
    show: Callable[[str], object]
    _before: dict[str, Request] = field(default_factory=dict)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request, lane: str) -> Reply:
        """Show what is new in a request, and wait for the reply."""
        with self._turn:  # several agents may ask at once
            for line in new_lines(request, self._before.get(lane), lane):
                self.show(clean(line))
            self._before[lane] = request
            self.show(HELP)
            return self._typed(request)

    def _typed(self, request: Request) -> Reply:
        tools = {tool["name"]: tool for tool in request.get("tools", [])}
        parts: list[Reply | str] = []
        while True:
            line = self.lines.readline()
            if not line and not parts:
                raise ScriptEnded("nobody is there any more to be the model")
            if not line.strip():
                if parts:
                    return reply(*parts)
                continue
            try:
                parts.append(part_of(line.rstrip("\n"), tools))
            except UsageError as error:
                self.show(str(error))


def part_of(line: str, tools: Mapping[str, Mapping[str, Any]]) -> Reply | str:
    """A typed line as a part of a reply: a call if it begins with a tool's name, else a text."""
    name, _, rest = line.partition(" ")
    if name not in tools:
        return line
    schema = tools[name].get("input_schema", {})
    required = schema.get("required") or list(schema.get("properties", {}))
    if not rest.strip() and not schema.get("required"):
        return use(name)
    if rest.lstrip().startswith("{"):
        try:
            return use(name, **json.loads(rest))
        except (ValueError, TypeError) as error:
            raise UsageError(f"these arguments are not a JSON object: {error}") from None
    if len(required) > 1 or (required and not rest.strip()):
        arguments = json.dumps(dict.fromkeys(required, "…"), ensure_ascii=False)
        raise UsageError(f"type {name} {arguments}")
    return use(name, **dict.fromkeys(required, rest))


def new_lines(request: Request, before: Request | None, lane: str) -> list[str]:
    """What a request shows that the one before it did not, as lines of text."""
    messages, known = request["messages"], 0
    if before is not None and messages[: len(before["messages"])] == before["messages"]:
        known = len(before["messages"]) + 1  # and the reply that was typed
    told = f"{known} of them as before" if known else "a new conversation"
    if before is not None and before.get("tools") and not request.get("tools"):
        told += ", no tools"  # a harness asks for something else, such as a summary
    who = "" if lane == "lead" else f"{lane}: "  # a program that names no lanes is the lead
    lines = [f"── {who}{count(len(messages), 'message')}, {told} ──"]
    if before is None or (before.get("system"), before.get("tools")) != (
        request.get("system"),
        request.get("tools"),
    ):
        system = content_text(request.get("system"))
        lines += [f"system: {line}" for line in system.splitlines()]
        for tool in request.get("tools", []):
            names = ", ".join(tool.get("input_schema", {}).get("properties", {}))
            first, *more = tool.get("description", "").strip().splitlines() or [""]
            lines.append(f"tool: {tool['name']}({names})  {first}")
            lines += [f"      {line}" for line in more]  # all of it: a model sees nothing else
    for message in messages[known:]:
        for block in blocks_of(message["content"]):
            lines += _block_lines(message["role"], block)
    return lines


def _block_lines(role: str, block: Mapping[str, Any]) -> list[str]:
    match block:
        case {"type": "tool_use", "name": name, "input": arguments}:
            label, text = "call", f"{name} {json.dumps(arguments, ensure_ascii=False)}"
        case {"type": "tool_result"}:
            label = "error" if block.get("is_error") else "result"
            text = content_text(block.get("content"))
        case _:
            label, text = role, content_text([block])
    return [f"{label}: {line}" for line in text.splitlines() or [""]]
