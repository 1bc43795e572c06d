"""What the Messages API would refuse, and how: the same status, error type and shape of text.

Every mode but live asks :func:`check` about each request, so code that would fail live fails
offline. ``RULES`` has one line a rule, in the order in which they are checked, and says where each
comes from: ``measured`` by others against the live API, ``documented`` by the SDK or the API's
pages, or ``strict``, our own caution, which the refusal then says. Nothing was measured here.
Branch on status and type; the text is there to be read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from learnkit.clients.contract import messages, request
from learnkit.clients.contract.request import Request, shape_problem

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
    """

    status: int
    type: str
    message: str
    rule: str
    provenance: Provenance

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


#: In the order of checking. The answers to a wrong path and to an oversized body come before all
#: of them, since they need no look at the body.
RULES: tuple[Rule, ...] = (
    Rule("required", "measured", shape_problem("required")),
    Rule("shape", "documented", shape_problem("shape")),
    Rule("unknown_key", "measured", shape_problem("unknown_key")),
    Rule("unknown_model", "measured", request.unknown_model, 404, "not_found_error"),
    Rule("max_tokens", "measured", request.output_limit),
    Rule("message_count", "documented", request.message_count),
    Rule("role", "measured", messages.bad_role),
    Rule("empty_message", "measured", messages.empty_message),
    Rule("empty_text", "measured", messages.empty_text),
    Rule("unanswered_call", "measured", messages.unanswered_call),
    Rule("unknown_result", "measured", messages.unknown_result),
    Rule("double_result", "measured", messages.double_result),
    Rule("repeated_id", "measured", messages.repeated_id),
    Rule("wrong_side", "measured", messages.wrong_side),
    Rule("tools_missing", "strict", request.tools_missing),
    Rule("error_with_media", "measured", messages.error_with_media),
    Rule("tool_names_unique", "measured", request.tool_names_unique),
    Rule("input_schema", "documented", request.input_schema),
    Rule("tool_choice", "measured", request.tool_choice),
    Rule("prefill", "documented", messages.assistant_end),
    Rule("system_message", "measured", messages.system_message),
    Rule("cache_control", "measured", request.cache_marks),
    Rule("thinking", "documented", request.thinking),
    Rule("bound_thinking", "documented", messages.moved_thinking),
    Rule("changed_thinking", "documented", messages.changed_thinking),
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
) -> Refusal | None:
    """Say what the API would refuse about a request."""
    route = path.partition("?")[0]
    if route not in (MESSAGES_PATH, COUNT_PATH):
        return Refusal(404, "not_found_error", f"Not found: {route}", "path", "documented")
    if method.upper() != "POST":
        text = f"Method not allowed: {method.upper()} {route}; use POST"
        return Refusal(405, "invalid_request_error", text, "method", "documented")
    if size > request.MAX_BYTES:
        text = f"Request exceeds the maximum size: {size} bytes > {request.MAX_BYTES}"
        return Refusal(413, "request_too_large", text, "body_size", "documented")
    asked = Request(body, size, route == COUNT_PATH, beta, signed_here)
    for rule in RULES:
        problem = rule.find(asked)
        if problem is not None:
            note = " (strict: learnkit's own caution)" if rule.provenance == "strict" else ""
            text = problem + note
            return Refusal(rule.status, rule.type, text, rule.name, rule.provenance)
    return None
