"""Who answers a request that is not in the recording: nobody, or another source from there on.

A run that has missed is not resumed: its cell is run again, in a fresh workspace, and gets the
recorded replies up to the miss. So nothing has to be kept open, and files, lists and teammates are
what they were. Only then does the other source answer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import anthropic

from learnkit.clients.connect import model_setting
from learnkit.clients.recordings.record import as_reply
from learnkit.clients.recordings.replay import Miss, Replay
from learnkit.clients.request_hash import Prefix
from learnkit.clients.scripted import Failure, Reply, Request, Source
from learnkit.course.games.be_the_model.seat import Given, Paused

_REST: ContextVar[Source | None] = ContextVar("rest", default=None)


@contextmanager
def answering(rest: Source) -> Iterator[None]:
    """Let a source answer what the recordings of the scenarios in this block do not have."""
    token = _REST.set(rest)
    try:
        yield
    finally:
        _REST.reset(token)


def is_given() -> bool:
    """Whether the replies of this block were given in advance, so that nobody has to watch them."""
    return isinstance(_REST.get(), Given)


class Recorded:
    """A source that gives the recorded replies, and stops the run at the first request without one.

    Inside :func:`answering`, another source answers there instead.

    Attributes:
        stopped: why all agents of this run get no more replies; None while they do.
    """

    def __init__(self, replay: Replay) -> None:
        self._replay, self._rest = replay, _REST.get()
        self.stopped: Miss | Paused | None = None
        self._lock = threading.Lock()

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The reply to a request; see :meth:`answer_to`."""
        return self.answer_to(Prefix.of(request), lane)

    def answer_to(self, prefix: Prefix, lane: str) -> Reply | Failure:
        """The recorded reply, or that of the other source.

        One agent's miss stops all: what the others would see of it is not in the recording either.
        """
        with self._lock:
            if self.stopped is not None:
                raise self.stopped
        try:
            try:
                return self._replay.answer_to(prefix, lane)
            except Miss:
                if self._rest is None:
                    raise
            return self._rest.answer(prefix.body, lane)
        except (Miss, Paused) as error:
            with self._lock:
                self.stopped = self.stopped or error
            raise


class Server:
    """A model that really answers: on this machine, or the API with the learner's key.

    Attributes:
        asked: how many requests it has answered.
    """

    def __init__(self, address: str) -> None:
        self._client = anthropic.Anthropic(
            api_key=os.environ.get("ANTHROPIC_API_KEY") or "offline", base_url=address or None
        )
        self.asked = 0

    def answer(self, request: Request, lane: str) -> Reply:
        """The reply to a request, without the thinking that was recorded and that nobody signed."""
        body = {key: value for key, value in request.items() if key not in ("stream", "model")}
        body["messages"] = [_unsigned(message) for message in request["messages"]]
        message = self._client.messages.create(**body, model=model_setting())
        self.asked += 1
        return as_reply(message.model_dump(mode="json"))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def server_here() -> tuple[str, str] | None:
    """The server that could be asked, as its address and what to call it; None if there is none.

    It is one on this machine, in ``ANTHROPIC_BASE_URL``, or the API, if there is a key for it.
    """
    address = os.environ.get("ANTHROPIC_BASE_URL", "")
    if urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1"):
        return address, f"{model_setting()} at {urlsplit(address).netloc}, on this machine"
    if os.environ.get("ANTHROPIC_API_KEY"):
        return address, f"{model_setting()}, with your key: it costs tokens"
    return None


def _unsigned(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message["content"]
    if message["role"] != "assistant" or isinstance(content, str):
        return message
    return {**message, "content": [block for block in content if "thinking" not in block["type"]]}
