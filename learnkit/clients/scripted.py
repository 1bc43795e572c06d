"""Replies written in Python: what a model would say, without a model.

``say``, ``use``, ``reply`` and ``fail`` make one reply each; ``Script`` hands them out in order,
by lane, or by asking a function of the request.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

import anthropic

from learnkit.errors import UsageError

Block: TypeAlias = dict[str, Any]
Request: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says to one request.

    Attributes:
        content: blocks as in the API; a ``tool_use`` without an id is given one.
        stop_reason: by default ``tool_use`` when there are calls, else ``end_turn``.
        usage: token counts that replace the simulated ones.
        latency: seconds on the clock until it arrives.
    """

    content: tuple[Block, ...]
    stop_reason: str | None = None
    usage: Mapping[str, int] | None = None
    latency: float = 1.0


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the API instead of a reply; the SDK retries 429 and 5xx at once.

    Attributes:
        status: HTTP status.
        type: error type in the envelope.
        message: text in the envelope.
    """

    status: int
    type: str
    message: str
    latency: float = 0.0


@runtime_checkable
class Source(Protocol):
    """Where an offline client gets its replies."""

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The reply to a request of an agent."""
        ...


class ScriptEnded(anthropic.AnthropicError):
    """The script has no reply left for this request."""


class OfflineError(anthropic.AnthropicError):
    """Something other than the API failed while a request was answered; see ``__cause__``.

    The SDK takes any ordinary exception of a transport for a lost connection: it would ask again
    for more than a second, and then hide what happened. Its own errors pass at once.
    """


@contextlib.contextmanager
def raised_at_once() -> Iterator[None]:
    """Let an exception of the block pass through the SDK at once, instead of being retried."""
    try:
        yield
    except anthropic.AnthropicError:
        raise
    except Exception as error:
        raise OfflineError(f"{type(error).__name__}: {error}") from error


#: Error types by status, as the API's envelope names them.
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def say(
    text: str,
    *,
    thinking: str | None = None,
    stop_reason: str | None = None,
    latency: float = 1.0,
    usage: Mapping[str, int] | None = None,
) -> Reply:
    """A reply of text.

    Args:
        text: what the model says; an empty text makes an empty reply.
        thinking: a thinking block before it.
        stop_reason: by default ``end_turn``.
        latency: seconds on the clock until it arrives.
        usage: token counts; by default simulated ones.
    """
    blocks = [{"type": "text", "text": text}] if text else []
    return Reply((*_thinking(thinking), *blocks), stop_reason, usage, latency)


def use(name: str, /, **input: Any) -> Reply:
    """A reply that calls one tool: ``use("bash", command="ls")``.

    Args:
        name: the tool.
        input: its arguments.
    """
    return Reply(({"type": "tool_use", "name": name, "input": input},))


def reply(
    *parts: Reply | str | Block,
    thinking: str | None = None,
    stop_reason: str | None = None,
    latency: float = 1.0,
    usage: Mapping[str, int] | None = None,
) -> Reply:
    """One reply made of several parts, in order: texts, calls, or blocks.

    Example: ``reply("I look first.", use("bash", command="ls"), use("bash", command="date"))``.

    Args:
        parts: texts, calls made by :func:`use`, or blocks.
        thinking: a thinking block before them.
        stop_reason: by default ``tool_use`` when there are calls, else ``end_turn``.
        latency: seconds on the clock until it arrives.
        usage: token counts; by default simulated ones.

    Raises:
        UsageError: for a part of another type.
    """
    blocks: list[Block] = [*_thinking(thinking)]
    for part in parts:
        if isinstance(part, Reply):
            blocks.extend(part.content)
            stop_reason = stop_reason or part.stop_reason
        elif isinstance(part, str):
            blocks.append({"type": "text", "text": part})
        elif isinstance(part, Mapping) and "type" in part:
            blocks.append(dict(part))
        else:
            raise UsageError(f"a reply is made of texts, say(), use() and blocks, not {part!r}")
    return Reply(tuple(blocks), stop_reason, usage, latency)


def fail(status: int, message: str = "scripted failure", *, type: str | None = None) -> Failure:
    """An API error instead of a reply, e.g. ``fail(529)``.

    Args:
        status: the HTTP status, 400 to 599.
        message: the text in the envelope.
        type: the error type in the envelope; by default the one of the status.

    Raises:
        UsageError: for a status that is no error.
    """
    if not 400 <= status <= 599:
        raise UsageError(f"status {status} is no error; use one of {sorted(ERROR_TYPES)}")
    usual = ERROR_TYPES.get(status) or ERROR_TYPES[status // 100 * 100]
    return Failure(status, type or usual, message)


def _thinking(text: str | None) -> list[Block]:
    return [] if text is None else [{"type": "thinking", "thinking": text}]


_END = object()

Answer: TypeAlias = Reply | Failure | str
Policy: TypeAlias = Callable[[Request], Answer]
Script: TypeAlias = Iterable[Answer | Policy] | Policy | Mapping[str, Any]


@dataclass(slots=True)
class Scripted:
    """A source that follows a script."""

    script: Script
    _lines: dict[str, Any] = field(default_factory=dict)
    _given: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        lanes = self.script if isinstance(self.script, Mapping) else {"": self.script}
        for lane, lines in lanes.items():
            if isinstance(lines, (str, Reply, Failure)):
                raise UsageError(f"a script is a list of replies or a function; got {lines!r}")
            self._lines[lane] = lines if callable(lines) else iter(lines)

    def answer(self, request: Request, lane: str) -> Reply | Failure:
        """The next reply of the lane's script."""
        by_lane = "" not in self._lines
        key = lane if by_lane else ""
        if key not in self._lines:
            known = ", ".join(self._lines)
            raise ScriptEnded(f"agent {lane!r} asked, but there is a script only for: {known}")
        lines = self._lines[key]
        if not callable(lines):
            with self._lock:
                lines = next(lines, _END)
                self._given[key] = self._given.get(key, 0) + (lines is not _END)
            if lines is _END:
                raise ScriptEnded(
                    f"agent {lane!r} asked for one more reply, but the script held only "
                    f"{self._given[key]}: add a reply, or end with say(...), which calls no tool"
                )
        answer = lines(request) if callable(lines) else lines
        if isinstance(answer, str):
            return say(answer)
        if not isinstance(answer, (Reply, Failure)):
            raise ScriptEnded(f"the script gave {answer!r}; give say(), use(), reply() or fail()")
        return answer
