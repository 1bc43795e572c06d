"""A local server that speaks the Messages API, for what needs a real one: live and record.

It listens on the loopback address only, checks requests against the contract, and answers from a
script as ``lk.scripted`` takes it, whole or as server-sent events. It can misbehave as compatible
servers and proxies do: leave out parts of a reply, refuse a key, be slow, be cut off, send HTML.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, TypeAlias

from learnkit.clients import sse
from learnkit.clients.contract.rules import check
from learnkit.clients.scripted import Failure, Scripted, ScriptEnded

#: Given the body that the API would answer with, what is sent instead: status, media type, bytes.
#: Bytes that end in ``CUT`` are announced as longer than they are, and the connection closes.
Wire: TypeAlias = Callable[[bytes], tuple[int, str, bytes]]
CUT = b"<cut>"

#: What tells the SDK to try again at once.
AT_ONCE = {"retry-after-ms": "1"}


def html(content: bytes) -> tuple[int, str, bytes]:
    """A wire that sends a page in place of each message, as a proxy that wants a login does."""
    return 200, "text/html", b"<html><body>Please log in.</body></html>"


def cut_in(part: bytes) -> Wire:
    """A wire that ends the connection after the first occurrence of a text, once."""
    done: list[bool] = []

    def wire(content: bytes) -> tuple[int, str, bytes]:
        kind = "text/event-stream" if content.startswith(b"event:") else "application/json"
        if not done and part in content:
            done.append(True)
            content = content[: content.index(part) + len(part)] + CUT
        return 200, kind, content

    return wire


def has_left(reader: socket.socket) -> bool:
    """Whether the other side has closed a connection.

    The kernel may take several writes more before it says so: a short reply would count as sent.
    """
    try:
        return reader.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@dataclass
class MessagesServer:
    """What was asked, and what is answered.

    Attributes:
        source: what answers.
        pace: seconds before an answer for each second of its latency.
        gap: seconds before each event of a stream, or what is called there.
        omitted: what is left out of replies: ``usage``, or of calls ``id``, ``name``, ``input``.
        refused: keys that get a 400, wherever they stand in a request.
        url: for ANTHROPIC_BASE_URL.
        bodies: the requests, in order.
        headers: their headers, names in lower case.
    """

    source: Scripted
    pace: float = 0.0
    gap: float | Callable[[], object] = 0.0
    omitted: Collection[str] = ()
    refused: Collection[str] = ()
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def env(self) -> dict[str, str]:
        """The environment of a program that is to ask it."""
        return {"ANTHROPIC_API_KEY": "for-a-local-server", "ANTHROPIC_BASE_URL": self.url}

    def respond(
        self, path: str, body: dict[str, Any], beta: bool = False
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON for one request."""
        if unwanted := _keys(body).intersection(self.refused):
            message = f"{min(unwanted)}: Extra inputs are not permitted"
            error = {"type": "invalid_request_error", "message": message}
            return 400, {"type": "error", "error": error}
        refusal = check(body, path=path, signed_here=False, beta=beta)
        if refusal is not None:
            return refusal.status, refusal.envelope("req_local")
        if path.endswith("/count_tokens"):
            return 200, {"input_tokens": len(json.dumps(body["messages"])) // 4}
        with self.lock:
            number = next(self._numbers)
            try:
                answer = self.source.answer(body, "lead")
            except ScriptEnded as ended:
                answer = Failure(400, "invalid_request_error", str(ended))
        time.sleep(self.pace * getattr(answer, "latency", 0.0))
        if isinstance(answer, Failure):
            error = {"type": answer.type, "message": answer.message}
            return answer.status, {"type": "error", "error": error}
        content = [
            {"id": f"toolu_srv{number}x{index}", **block}
            if block["type"] == "tool_use"
            else {"signature": f"sig{number}", **block}
            if block["type"] == "thinking"
            else block
            for index, block in enumerate(answer.content)
        ]
        calls = any(block["type"] == "tool_use" for block in content)
        usage = {"input_tokens": 7, "output_tokens": 5, "cache_read_input_tokens": 3}
        return 200, {
            "id": f"msg_srv{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": answer.stop_reason or ("tool_use" if calls else "end_turn"),
            "stop_sequence": None,
            "usage": usage,
        }

    def sending(self, value: dict[str, Any], number: int) -> None:
        """A part of an answer is about to be sent."""

    def sent(self, value: dict[str, Any]) -> None:
        """All parts of an answer have been sent, or as many as were to be."""

    def encoded(self, message: dict[str, Any], streamed: bool) -> list[bytes]:
        """A message as it goes over the wire, in pieces."""
        omitted = self.left_out(message)
        if not streamed:
            return [json.dumps(_without(message, omitted)).encode()]
        return [
            f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
            for name, data in ((n, _without(d, omitted)) for n, d in sse.to_events(message))
            if "input" not in omitted or "partial_json" not in str(data)
        ]

    def left_out(self, message: dict[str, Any]) -> Collection[str]:
        """What is left out of one reply."""
        return self.omitted


def _keys(value: Any) -> set[str]:
    """All keys in a JSON value."""
    if isinstance(value, list):
        return set().union(*map(_keys, value))
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set()


def _without(value: Any, omitted: Collection[str]) -> Any:
    """A part of a reply without usage, or calls without what they need."""
    if isinstance(value, list):
        return [_without(one, omitted) for one in value]
    if not isinstance(value, dict):
        return value
    gone = {"usage"} if value.get("type") != "tool_use" else {"id", "name", "input"}
    kept = {key: one for key, one in value.items() if key not in gone.intersection(omitted)}
    return {key: _without(one, omitted) for key, one in kept.items()}


@contextmanager
def serving(
    script: Any,
    wire: Wire | None = None,
    pace: float = 0.0,
    *,
    gap: float | Callable[[], object] = 0.0,
    omitted: Collection[str] = (),
    refused: Collection[str] = (),
    headers: Mapping[str, str] = AT_ONCE,
) -> Iterator[MessagesServer]:
    """Serve a script on a free port of the loopback address."""
    state = MessagesServer(Scripted(script), pace, gap, omitted, refused)
    with listening(state, wire, headers):
        yield state


@contextmanager
def listening(
    state: MessagesServer, wire: Wire | None = None, headers: Mapping[str, str] = AT_ONCE
) -> Iterator[MessagesServer]:
    """Let a server listen on a free port of the loopback address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # a reader that had enough has closed it
                super().handle()

        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            if len(sent := self.rfile.read(size)) < size:
                return  # who was asking has been killed
            body = json.loads(sent)
            with state.lock:
                state.bodies.append(body)
                state.headers.append({k.lower(): v for k, v in self.headers.items()})
            beta = "anthropic-beta" in self.headers
            status, value = state.respond(self.path.partition("?")[0], body, beta)
            message = status == 200 and "content" in value
            streamed = message and bool(body.get("stream"))
            parts = state.encoded(value, streamed) if message else [json.dumps(value).encode()]
            kind = "text/event-stream" if streamed else "application/json"
            if wire is not None and status == 200:
                status, kind, content = wire(b"".join(parts))
                parts = [content]
            with contextlib.suppress(ConnectionError):  # the reader may have had enough
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(sum(map(len, parts))))
                for name, one in headers.items():
                    self.send_header(name, one)
                self.end_headers()
                for number, part in enumerate(parts):
                    if streamed:
                        state.gap() if callable(state.gap) else time.sleep(state.gap)
                    state.sending(value, number)
                    if has_left(self.connection):
                        raise BrokenPipeError
                    self.wfile.write(part.removesuffix(CUT))
                state.sent(value)
            self.close_connection = parts[-1].endswith(CUT)

        def log_message(self, *_: Any) -> None:
            """Say nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
