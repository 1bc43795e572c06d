"""What every offline reply carries: ids, signatures, simulated usage, time."""

from __future__ import annotations

import json
import threading
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
    plain = ask(client, messages).usage
    assert (plain.cache_read_input_tokens, plain.cache_creation_input_tokens) == (0, 0)
    assert plain.input_tokens > 100


def test_what_is_answered_counts_as_output_and_nothing_counts_as_one() -> None:
    client = lk.scripted([lk.say("word " * 100), lk.reply()])
    go = [{"role": "user", "content": "go"}]
    text = [{"type": "text", "text": "word " * 100}]
    assert ask(client, go).usage.output_tokens == estimate_tokens(text) > 100
    assert ask(client, go).usage.output_tokens == 1


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


def test_a_beta_has_its_keys_and_a_stream_its_id() -> None:
    client = lk.scripted(["one", "two"])
    go: list[Any] = [{"role": "user", "content": "go"}]
    edits = {"context_management": {"edits": []}}
    header = {"anthropic-beta": "context-management-2025-06-27"}
    assert ask(client, go, extra_body=edits, extra_headers=header).content[0].text == "one"
    with pytest.raises(anthropic.BadRequestError, match="context_management: Extra inputs"):
        ask(client, go, extra_body=edits)
    with client.messages.stream(model=client.model, max_tokens=9, messages=go) as stream:
        assert (stream.response.status_code, stream.request_id) == (200, "req_0003")
        assert stream.get_final_text() == "two"


def test_a_call_is_never_given_the_id_that_another_has_brought() -> None:
    own = {"type": "tool_use", "id": "toolu_0002", "name": "bash", "input": {}}
    client = lk.scripted([lk.reply(own), lk.use("bash"), lk.use("bash")])
    go = [{"role": "user", "content": "go"}]
    ids = [ask(client, go).content[0].id for _ in range(3)]
    assert ids == ["toolu_0002", "toolu_0001", "toolu_0003"]


def test_latency_passes_on_the_clock() -> None:
    client = lk.scripted([lk.say("slow", latency=30.0), lk.say("usual")])
    for _ in range(2):
        ask(client, [{"role": "user", "content": "go"}])
    assert client.clock.time() == 31.0


def test_marks_on_blocks_ask_for_caching_up_to_the_last() -> None:
    client = lk.scripted(lambda request: "ok")
    mark = {"cache_control": {"type": "ephemeral"}}
    system = [{"type": "text", "text": "s" * 400, **mark}]
    messages = [{"role": "user", "content": "x" * 400}]
    first, second = (ask(client, messages, system=system).usage for _ in range(2))
    assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens > 100
    assert first.input_tokens == second.input_tokens > 100


def test_a_mark_that_moves_on_loses_nothing() -> None:
    client = lk.scripted(lambda request: "ok")

    def said(text: str, **more: Any) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "text", "text": text, **more}]}

    mark = {"cache_control": {"type": "ephemeral"}}
    first = ask(client, [said("x" * 400, **mark)]).usage
    after = [said("x" * 400), {"role": "assistant", "content": "ok"}, said("y" * 400, **mark)]
    assert ask(client, after).usage.cache_read_input_tokens == first.cache_creation_input_tokens


def test_ids_are_never_given_twice() -> None:
    calls = [lk.reply(lk.use("bash"), lk.use("bash")) for _ in range(20)]
    quick = [replace(one, latency=0.0) for one in calls]
    client = lk.scripted(quick, clock=lk.SystemClock())
    replies: list[Any] = []

    def once() -> None:
        replies.append(ask(client, [{"role": "user", "content": "x"}]))

    threads = [threading.Thread(target=once) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len({reply.id for reply in replies}) == 20
    assert len({block.id for reply in replies for block in reply.content}) == 40


@pytest.mark.slow
def test_bodies_that_are_too_large_or_too_deep_are_refused() -> None:
    client = lk.scripted(["never"])
    with pytest.raises(anthropic.BadRequestError, match="too long"):
        ask(client, [{"role": "user", "content": "x" * 20_000_000}])
    with pytest.raises(anthropic.APIStatusError) as caught:
        ask(client, [{"role": "user", "content": "x" * 33_600_000}])
    assert caught.value.status_code == 413
    transport = OfflineTransport(Scripted([]), lk.VirtualClock())
    deep = b'{"messages":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    request = httpx2.Request("POST", "http://offline.invalid/v1/messages", content=deep)
    assert transport.handle_request(request).status_code == 400


def test_a_blank_text_between_two_thoughts_binds_nothing() -> None:
    blocks = [
        {"type": "thinking", "thinking": "First."},
        {"type": "text", "text": " "},
        {"type": "thinking", "thinking": "Then."},
    ]
    client = lk.scripted([lk.reply(*blocks, lk.use("note")), lk.say("accepted")])

    @lk.tool
    def note() -> str:
        """Write a note."""
        return "noted"

    assert lk.Agent(client, [lk.Toolbox(note)]).run("Note.").text == "accepted"
