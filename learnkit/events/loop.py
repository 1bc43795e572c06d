"""The events of the loop: a run, its messages, its requests and its calls."""

from __future__ import annotations

from typing import Any, Literal

from learnkit.events.declaration import detail, event, record
from learnkit.events.sentences import stopped
from learnkit.events.text import arguments, blocks_of, content_text, count, listed, one_line, quoted

#: A message, a content block or a tool's specification, as the API has it: not read any further.
Raw = dict[str, Any]
Content = str | list[Any] | None


def _run_started(run: RunStarted) -> str:
    if run.prompt is None:
        return "The run starts with the messages as they are."
    return f"The run starts with {quoted(content_text(run.prompt))}."


@event("run.started", lesson="s01", sentence=_run_started)
class RunStarted:
    """A run begins: the system prompt and the tools are fixed."""

    prompt: Content = None
    system: str = ""
    tools: tuple[Raw, ...] = ()
    model: str = ""


@event(
    "run.ended",
    lesson="s01",
    sentence=lambda run: f"The run ends after {count(run.turns, 'turn')}: {stopped(run.reason)}.",
)
class RunEnded:
    """A run is over: the model is done, or something has stopped it."""

    reason: str = ""
    text: str = ""
    turns: int = 0


def _message(added: MessageAdded) -> str:
    content, name = added.message.get("content"), f"Message {added.shown}"
    blocks = blocks_of(content)
    calls = [str(block.get("name", "?")) for block in blocks if block.get("type") == "tool_use"]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if added.message.get("role") == "assistant":
        if calls:
            return f"{name}: the model calls {listed(calls)}."
        return f"{name}: the model says {quoted(content_text(content))}."
    if results:
        failed = sum(bool(block.get("is_error")) for block in results)
        errors = f", {count(failed, 'error')} among them" if failed else ""
        if len(results) == 1:
            errors = ", an error" if failed else ""
        return f"{name} brings back {count(len(results), 'result')}{errors}."
    return f"{name} enters the array: {quoted(content_text(content))}."


@event("message.added", lesson="s01", sentence=_message)
class MessageAdded:
    """A message has been put at the end of the array, or in place of what stood from there on."""

    index: int | None = None
    message: Raw
    injected: bool = detail(default=False, sometimes=True)

    @property
    def shown(self) -> str:
        """Its place in the array, in a sentence."""
        return "?" if self.index is None else str(self.index)


#: What a request beside the conversation is for.
_ASIDE = {"summary": "summary", "judgement": "judgement of the goal"}


def _requested(asked: ModelRequested) -> str:
    if asked.purpose in _ASIDE:
        return f"The model is asked for a {_ASIDE[asked.purpose]}."
    verb = "goes" if asked.messages == 1 else "go"
    return f"Turn {asked.turn}: {count(asked.messages, 'message')} {verb} to the model."


@event("model.requested", lesson="s01", sentence=_requested)
class ModelRequested:
    """A request is sent."""

    turn: int = 0
    messages: int = 0
    purpose: str = detail(default="conversation", sometimes=True)


@record
class UsageData:
    """What the server says that a request has used, in tokens; it may say nothing.

    Attributes:
        input_tokens: neither written to the cache nor read from it.
    """

    input_tokens: int | None = detail(default=None, sometimes=True)
    cache_read_input_tokens: int = detail(default=0, sometimes=True)
    cache_creation_input_tokens: int = detail(default=0, sometimes=True)
    output_tokens: int | None = detail(default=None, sometimes=True)
    simulated: bool = detail(default=False, sometimes=True)
    whole: Raw | None = detail(default=None, whole=True)

    @property
    def known(self) -> bool:
        """Whether the server has said what was used."""
        return self.input_tokens is not None and self.output_tokens is not None

    @property
    def sent(self) -> int:
        """All the tokens of the request: new ones, and cached ones."""
        cached = self.cache_read_input_tokens + self.cache_creation_input_tokens
        return (self.input_tokens or 0) + cached


