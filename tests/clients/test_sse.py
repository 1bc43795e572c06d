"""Streams: what is written can be read back, by us and by the SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.clients import sse

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
blocks = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(
        lambda text, mark: {"type": "thinking", "thinking": text, "signature": mark}, texts, texts
    ),
    st.builds(
        lambda arguments: {"type": "tool_use", "id": "t1", "name": "bash", "input": arguments},
        st.dictionaries(texts, st.one_of(texts, st.integers(), st.none(), st.booleans())),
    ),
)


def message(content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }


@given(st.lists(blocks, max_size=4))
def test_a_stream_read_back_is_the_message(content: list[dict[str, Any]]) -> None:
    whole = message(content)
    assert sse.from_bytes(sse.to_bytes(whole)) == whole


def test_the_events_of_a_message_are_the_apis() -> None:
    long = "It is größer than that, "  # 24 characters: as many as one delta carries
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"a": "größer " * 3}}
    picture = {"type": "image", "source": {}}
    content = [thought, {"type": "text", "text": f"{long}as I said."}, call, picture]
    whole = {**message(content), "stop_reason": "stop_sequence", "stop_sequence": "END"}
    usage = {"input_tokens": 3, "output_tokens": 1}
    start = {**whole, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}

    def block(index: int, empty: dict[str, Any], *deltas: dict[str, Any]) -> list[Any]:
        return [
            ("content_block_start", {"index": index, "content_block": empty}),
            *(("content_block_delta", {"index": index, "delta": delta}) for delta in deltas),
            ("content_block_stop", {"index": index}),
        ]

    events = [
        ("message_start", {"message": start}),
        *block(
            0,
            {**thought, "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Hm."},
            {"type": "signature_delta", "signature": "s"},
        ),
        *block(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": long},
            {"type": "text_delta", "text": "as I said."},
        ),
        *block(
            2,
            {**call, "input": {}},
            {"type": "input_json_delta", "partial_json": '{"a": "größer größer grö'},
            {"type": "input_json_delta", "partial_json": 'ßer "}'},
        ),
        *block(3, picture),
        (
            "message_delta",
            {
                "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"},
                "usage": {"output_tokens": 4},
            },
        ),
        ("message_stop", {}),
    ]
    assert list(sse.to_events(whole)) == events
    assert sse.to_bytes(whole).decode().split("\n\n") == [
        *(
            f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}"
            for name, data in events
        ),
        "",
    ]
    assert sse.from_bytes(sse.to_bytes(whole)) == whole
    assert sse.from_bytes(sse.to_bytes(whole).replace(b"data: ", b"data:")) == whole


@given(texts, st.dictionaries(st.text("abc", min_size=1), texts, max_size=2))
def test_the_sdk_reads_the_same(text: str, arguments: dict[str, str]) -> None:
    if not text.strip():
        text += "."
    reply = lk.reply(text, {"type": "tool_use", "name": "bash", "input": arguments})
    client = lk.scripted([reply, reply])
    tools = [{"name": "bash", "description": "Run.", "input_schema": {"type": "object"}}]
    request: Any = {"model": client.model, "max_tokens": 9, "tools": tools}
    request["messages"] = [{"role": "user", "content": "go"}]
    with client.messages.stream(**request) as stream:
        streamed = stream.get_final_message()
    whole = client.messages.create(**request)
    assert [b.type for b in streamed.content] == [b.type for b in whole.content]
    assert streamed.content[0].text == whole.content[0].text == text
    assert streamed.content[1].input == whole.content[1].input == arguments
    assert streamed.stop_reason == whole.stop_reason == "tool_use"


def test_a_stream_that_breaks_off_or_fails_is_no_message() -> None:
    whole = sse.to_bytes(message([{"type": "text", "text": "hello, größer 😀"}]))
    for end in range(len(whole) - 2):  # cut at any byte; the last two are empty lines
        with pytest.raises(ValueError, match="ended before the message did"):
            sse.from_bytes(whole[:end])
    with pytest.raises(ValueError, match="ended before the message did, or is none"):
        sse.from_bytes(b"<h1>502 Bad Gateway</h1>")
    error = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'
    with pytest.raises(
        sse.StreamError, match=r"the stream ended in an error: .*overloaded_error"
    ) as caught:
        sse.from_bytes(whole[:200].rpartition(b"\n\n")[0] + b"\n\n" + error)
    assert caught.value.error == {"type": "overloaded_error"}


def stream(*events: dict[str, Any]) -> bytes:
    return "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def test_what_an_api_streams_is_put_together() -> None:
    quotes = [{"type": "char_location", "cited_text": text} for text in ("31.4", "16.1")]
    start = {**message([]), "stop_reason": None}
    parts = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": delta}
            for delta in (
                {"type": "text_delta", "text": "It is "},
                *({"type": "citations_delta", "citation": quote} for quote in quotes),
                {"type": "unheard_of"},
                {"type": "text_delta", "text": "31.4."},
            )
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "ping"},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "max_tokens", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
    ]
    whole = sse.from_bytes(stream(*parts, {"type": "message_stop"}))
    assert whole["content"] == [{"type": "text", "text": "It is 31.4.", "citations": quotes}]
    assert whole["stop_reason"] == "max_tokens"
    assert whole["usage"] == {"input_tokens": 3, "output_tokens": 9}
    with pytest.raises(ValueError, match="no message_stop"):
        sse.from_bytes(stream(*parts))
