"""Recording: write down what was asked and answered, from the API or from a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anthropic
import httpx2

from learnkit.clients import sse
from learnkit.clients.contract.rules import check
from learnkit.clients.recordings.recording import DEFAULTS, Recording, Turn, followed
from learnkit.clients.request_hash import IGNORED, Prefix, unmarked
from learnkit.clients.scripted import ERROR_TYPES, Failure, Reply, fail, raised_at_once
from learnkit.errors import UsageError
from learnkit.events.log import LANE

#: Keys of a usage object that are worth keeping.
_USAGE = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


class Recorder:
    """Writes one scenario of a recording; its other scenarios stay as they are."""

    def __init__(
        self, path: Path, scenario: str, origin: str, invited: Sequence[Turn] = ()
    ) -> None:
        self.path, self.scenario = path, scenario
        self.recording = Recording.load(path) if path.exists() else Recording()
        self._made = {"sdk": anthropic.__version__.rsplit(".", 1)[0], "source": origin}
        self._turns: list[Turn] = []
        self._invited, self._shared = invited, self.recording.shared
        #: The replies that must stay, by id of their turn, because an invited edit rests on them.
        self.anchors: dict[str, Reply | Failure] = {}
        self._last: dict[str, tuple[Turn, Prefix]] = {}
        self._by_hash: dict[str, Turn] = {}
        self._lock = threading.Lock()

    def keep(self, prefix: Prefix, lane: str, answer: Reply | Failure) -> None:
        """Store one request and its answer, and save."""
        with self._lock:
            # Read again each time: recorders of other scenarios write to the same file.
            if self.path.exists():
                self.recording = Recording.load(self.path)
            self.add(prefix, lane, answer)
            self.recording.save(self.path)

    def add(self, prefix: Prefix, lane: str, answer: Reply | Failure) -> None:
        """Add one request and its answer to ``recording``, without reading or saving the file."""
        meta = {"lesson": self.path.stem, **self.recording.meta, **self._made}
        self.recording.meta = meta
        for key in DEFAULTS:
            if key in prefix.body:
                meta.setdefault(key, prefix.body[key])
        id = f"{self.scenario}/{len(self._turns) + 1}"
        turn = self._turn(id, prefix, lane, answer)
        if self.anchors.get(id, turn.answer) != turn.answer:
            raise UsageError(
                f"{id} has another reply than the turn that an invited edit follows or replaces; "
                "write the edit for the new turns, or take it out of the recording"
            )
        self._turns.append(turn)
        self._by_hash[prefix.hash] = turn
        if isinstance(answer, Reply):
            self._last[lane] = (turn, prefix)
        self._replace_turns()

    def start_over(self) -> None:
        """Begin the scenario again, with empty conversations; no turn is removed."""
        self._last.clear()

    def follow(self, prefix: Prefix, lane: str) -> None:
        """Note that a recorded request was made again: the next turn follows it."""
        self._last[lane] = (self._by_hash[prefix.hash], prefix)

    def _replace_turns(self) -> None:
        """Put the scenario's turns where its old ones are, else at the end."""
        old = self.recording.turns
        rest = [turn for turn in old if turn.scenario != self.scenario]
        at = next((i for i, t in enumerate(old) if t.scenario == self.scenario), len(rest))
        # An invited edit comes back when the turns are there that it follows.
        there = {turn.id for turn in self._turns}
        invited = []
        for turn in self._invited:
            if there >= {turn.after, turn.instead} - {None}:
                invited.append(turn)
                there.add(turn.id)
        if invited:
            self.recording.shared = self._shared | self.recording.shared
        self.recording.turns = [*rest[:at], *self._turns, *invited, *rest[at:]]

    def _turn(self, id: str, prefix: Prefix, lane: str, answer: Reply | Failure) -> Turn:
        body = prefix.hide({k: v for k, v in unmarked(prefix.body).items() if k not in IGNORED})
        for key in ("system", "tools"):
            if key in body:
                body[key] = self.recording.share(body[key])
        body = {k: v for k, v in body.items() if self.recording.meta.get(k, ...) != v}
        messages = [json.loads(text) for text in prefix.canon[1:]]
        after, edits = None, {}
        if lane in self._last:
            before, earlier = self._last[lane]
            # Canonical forms on both sides, so that only real changes count as edits.
            base = [json.loads(text) for text in followed(earlier, before.answer).canon[1:]]
            if len(messages) >= len(base):
                changed = [i for i, one in enumerate(base) if one != messages[i]]
                if 2 * len(changed) < len(base):  # else it is a new conversation
                    after, edits = before.id, {i: messages[i] for i in changed}
                    messages = messages[len(base) :]
        if isinstance(answer, Reply):
            content = tuple(prefix.hide(list(answer.content)))
            answer = Reply(content, answer.stop_reason, answer.usage, answer.latency)
        return Turn(id, self.scenario, lane, after, body, messages, edits, answer)


class RecordingTransport(httpx2.HTTPTransport):
    """An ordinary HTTP transport that also writes down each message exchanged."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the API, and record it if it asks for a message."""
        raw = request.read()
        response = super().handle_request(request)
        if request.method != "POST" or not request.url.path.endswith("/messages"):
            return response
        content = response.read()
        with raised_at_once():
            self._write_down(json.loads(raw), response, content)
        return response

    def _write_down(self, body: Any, response: httpx2.Response, content: bytes) -> None:
        answer = _answer(response, content, bool(body.get("stream")))
        if isinstance(answer, Failure) and check(body, signed_here=False) is not None:
            return  # replay refuses it by the same rule, and some such bodies have no messages
        self._recorder.keep(Prefix.of(body), LANE.get(), answer)


def _answer(response: httpx2.Response, content: bytes, stream: bool) -> Reply | Failure:
    """What the API answered; an error in the middle of a stream is one from the start."""
    if response.status_code >= 400:
        return _as_failure(response.status_code, content)
    try:
        return as_reply(sse.from_bytes(content) if stream else json.loads(content))
    except sse.StreamError as error:
        kind = error.error.get("type", "api_error")
        status = next((one for one, name in ERROR_TYPES.items() if name == kind), 500)
        return Failure(status, kind, error.error.get("message", ""))


def _as_failure(status: int, content: bytes) -> Failure:
    """An error as the API reports it, or a proxy on the way that does not answer in JSON."""
    try:
        error = json.loads(content)["error"]
        return Failure(status, str(error["type"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return fail(status, content[:200].decode("utf-8", "replace"))


def as_reply(message: dict[str, Any]) -> Reply:
    """A message of the API as a reply, without ids and signatures, which are made anew."""
    content = [
        {key: value for key, value in block.items() if value is not None and key != "signature"}
        for block in message["content"]
    ]
    counts = message.get("usage") or {}  # which a compatible server may leave out
    usage = {k: counts[k] for k in _USAGE if counts.get(k) is not None}
    calls = any(block["type"] == "tool_use" for block in content)
    expected = "tool_use" if calls else "end_turn"
    reason = message.get("stop_reason")
    return Reply(tuple(content), None if reason == expected else reason, usage)