def _replied(reply: ModelReplied) -> str:
    usage = reply.usage
    tokens = "the server does not say how many tokens"
    if usage.input_tokens is not None or usage.output_tokens is not None:
        tokens = f"{usage.sent:,} tokens in, {usage.output_tokens or 0:,} out"
    if reply.purpose in _ASIDE:
        return f"The model has written a {_ASIDE[reply.purpose]} ({tokens})."
    return f"Turn {reply.turn}: the reply is here, {stopped(reply.stop_reason)} ({tokens})."


@event("model.replied", lesson="s01", sentence=_replied)
class ModelReplied:
    """A reply has come."""

    turn: int = 0
    stop_reason: str | None = None
    usage: UsageData = UsageData()
    model: str | None = None
    seconds: float = 0.0
    purpose: str = detail(default="conversation", sometimes=True)


def _failed(failed: ModelFailed) -> str:
    status = "" if failed.status is None else f"{failed.status} "
    return f"Turn {failed.turn} fails: {status}{failed.error_type}, {quoted(failed.message)}."


@event("model.failed", lesson="s01", sentence=_failed)
class ModelFailed:
    """A request has no reply: the API refuses it, the connection fails, or the run is stopped."""

    turn: int = 0
    status: int | None = None
    error_type: str = ""
    message: str = ""


@event("model.paused", lesson="s01", sentence="{waits} waits for your reply.")
class ModelPaused:
    """A request has no reply yet, because you are the model of the agent that ``waits``."""

    turn: int = 0
    waits: str = ""


@event(
    "model.retried",
    lesson="s01",
    sentence="Turn {turn}: {error_type}, {message:quoted}; asked again after {seconds:seconds}.",
)
class ModelRetried:
    """A request failed for a reason that may pass, and is sent again."""

    turn: int = 0
    seconds: float = 0.0
    status: int | None = None
    error_type: str = ""
    message: str = ""


@event(
    "reply.repaired",
    lesson="s01",
    sentence=lambda reply: (
        f"Turn {reply.turn}: the reply was put in order; it had "
        f"{one_line('; '.join(reply.problems), 120)}."
    ),
)
class ReplyRepaired:
    """A reply had blocks that the API would not take back; they have been put right."""

    turn: int = 0
    problems: tuple[str, ...] = ()


def _call_started(call: ToolStarted) -> str:
    if call.refused:
        return f"{call.name} doesn't run: {quoted(call.refused)}."
    return f"{call.name} runs: {one_line(arguments(call.input or {}), 60)}"


@event("tool.started", lesson="s01", sentence=_call_started)
class ToolStarted:
    """A call is about to run, unless a mechanism has ``refused`` it, for the reason given."""

    id: str
    name: str = "?"
    input: Any = None
    refused: str = detail(default="", sometimes=True)


How = Literal["ran", "raised", "invalid", "unknown", "refused", "cut", "cancelled"]
_HOW = {
    "ran": "reports an error",
    "refused": "is refused",
    "unknown": "does not exist",
    "invalid": "is not run, its arguments do not fit",
    "cancelled": "is cancelled",
    "cut": "is not run, the reply was cut off",
    "raised": "fails",
}


def _call_ended(call: ToolEnded) -> str:
    said = quoted(call.output) if call.output else "no output"
    return f"{call.name} {'is ' if call.done else ''}{call.outcome}: {said}."


@event("tool.ended", lesson="s01", sentence=_call_ended)
class ToolEnded:
    """A call has its result; ``how`` says how it came to it."""

    id: str
    name: str = "?"
    is_error: bool = False
    output: str = ""
    seconds: float = 0.0
    how: How = "ran"

    @property
    def done(self) -> bool:
        """Whether the tool ran without an error."""
        return self.how == "ran" and not self.is_error

    @property
    def outcome(self) -> str:
        """How the call came to its end, in words."""
        return f"done after {self.seconds:.1f} s" if self.done else _HOW[self.how]


@event(
    "messages.rewritten",
    lesson="s06",
    sentence=lambda array: (
        f"The array is rewritten and has {count(len(array.messages), 'message')} now"
        f"{f': {array.why}' if array.why else ''}."
    ),
)
class MessagesRewritten:
    """The whole message array has been replaced, by compaction or by hand."""

    messages: tuple[Raw, ...]
    why: str = ""
