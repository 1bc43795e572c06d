"""The parts of a request: what the model sees of it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from anthropic import APIStatusError

from learnkit.core.token_count import estimate_tokens
from learnkit.views.request import first_sight, fragments, refusal, seen, sizes, transcript

TOOL = {"name": "look", "input_schema": {"type": "object"}}
MARK = {"cache_control": {"type": "ephemeral"}}
PATH = {"type": "string", "description": "Of the <file>."}
LIMIT = {"type": "integer", "description": "Most lines."}
READ = {
    "name": "read_file",
    "description": "Read a file. " + "It is a text. " * 40,
    "input_schema": {"properties": {"path": PATH, "limit": LIMIT}, "required": ["path"]},
}
REQUEST: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "system": [{"type": "text", "text": "Be <brief>.", **MARK}, {"type": "text", "text": "Now."}],
    "tools": [READ, {**TOOL, **MARK}, {"input_schema": None}],
    "messages": [
        {"role": "user", "content": "Which one? " * 70},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": [1]}},
                {"type": "tool_use", "id": "toolu_2", "name": "read_file", "input": {}},
                {"type": "server_tool_use", "id": "s1", "name": "search"},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Error: no such file"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True},
                {"type": "tool_result", "tool_use_id": "toolu_9", "content": "whose?"},
                {"type": "text", "text": "<reminder>plan</reminder>"},
            ],
        },
    ],
}
REFUSED = ("400 invalid_request_error", "messages: too <few>")


def test_marks_for_the_cache_and_empty_parts_are_left_out() -> None:
    request = {"model": "m", "system": [{"type": "text", "text": "Be brief.", **MARK}]}
    assert seen({**request, "tools": [{**TOOL, **MARK}]}) == {
        "system": "Be brief.",
        "tools": [TOOL],
    }
    assert seen({**request, "tools": []}) == {"system": "Be brief."}
    assert sizes({**request, "tools": [{**TOOL, **MARK}]}) == {
        "system": estimate_tokens("Be brief."),
        "tools": estimate_tokens([TOOL]),
    }
    assert seen({"model": "m"}) == sizes({"model": "m"}) == {}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"error": {"type": "overloaded_error", "message": "busy"}},
            ("529 overloaded_error", "busy"),
        ),
        ({"error": {}}, ("529 error", "told")),
        ({}, ("529 error", "told")),
        ("no JSON", ("529 error", "told")),
    ],
)
def test_what_the_api_refuses_is_its_status_its_type_and_its_text(
    body: Any, said: tuple[str, str]
) -> None:
    response = httpx.Response(529, request=httpx.Request("POST", "http://h/v1/messages"))
    assert refusal(APIStatusError("told", response=response, body=body)) == said


@pytest.mark.parametrize("name", ["asked", "over"])
def test_a_request_reads_as_it_did(name: str) -> None:
    """As fragments of a page in which it is answered, and as tables."""
    over = name == "over"
    shown = fragments(REQUEST, REFUSED if over else None, over=over)
    parts = [f"-- {key}\n{html}" for key, html in shown.items()]
    parts += ["-- first sight", first_sight(REQUEST if over else {"messages": [], "system": "S"})]
    messages = REQUEST["messages"] * (9 if over else 1)
    parts += ["-- transcript", transcript(messages, REFUSED if over else None, 12)]
    text = re.sub(r">(?=<)", ">\n", "\n".join(parts)) + "\n"
    file = Path(__file__).parent / "drawn" / f"request_{name}.txt"
    if os.environ.get("DRAWN") == "new":
        file.write_text(text, "utf-8")
    assert text.splitlines() == file.read_text("utf-8").splitlines()
