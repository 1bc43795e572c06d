"""A Messages API on a loopback port: the real SDK asks it, and what must not ask is refused."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any

import anthropic
import pytest

import learnkit as lk
from learnkit.clients.server import LANE_HEADER, LONGEST, MessagesServer
from learnkit.core.catalog import DEFAULT_MODEL

BODY: dict[str, Any] = {
    "model": DEFAULT_MODEL,
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hello"}],
}


def sdk(server: MessagesServer) -> anthropic.Anthropic:
    http_client = anthropic.DefaultHttpxClient(trust_env=False)
    return anthropic.Anthropic(api_key="offline", base_url=server.url, http_client=http_client)


def post(server: MessagesServer, body: bytes, **headers: str) -> tuple[int, str]:
    """Status and text of the answer to a request as bytes."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", "/v1/messages", body, {"content-length": str(len(body)), **names})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


@pytest.mark.usefixtures("no_thread_is_left")
def test_the_sdk_gets_replies_whole_and_streamed_errors_after_retries_and_token_counts() -> None:
    script = [lk.use("bash", command="ls"), lk.fail(529), lk.say("done"), lk.say("streamed")]
    with MessagesServer(script) as server, sdk(server) as client:
        reply = client.messages.create(**BODY)
        assert [(b.name, b.input) for b in reply.content if b.type == "tool_use"] == [
            ("bash", {"command": "ls"})
        ]
        assert client.messages.create(**BODY).content[0].text == "done"  # type: ignore[union-attr]
        with client.messages.stream(**BODY) as stream:
            assert "".join(stream.text_stream) == "streamed"
        count = client.messages.count_tokens(model=BODY["model"], messages=BODY["messages"])
        assert count.input_tokens > 0
    with pytest.raises(ConnectionRefusedError):
        post(server, b"")


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([], "the script held only 0"),
        (lambda _: 1 / 0, "the script failed: ZeroDivisionError: division by zero"),
    ],
)
def test_a_request_without_a_reply_is_an_error_that_is_not_tried_again(
    script: Any, says: str
) -> None:
    asked = 0

    def counted(request: dict[str, Any]) -> Any:
        nonlocal asked
        asked += 1
        return lk.scripted(script).source.answer(request, "lead")  # type: ignore[union-attr]

    refused = pytest.raises(anthropic.BadRequestError, match=says)
    with MessagesServer(counted) as server, sdk(server) as client, refused:
        client.messages.create(**BODY)
    assert asked == 1


def answered(body: bytes, head: str = "") -> bytes:
    """What comes on the connection of a request, up to its end."""
    with MessagesServer([lk.say("x")]) as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            head = f"POST /v1/messages HTTP/1.1\r\nHost: {host}:{port}\r\n{head}"
            line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
            line.sendall(body)
            with line.makefile("rb") as answer:
                return answer.read()


def test_after_a_body_that_is_too_long_the_connection_is_over() -> None:
    assert answered(bytes(LONGEST + 1)).count(b"HTTP/1.1 4") == 1


def test_a_header_names_the_agent_that_asks() -> None:
    with MessagesServer({"lead": ["I lead"], "alice": ["I code"]}) as server, sdk(server) as client:
        texts = [
            client.messages.create(**BODY, extra_headers=headers).content[0].text  # type: ignore[union-attr]
            for headers in ({LANE_HEADER: "alice"}, {})
        ]
    assert texts == ["I code", "I lead"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:{port}"}, 200),
        ({"origin": "http://localhost:{port}"}, 200),
        ({"host": "example.com"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"origin": "https://example.com"}, 403),
        ({"origin": "null"}, 403),
        ({"transfer_encoding": "chunked"}, 411),
        ({"content_length": "-1"}, 411),
    ],
)
def test_a_web_page_cannot_ask(headers: dict[str, str], status: int) -> None:
    with MessagesServer(lambda _: "yes") as server:
        port = server.url.rpartition(":")[2]
        filled = {name: value.format(port=port) for name, value in headers.items()}
        assert post(server, json.dumps(BODY).encode(), **filled)[0] == status


def test_a_client_that_wants_the_connection_closed_reads_to_its_end() -> None:
    answer = answered(json.dumps(BODY).encode(), "Connection: close\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
