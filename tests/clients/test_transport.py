"""What every offline reply carries: ids, signatures, simulated usage, time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anthropic
import httpx2
import pytest

import learnkit as lk
from learnkit.clients.request_hash import Prefix
from learnkit.clients.scripted import Scripted
from learnkit.clients.transport import OfflineTransport
from learnkit.core.catalog import DEFAULT_MODEL
from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import LANE

TOOL = {"name": "bash", "description": "Run.", "input_schema": {"type": "object"}}


def ask(client: Any, messages: list[Any], **more: Any) -> Any:
    return client.messages.create(
        model=client.model, max_tokens=100, messages=messages, tools=[TOOL], **more
    )


def grown(messages: list[Any], reply: Any, output: str) -> list[Any]:
    content = [block.to_dict() for block in reply.content]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": output}
        for block in content
        if block["type"] == "tool_use"
    ]
    return [
        *messages,
        {"role": "assistant", "content": content},
        {"role": "user", "content": results},
    ]


def test_what_the_lane_sent_before_counts_as_read_from_the_cache() -> None:
    client = lk.scripted([lk.use("bash"), lk.use("bash"), lk.say("done")])
    cached = {"cache_control": {"type": "ephemeral"}}
    messages: list[Any] = [{"role": "user", "content": "go"}]
    usages = []
    for output in ("a" * 400, "b" * 400):
        reply = ask(client, messages, **cached)
        usages.append(reply.usage)
        messages = grown(messages, reply, output)
    last = ask(client, messages, **cached).usage
    first, second = usages
    assert first.cache_read_input_tokens == 0
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    read = second.cache_read_input_tokens + second.cache_creation_input_tokens
    assert last.cache_read_input_tokens == read
    assert last.cache_creation_input_tokens > 100
    assert last.to_dict()["simulated"] is True


def test_what_another_lane_sent_is_not_read_from_the_cache() -> None:
    client = lk.scripted(lambda request: "ok")
    cached = {"cache_control": {"type": "ephemeral"}}
    messages = [{"role": "user", "content": "x" * 400}]
    read = []
    for lane in ("lead", "alice", "alice"):
        token = LANE.set(lane)
        read.append(ask(client, messages, **cached).usage.cache_read_input_tokens)
        LANE.reset(token)
    assert read[:2] == [0, 0]
    assert read[2] > 100


def test_a_change_at_the_start_loses_the_cache_and_no_marker_means_no_cache() -> None:
    client = lk.scripted(lambda request: "ok")
    cached = {"cache_control": {"type": "ephemeral"}}
    messages = [{"role": "user", "content": "x" * 400}]
    failing = lk.scripted([lk.fail(400), "ok"])
    with pytest.raises(anthropic.BadRequestError):
        ask(failing, messages, **cached)
    assert ask(failing, messages, **cached).usage.cache_read_input_tokens == 0
    ask(client, messages, **cached)
    usage = ask(client, messages, system="another head", **cached).usage
    assert usage.cache_read_input_tokens == 0
    ask(client, messages)
    plain = ask(client, messages).usage  # it was sent before, and without a mark nothing is kept
    assert (plain.cache_read_input_tokens, plain.cache_creation_input_tokens) == (0, 0)
    assert plain.input_tokens > 100


def test_an_answer_is_the_apis_in_all_its_parts() -> None:
    reply = lk.reply("I look.", lk.use("bash", command="größer"), lk.use("bash"))
    quick = {"latency": 0.0, "usage": {"input_tokens": 5}}
    transport = OfflineTransport(
        Scripted([replace(reply, **quick), lk.fail(529)]), lk.VirtualClock()
    )
    body = {"model": DEFAULT_MODEL, "max_tokens": 9, "tools": [TOOL]}
    body["messages"] = [{"role": "user", "content": "go"}]

    def answered(content: bytes, path: str = "/v1/messages") -> tuple[int, dict[str, str], Any]:
        request = httpx2.Request("POST", f"http://offline.invalid{path}", content=content)
        response = transport.handle_request(request)
        assert int(response.headers.pop("content-length")) == len(response.read())
        return response.status_code, dict(response.headers), json.loads(response.content)

    def error(kind: str, text: str, number: int) -> dict[str, Any]:
        about = {"type": kind, "message": text}
        return {"type": "error", "error": about, "request_id": f"req_{number:04d}"}

    sent = json.dumps(body).encode()
    status, headers, message = answered(sent)
    call = {"type": "tool_use", "id": "toolu_0001", "name": "bash", "input": {"command": "größer"}}
    content = [
        {"type": "text", "text": "I look."},
        call,
        {**call, "id": "toolu_0002", "input": {}},
    ]
    json_headers = {"content-type": "application/json"}
    assert (status, headers) == (200, {**json_headers, "request-id": "req_0001"})
    assert message == {
        "id": "msg_0001",
        "type": "message",
        "role": "assistant",
        "model": DEFAULT_MODEL,
        "content": content,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "output_tokens": estimate_tokens(content),
            "simulated": True,
        },
    }
    retry = {**json_headers, "retry-after-ms": "0.001"}
    assert answered(sent) == (
        529,
        {**retry, "request-id": "req_0002"},
        error("overloaded_error", "scripted failure", 2),
    )
    assert answered(b"[]") == (
        400,
        {**retry, "request-id": "req_0003"},
        error("invalid_request_error", "The request body is not JSON", 3),
    )
    assert answered(b"{}", "/v1/nowhere") == (
        404,
        {**retry, "request-id": "req_0004"},
        error("not_found_error", "Not found: /v1/nowhere", 4),
    )
    del body["max_tokens"]
    tokens = sum(Prefix.of(body).tokens)
    assert answered(json.dumps(body).encode(), "/v1/messages/count_tokens") == (
        200,
        {**json_headers, "request-id": "req_0005"},
        {"input_tokens": tokens},
    )


def test_a_call_is_never_given_the_id_that_another_has_brought() -> None:
    own = {"type": "tool_use", "id": "toolu_0002", "name": "bash", "input": {}}
    client = lk.scripted([lk.reply(own), lk.use("bash"), lk.use("bash")])
    go = [{"role": "user", "content": "go"}]
    ids = [ask(client, go).content[0].id for _ in range(3)]
    assert ids == ["toolu_0002", "toolu_0001", "toolu_0003"]
