"""The parts of a request: what the model sees of it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
import pytest
from anthropic import APIStatusError

from learnkit.views.request import first_sight, fragments, refusal, transcript

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


def text_of(html: str) -> str:
    """The text of a fragment, without its markup."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


def test_a_request_is_shown_in_the_order_in_which_a_model_reads_it() -> None:
    shown = fragments(REQUEST, REFUSED)
    assert list(shown) == [
        *("totals", "system", "tools", "message 0", "message 1", "message 2", "refusal", "json")
    ]
    assert "≈ 574 tokens (characters / 4): system 5, tools 212, messages 357" in text_of(
        shown["totals"]
    )
    assert text_of(shown["system"]) == "▲ system prompt ≈ 5 Be <brief>. Now."
    tools = text_of(shown["tools"])
    assert tools.startswith("3 tools you may call ≈ 212 read_file(path, limit?) Read a")
    assert "path string required Of the <file>. limit integer optional Most lines." in tools
    assert tools.endswith("look() ?()")
    assert "Which one? " * 70 in shown["message 0"], "whole, since the reader may have to answer"
    assert text_of(shown["refusal"]) == "✗ error 400 invalid_request_error messages: too <few>"
    assert '"text": "<reminder>plan</reminder>"' in text_of(shown["json"])
    assert "cache_control" not in shown["json"]


def test_calls_and_results_are_marked_only_when_the_run_is_over() -> None:
    """A model gets no marks; that a result belongs to no call is plain without them."""
    for over in (False, True):
        shown = fragments(REQUEST, over=over)
        calls, results = text_of(shown["message 1"]), text_of(shown["message 2"])
        assert calls.count("✗ failed") == 2 * over
        assert ("reads like a failure, but is_error is not set" in results) is over
        assert "no call has this id" in results
        assert "thinking (signed, not shown) thinking (redacted) I look." in calls
        assert "→ call look" in calls
        assert "id lu_1 a: [1]" in calls
        assert results.endswith("✉\ufe0e injected from the harness <reminder>plan</reminder>")


def test_first_sight_and_transcript_are_tables() -> None:
    sight = text_of(first_sight(REQUEST))
    assert sight.startswith("What the model sees, ≈ 574 tokens (≈: characters / 4): part content")
    for row in ("▲ system prompt Be <brief>. Now. 5", "tool look(): ", "◆ assistant message"):
        assert row in sight
    assert "message" not in text_of(first_sight({"messages": [], "system": "S"}))
    rows = text_of(transcript(REQUEST["messages"], REFUSED))
    for row in (
        "0 ■ user text Which one? Which",
        "→ call look: a: [1]",
        "✗ error",
        "API ✗ 400 invalid_request_error messages: too <few>",
    ):
        assert row in rows
    long = text_of(transcript(REQUEST["messages"] * 9, rows=12))
    assert "messages left out" in long
