"""Messages as server-sent events, and back, as the API streams them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from learnkit.core.stream import Assembly

Message = dict[str, Any]

#: Characters a delta carries; small enough that a stream is seen to stream.
CHUNK = 24


def to_events(message: Message) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events that stream ``message``, as (name, data)."""
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
    start["usage"] = {**message["usage"], "output_tokens": 1}
    yield "message_start", {"message": start}
    for index, block in enumerate(message["content"]):
        empty, deltas = _deltas(block)
        yield "content_block_start", {"index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": message.get("stop_sequence")}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield "message_delta", {"delta": delta, "usage": usage}
    yield "message_stop", {}


def to_bytes(message: Message) -> bytes:
    """The body of a streamed response."""
    lines = (
        f"event: {name}\ndata: {json.dumps({'type': name, **data}, ensure_ascii=False)}\n\n"
        for name, data in to_events(message)
    )
    return "".join(lines).encode()


class StreamError(Exception):
    """A stream that began well ended in an error of the API.

    Attributes:
        error: type and message, as in the envelope of an error response.
    """

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"the stream ended in an error: {error}")
        self.error = error


def from_bytes(body: bytes) -> Message:
    """The message that a streamed response carries."""
    assembly = Assembly()
    try:
        for line in body.decode("utf-8", "replace").split("\n"):
            if line.startswith("data:"):
                data = json.loads(line.removeprefix("data:"))
                if data["type"] == "error":
                    raise StreamError(data["error"])
                assembly.add(data)
        return assembly.whole()
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        cut = "the stream ended before the message did, or is none"
        raise ValueError(f"{cut}: {type(error).__name__}: {error}") from None


def _deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it starts, and what is then added to it."""
    if block["type"] == "text" and block.get("text"):  # a careless server leaves it out
        parts = [{"type": "text_delta", "text": one} for one in _chunks(block["text"])]
        return {**block, "text": ""}, parts
    if block["type"] == "tool_use":
        text = json.dumps(block.get("input", {}), ensure_ascii=False)
        parts = [{"type": "input_json_delta", "partial_json": one} for one in _chunks(text)]
        return {**block, "input": {}}, parts
    if block["type"] == "thinking":
        parts = [{"type": "thinking_delta", "thinking": one} for one in _chunks(block["thinking"])]
        parts.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, parts
    return block, []


def _chunks(text: str) -> Iterator[str]:
    return (text[i : i + CHUNK] for i in range(0, len(text), CHUNK))
