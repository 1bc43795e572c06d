"""A message that arrives in pieces: the API's stream events, put together."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]

#: What a delta adds to its block, and under which key: type of the delta -> key.
_GROWING = {"text_delta": "text", "thinking_delta": "thinking"}


class Assembly:
    """Puts the events of one stream together.

    It asks for no more than it needs: a server that sends no usage, or counts only at the end, is
    understood as well.

    Attributes:
        message: what has come so far; empty before the first event.
        complete: the stream has said that it is at its end.
    """

    def __init__(self) -> None:
        self.message: Message = {}
        self.complete = False
        self._arguments: dict[int, str] = {}

    def add(self, event: dict[str, Any]) -> tuple[str, str] | None:
        """Take up one event."""
        kind = event["type"]
        if kind == "message_start":
            self.message = {**event["message"], "content": []}
        elif kind == "content_block_start":
            self.message["content"].append(dict(event["content_block"]))
        elif kind == "content_block_delta":
            index = event.get("index", len(self.message["content"]) - 1)
            return self._grow(self.message["content"][index], event["delta"], index)
        elif kind == "message_delta":
            self.message.update({k: v for k, v in event["delta"].items() if v is not None})
            counts = {k: v for k, v in (event.get("usage") or {}).items() if v is not None}
            if counts:
                self.message["usage"] = {**(self.message.get("usage") or {}), **counts}
        elif kind == "message_stop":
            self.complete = True
        return None

    def whole(self) -> Message:
        """Return the message, with the arguments of its calls read.

        Arguments that were cut off are read as far as they go, as the SDK does it; what is no JSON
        stays the text that it is.
        """
        if not self.complete or "content" not in self.message:
            raise ValueError("no message_stop")
        from pydantic_core import from_json  # the SDK has it; an agent is made without

        for index, text in self._arguments.items():
            try:
                arguments = from_json(text.encode() or b"{}", allow_partial=True)
            except ValueError:
                arguments = text
            self.message["content"][index]["input"] = arguments
        return self.message

    def _grow(
        self, block: dict[str, Any], delta: dict[str, Any], index: int
    ) -> tuple[str, str] | None:
        kind = delta["type"]
        if key := _GROWING.get(kind):
            block[key] = (block.get(key) or "") + delta[key]
            return key, delta[key]
        if kind == "input_json_delta":
            self._arguments[index] = self._arguments.get(index, "") + delta["partial_json"]
        elif kind == "signature_delta":
            block["signature"] = delta["signature"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        return None
