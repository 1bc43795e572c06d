"""The transport of every offline client: it answers as the API would, from a source of replies.

A request is checked against the contract, so code that would fail live fails here with the same
error. Replies take their latency on the clock, and carry simulated usage: estimated tokens, of
which those that repeat the lane's previous request count as read from the prompt cache.
"""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from itertools import count
from typing import Any

import anthropic
import httpx2
from pydantic_core import from_json

from learnkit.clients import sse
from learnkit.clients.contract.rules import check
from learnkit.clients.contract.thinking import sign_reply
from learnkit.clients.request_hash import Prefix
from learnkit.clients.scripted import Block, Failure, Reply, Source, raised_at_once
from learnkit.core.token_count import estimate_tokens
from learnkit.events.log import LANE
from learnkit.runtime.clock import Clock

_encode = json.JSONEncoder(ensure_ascii=False).encode

#: What the SDK must wait before a retry, in ms; it takes 0 for "not said", and backs off.
RETRY_AFTER_MS = "0.001"


class OfflineTransport(httpx2.BaseTransport):
    """Answers Messages API requests from a source, without a network."""

    def __init__(self, source: Source, clock: Clock, recorder: Any = None) -> None:
        self.source, self.clock, self._recorder = source, clock, recorder
        self._before: dict[str, Prefix] = {}
        self._numbers = {"msg": count(1), "toolu": count(1), "req": count(1)}
        self._calls: set[str] = set()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request of the SDK."""
        with raised_at_once():
            return self._respond(request)

    def _respond(self, request: httpx2.Request) -> httpx2.Response:
        raw = request.read()
        request_id = self._number("req")
        try:
            # As the API, and unlike json, it refuses lone surrogates and endless nesting.
            body = from_json(raw) if raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            error = {"type": "invalid_request_error", "message": "The request body is not JSON"}
            return _error(400, error, request_id)
        path = request.url.path
        beta = "anthropic-beta" in request.headers
        refusal = check(body, method=request.method, path=path, size=len(raw), beta=beta)
        if refusal is not None:
            return _json(refusal.status, refusal.envelope(request_id), request_id)
        if path.endswith("/count_tokens"):
            tokens = sum(Prefix.of(body).tokens)
            return _json(200, {"input_tokens": tokens}, request_id)
        return self._message(body, request_id)

    def _message(self, body: dict[str, Any], request_id: str) -> httpx2.Response:
        lane = LANE.get()
        before = self._before.get(lane)
        prefix = Prefix.of(body, before)
        ask = getattr(self.source, "answer_to", None)  # a recording matches the canonical form
        answer: Reply | Failure = ask(prefix, lane) if ask else self.source.answer(body, lane)
        if isinstance(answer, Reply):
            content = tuple(self._with_id(block) for block in prefix.fill(list(answer.content)))
            answer = replace(answer, content=content)
        self.clock.sleep(answer.latency)
        if self._recorder is not None:
            self._recorder.keep(prefix, lane, answer)
        if isinstance(answer, Failure):
            error = {"type": answer.type, "message": answer.message}
            return _error(answer.status, error, request_id)
        self._before[lane] = prefix
        message = self._complete(answer, prefix, prefix.shared(before))
        if body.get("stream"):
            headers = {"content-type": "text/event-stream", "request-id": request_id}
            return httpx2.Response(200, content=sse.to_bytes(message), headers=headers)
        return _json(200, message, request_id)

    def _complete(self, reply: Reply, prefix: Prefix, shared: int) -> dict[str, Any]:
        """The reply as the API would send it: signatures, stop reason and usage."""
        content = list(reply.content)
        calls = any(block["type"] == "tool_use" for block in content)
        return {
            "id": self._number("msg"),
            "type": "message",
            "role": "assistant",
            "model": prefix.body["model"],
            "content": sign_reply(prefix.body, content),
            "stop_reason": reply.stop_reason or ("tool_use" if calls else "end_turn"),
            "stop_sequence": None,
            "usage": {**_usage(prefix, shared, content), **(reply.usage or {})},
        }

    def _with_id(self, block: Block) -> Block:
        if block["type"] != "tool_use":
            return block
        id = block.get("id") or self._number("toolu")
        while "id" not in block and id in self._calls:  # an earlier reply has brought it
            id = self._number("toolu")
        self._calls.add(id)
        return {"type": "tool_use", "id": id, **block}

    def _number(self, kind: str) -> str:
        with self._lock:
            return f"{kind}_{next(self._numbers[kind]):04d}"


def _usage(prefix: Prefix, shared: int, content: list[Block]) -> dict[str, Any]:
    """Simulated token counts.

    A request that asks for caching finds in the cache what its lane sent before, and writes the
    rest to it, up to its last mark; how the API does it is simplified (no minimum length, no
    expiry).
    """
    total = sum(prefix.tokens)
    marked = prefix.marked
    read = sum(prefix.tokens[: min(shared, marked)])
    written = sum(prefix.tokens[:marked]) - read
    return {
        "input_tokens": total - read - written,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": max(1, estimate_tokens(content)),
        "simulated": True,
    }


def _error(status: int, error: dict[str, str], request_id: str) -> httpx2.Response:
    envelope = {"type": "error", "error": error, "request_id": request_id}
    return _json(status, envelope, request_id)


def _json(status: int, value: dict[str, Any], request_id: str) -> httpx2.Response:
    headers = {"content-type": "application/json", "request-id": request_id}
    if status >= 400:
        headers["retry-after-ms"] = RETRY_AFTER_MS
    content = _encode(value).encode("utf-8", "replace")
    return httpx2.Response(status, content=content, headers=headers)


class Client(anthropic.Anthropic):
    """A real ``anthropic.Anthropic`` that knows its clock and model.

    Attributes:
        clock: what an agent with this client sleeps and waits on.
        mode: replay, record, scripted or live.
        model: the model that agents ask for.
        source: where replies come from; None when live.
    """

    clock: Clock
    mode: str
    model: str
    source: Source | None = None

    def copy(self, **options: Any) -> Client:
        """Copy as the SDK does; the copy keeps clock, mode, model and source."""
        other: Client = super().copy(**options)
        other.clock, other.mode, other.model = self.clock, self.mode, self.model
        other.source = self.source
        return other

    with_options = copy


def offline_client(transport: httpx2.BaseTransport, clock: Clock, mode: str, model: str) -> Client:
    """A client over a transport of ours, cut off from the environment's proxies and keys."""
    client = Client(
        api_key="offline",
        base_url="http://offline.invalid",
        http_client=anthropic.DefaultHttpxClient(transport=transport, trust_env=False),
        open_telemetry=False,
    )
    client.clock, client.mode, client.model = clock, mode, model
    client.source = getattr(transport, "source", None)
    return client
