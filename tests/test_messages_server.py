"""The local server that the tests use as the API."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import pytest
from messages_server import MessagesServer, listening

import learnkit as lk
from learnkit.clients.scripted import Scripted
from learnkit.core.catalog import DEFAULT_MODEL


class Waiting(MessagesServer):
    """Waits before the first part of a reply, and counts the replies that went out whole."""

    def __init__(self) -> None:
        super().__init__(Scripted([lk.say("never read")]))
        self.ready, self.whole = threading.Event(), 0

    def sending(self, value: dict[str, Any], number: int) -> None:
        assert self.ready.wait(20)

    def sent(self, value: dict[str, Any]) -> None:
        self.whole += 1


@pytest.mark.parametrize("leaves", [True, False])
def test_a_reply_to_a_reader_that_has_left_is_not_sent(leaves: bool) -> None:
    server = Waiting()
    hello = {"role": "user", "content": "Hello?"}
    body = json.dumps({"model": DEFAULT_MODEL, "max_tokens": 9, "messages": [hello]})
    with (
        listening(server),
        closing(HTTPConnection(urlsplit(server.url).netloc, timeout=20)) as reader,
    ):
        reader.request("POST", "/v1/messages", body)
        if leaves:
            reader.sock.shutdown(socket.SHUT_WR)  # so writing to it is no error yet
        server.ready.set()
        with suppress(HTTPException):
            reader.getresponse().read()
    assert server.whole == (0 if leaves else 1)
