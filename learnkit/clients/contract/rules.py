"""What the Messages API would refuse, and how: the same status, error type and shape of text.

Every mode but live asks :func:`check` about each request, so code that would fail live fails
offline. ``RULES`` has one line a rule, in the order in which they are checked, and says where each
comes from: ``measured`` by others against the live API, ``documented`` by the SDK or the API's
pages, or ``strict``, our own caution, which the refusal then says. Nothing was measured here.
Branch on status and type; the text is there to be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from learnkit.clients.contract import messages as messages
from learnkit.clients.contract import request as request
from learnkit.clients.contract import tools as tools
from learnkit.clients.contract.request import Request
from learnkit.clients.contract.survey import Survey

Provenance = Literal["measured", "documented", "strict"]

MESSAGES_PATH = "/v1/messages"
COUNT_PATH = "/v1/messages/count_tokens"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer other than a message.

    Attributes:
        status: the HTTP status.
        type: the error type, such as ``invalid_request_error``.
        message: the text.
        rule: the name of the rule that was broken.
        provenance: how it is known that the API does this.
        headers: HTTP headers that belong to the answer.
    """

    status: int
    type: str
    message: str
    rule: str
    provenance: Provenance
    headers: dict[str, str] = field(default_factory=dict)

    def envelope(self, request_id: str) -> dict[str, Any]:
        """The JSON body of the answer."""
        error = {"type": self.type, "message": self.message}
        return {"type": "error", "error": error, "request_id": request_id}


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing the API refuses: ``find`` returns the text of the refusal, or None."""

    name: str
    provenance: Provenance
    find: Callable[[Request], str | None]
    status: int = 400
    type: str = "invalid_request_error"


@dataclass(slots=True)
class Memory:
    """The request that was accepted last in a conversation.

    The next one repeats it all, as the API wants it; what stands there again need not be checked
    again, so a call costs the same however long the history is.
    """

    last: Request | None = None


def _survey(find: Callable[[Survey], str | None]) -> Callable[[Request], str | None]:
    """A rule that looks at nothing but the messages."""
    return lambda asked: find(asked.messages)


def _empty_text(asked: Request) -> str | None:
    return messages.empty_text(asked.messages) or request.empty_system_text(asked)


def _prefill(asked: Request) -> str | None:
    return None if asked.spec.prefill else messages.assistant_end(asked.messages)


def _trailing_space(asked: Request) -> str | None:
    return messages.trailing_space(asked.messages) if asked.spec.prefill else None


def _system_message(asked: Request) -> str | None:
    return messages.system_message(asked.messages, asked.spec.system_messages)


def _moved_thinking(asked: Request) -> str | None:
    """Preserved thinking: a block that something changed under, or that was tampered with."""
    hints = {
        "prefix": "Something before it has changed since it was returned",
        "gap": "The thinking block that preceded it is missing or was moved",
    }
    for flaw in asked.flaws:
        where = f"messages.{flaw.message}.content.{flaw.block}: Invalid `signature` in `thinking`"
        if flaw.kind in hints:
            return (
                f"{where} block. The block is bound to a different conversation. Remove the "
                'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". '
                f"{hints[flaw.kind]}."
            )
        if flaw.message < messages.latest_assistant(asked.messages):
            return f"{where} block"
    return None


def _changed_thinking(asked: Request) -> str | None:
    for flaw in asked.flaws:
        if flaw.kind == "modified":
            return (
                f"messages.{flaw.message}.content.{flaw.block}: `thinking` or `redacted_thinking` "
                "blocks in the latest assistant message cannot be modified. These blocks must "
                "remain as they were in the original response."
            )
    return messages.thinking_end(asked.messages) if asked.messages.thinking else None


#: In the order of checking. The answers to a wrong path and to an oversized body come before all
#: of them, since they need no look at the body.
RULES: tuple[Rule, ...] = (
    Rule("required", "measured", request.missing),
    Rule("shape", "documented", request.malformed),
    Rule("unknown_key", "measured", request.unknown_key),
    Rule("unknown_model", "measured", request.unknown_model, 404, "not_found_error"),
    Rule("max_tokens", "measured", request.output_limit),
    Rule("message_count", "documented", request.message_count),
    Rule("role", "measured", _survey(messages.bad_role)),
    Rule("empty_message", "measured", _survey(messages.empty_message)),
    Rule("empty_text", "measured", _empty_text),
    Rule("unanswered_call", "measured", _survey(messages.unanswered_call)),
    Rule("late_result", "measured", _survey(messages.late_result)),
    Rule("unknown_result", "measured", _survey(messages.unknown_result)),
    Rule("double_result", "measured", _survey(messages.double_result)),
    Rule("repeated_id", "measured", _survey(messages.repeated_id)),
    Rule("tool_use_id", "measured", _survey(messages.bad_id)),
    Rule("wrong_side", "measured", _survey(messages.wrong_side)),
    Rule("tools_missing", "strict", tools.tools_missing),
    Rule("error_with_media", "measured", _survey(messages.error_with_media)),
    Rule("tool_name", "measured", tools.tool_name),
    Rule("tool_names_unique", "measured", tools.tool_names_unique),
    Rule("input_schema", "documented", tools.input_schema),
    Rule("tool_choice", "measured", tools.tool_choice),
    Rule("prefill", "documented", _prefill),
    Rule("trailing_space", "measured", _trailing_space),
    Rule("system_message", "measured", _system_message),
    Rule("cache_control", "measured", request.cache_marks),
    Rule("thinking", "documented", request.thinking),
    Rule("bound_thinking", "documented", _moved_thinking),
    Rule("changed_thinking", "documented", _changed_thinking),
    Rule("sampling", "documented", request.sampling),
    Rule("stop_sequences", "measured", request.stop_sequences),
    Rule("prompt_length", "measured", request.prompt_length),
)


def check(
    body: dict[str, Any],
    *,
    method: str = "POST",
    path: str = MESSAGES_PATH,
    size: int = 0,
    beta: bool = False,
    signed_here: bool = True,
    memory: Memory | None = None,
) -> Refusal | None:
    """Say what the API would refuse about a request.

    Args:
        body: the parsed JSON body; not changed.
        method: the HTTP method.
        path: the path of the URL, with its query if it has one.
        size: bytes of the body as sent. 0: not known, and the two rules on length are left out.
        beta: it names betas in an ``anthropic-beta`` header, so their keys are let through.
        signed_here: the thinking blocks were signed offline. False when an API upstream signed
            them: its signatures are its own to judge.
        memory: of the same conversation; changes nothing but the time it takes.

    Returns:
        The first rule broken, in the order of ``RULES``, or None for a request that is accepted.
    """
    route = path.partition("?")[0]
    if route not in (MESSAGES_PATH, COUNT_PATH):
        return Refusal(404, "not_found_error", f"Not found: {route}", "path", "documented")
    if method.upper() != "POST":
        text = f"Method not allowed: {method.upper()} {route}; use POST"
        return Refusal(405, "invalid_request_error", text, "method", "documented")
    if size > request.MAX_BYTES:
        text = f"Request exceeds the maximum size: {size} bytes > {request.MAX_BYTES}"
        return Refusal(413, "request_too_large", text, "body_size", "documented")
    before = memory.last if memory is not None else None
    asked = Request(body, size, route == COUNT_PATH, beta, signed_here, before)
    for rule in RULES:
        problem = rule.find(asked)
        if problem is not None:
            note = " (strict: learnkit's own caution)" if rule.provenance == "strict" else ""
            text = problem + note
            return Refusal(rule.status, rule.type, text, rule.name, rule.provenance)
    asked.before = None  # it has been used
    if memory is not None:
        memory.last = asked
    return None


def unauthenticated() -> Refusal:
    """The answer to a missing or wrong key."""
    return Refusal(401, "authentication_error", "invalid API key", "key", "documented")


def rate_limited(retry_after_ms: int = 0) -> Refusal:
    """The answer to too many requests; the SDK tries again after ``retry_after_ms`` milliseconds.

    Args:
        retry_after_ms: milliseconds. 0 is sent as 1: the SDK takes 0 for "not said", and waits.
    """
    text = "This request would exceed your rate limit. Try again later."
    headers = {"retry-after-ms": str(max(retry_after_ms, 1))}
    return Refusal(429, "rate_limit_error", text, "rate_limit", "documented", headers)


def overloaded(retry_after_ms: int = 0) -> Refusal:
    """The answer of an API that has too much to do; see :func:`rate_limited`."""
    headers = {"retry-after-ms": str(max(retry_after_ms, 1))}
    return Refusal(529, "overloaded_error", "Overloaded", "overload", "documented", headers)
