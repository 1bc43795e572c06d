"""A local server that speaks the Messages API, for what needs a real one: live and record.

It listens on the loopback address only, checks requests against the contract, and answers from a
script as ``lk.scripted`` takes it, whole or as server-sent events.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
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


@dataclass
class MessagesServer:
    """What was asked, and what is answered.

    Attributes:
        source: what answers.
        delay: seconds before each answer.
        pace: seconds, besides, for each second of its latency.
        url: for ANTHROPIC_BASE_URL.
        bodies: the requests, in order.
        headers: their headers, names in lower case.
    """

    source: Scripted
    delay: float = 0.0
    pace: float = 0.0
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def respond(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and JSON for one request."""
        refusal = check(body, path=path, signed_here=False)
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


@contextmanager
def serving(
    script: Any, delay: float = 0.0, wire: Wire | None = None, pace: float = 0.0
) -> Iterator[MessagesServer]:
    """Serve a script on a free port of the loopback address.

    Args:
        script: as for ``lk.scripted``.
        delay: seconds before each answer.
        wire: changes the answers of status 200 on their way, for servers that misbehave.
        pace: seconds, besides, for each second of a reply's latency.
    """
    state = MessagesServer(Scripted(script), delay, pace)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with state.lock:
                state.bodies.append(body)
                state.headers.append({k.lower(): v for k, v in self.headers.items()})
            time.sleep(state.delay)
            status, value = state.respond(self.path.partition("?")[0], body)
            streamed = bool(body.get("stream")) and status == 200
            content = sse.to_bytes(value) if streamed else json.dumps(value).encode()
            kind = "text/event-stream" if streamed else "application/json"
            if wire is not None and status == 200:
                status, kind, content = wire(content)
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(content.removesuffix(CUT))
            self.close_connection = content.endswith(CUT)

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
