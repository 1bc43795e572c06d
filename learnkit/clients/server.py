"""A Messages API on a loopback port, for a model that must be in another process than its agent.

Whatever answers offline answers here as well: a recording, a script, a function of the request, or
you. Requests are checked by the same contract, and any language's SDK can ask.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import anthropic
import httpx2

from learnkit.clients.scripted import Failure, Reply, Request, Script, Scripted, Source
from learnkit.clients.transport import OfflineTransport
from learnkit.events.log import LANE
from learnkit.runtime.clock import Signal, SystemClock

#: A request may say here which agent asks, for scripts by lane. Without it the lane is ``lead``.
LANE_HEADER = "x-learnkit-lane"
#: As long as the contract allows a body to be, and one byte more, so that it can say "too large".
LONGEST = 32 * 1024 * 1024 + 1
#: Seconds without a byte after which a connection is closed.
SILENCE = 60.0


class NoWaitClock(SystemClock):
    """A system clock on which a reply takes no time.

    Recorded latencies are there for pictures of time; a process that waits for them learns nothing.
    """

    def sleep(self, seconds: float, stop: Signal | None = None) -> bool:
        """Return at once."""
        return stop is not None and stop.is_set()


class MessagesServer:
    """Answers Messages API requests on 127.0.0.1 while the ``with`` block runs.

    Args:
        source: where replies come from: a source, or a script as for :func:`learnkit.scripted`.
        port: to listen on; 0 takes a free one.
        missed: gets each request for which there was no reply, and returns what the client is told.

    Attributes:
        url: for ``ANTHROPIC_BASE_URL``.

    Raises:
        OSError: if the port is taken.
    """

    def __init__(
        self,
        source: Source | Script,
        port: int = 0,
        *,
        missed: Callable[[Request, anthropic.AnthropicError], str] | None = None,
    ) -> None:
        chosen = source if isinstance(source, Source) else Scripted(source)
        self._clock = NoWaitClock()
        self._transport = OfflineTransport(_Answered(chosen, missed), self._clock)
        self._http = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self._clock.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = SILENCE

            def handle(self) -> None:
                with contextlib.suppress(ConnectionError):  # the client has had enough
                    super().handle()

            def respond(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                length = headers.get("content-length", "0")
                problem = foreign(headers, server._http.server_port)
                if problem or "transfer-encoding" in headers or not length.isdecimal():
                    self.close_connection = True  # the body has not been read
                    status, text = (403, problem) if problem else (411, "send a content-length")
                    self.answer(status, {"content-type": "text/plain"}, f"{text}\n".encode())
                    return
                self.close_connection |= int(length) > LONGEST
                asked = httpx2.Request(
                    self.command,
                    server.url + self.path,
                    headers=headers,
                    content=self.rfile.read(min(int(length), LONGEST)),
                )
                lane = LANE.set(headers.get(LANE_HEADER, "lead"))
                try:
                    response = server._transport.handle_request(asked)
                finally:
                    LANE.reset(lane)
                self.answer(response.status_code, response.headers, response.read())

            def answer(self, status: int, headers: Any, content: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    if name != "content-length":
                        self.send_header(name, value)
                if status == 400:
                    self.send_header("x-should-retry", "false")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET = do_PUT = do_DELETE = do_PATCH = respond

            def log_message(self, *_: Any) -> None:
                """Say nothing on stderr: the command that is served writes there."""

        return Handler


class _Answered:
    """A source in which a request without a reply gets an error of the API.

    An exception would end the connection, and the SDK of another process would ask again.
    """

    def __init__(
        self,
        source: Source,
        missed: Callable[[Request, anthropic.AnthropicError], str] | None,
    ) -> None:
        self._source, self._missed = source, missed

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        try:
            return self._source.answer(request, lane)
        except anthropic.AnthropicError as error:
            text = self._missed(request, error) if self._missed else str(error)
        except Exception as error:  # of a script's function: its author reads it at the client
            text = f"the script failed: {type(error).__name__}: {error}"
        return Failure(400, "invalid_request_error", text)


def foreign(headers: dict[str, str], port: int) -> str:
    """Say why a request comes from a web page or through another name; empty if it doesn't.

    A page that the user has open must not be able to ask: its browser names the page as origin, and
    a name that was made to lead to this machine as host (DNS rebinding).
    """
    own = {f"{host}:{port}" for host in ("127.0.0.1", "localhost")}
    if headers.get("host") not in own:
        return f"this server answers only to {' and '.join(sorted(own))}"
    if "origin" in headers and headers["origin"].removeprefix("http://") not in own:
        return "this server does not answer to web pages"
    return ""
