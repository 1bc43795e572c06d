"""What the Messages API refuses about the parameters of a request, one small function a rule.

A rule gets a :class:`Request` and returns the text of the refusal, or None. ``contract.py`` has
them in order, with where each one comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from learnkit.clients.contract.survey import Survey, survey
from learnkit.clients.contract.thinking import Flaw, Reading, reading
from learnkit.core.catalog import MODELS, THINKING_TYPES, ModelSpec
from learnkit.core.token_count import estimate_tokens

MAX_MESSAGES = 100_000
MAX_BYTES = 32 * 1024 * 1024
MAX_CACHED = 4
MIN_BUDGET = 1024

#: Not in the SDK's signature any more; known here so that they get an answer of their own.
SAMPLING = ("temperature", "top_p", "top_k")
_COUNTED = frozenset(
    {"cache_control", "messages", "model", "output_config", "speed", "system", "thinking"}
    | {"tool_choice", "tools"}
)
_CREATED = _COUNTED | {
    "container",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "metadata",
    "service_tier",
    "stop_sequences",
    "stream",
    *SAMPLING,
}
_BETA = frozenset(
    {"billing_policy", "compaction", "context_management", "fallback_credit_token", "fallbacks"}
    | {"mcp_servers", "thread"}
)
_TOOL_KEYS = frozenset(
    {"allowed_callers", "cache_control", "defer_loading", "description", "eager_input_streaming"}
    | {"input_examples", "input_schema", "name", "strict", "type"}
)


@dataclass
class Request:
    """A request and what the rules keep asking about it, each worked out once and when needed.

    Attributes:
        body: the parsed JSON body.
        size: bytes of the body as sent; 0 when not known.
        counting: it goes to ``count_tokens``.
        beta: it names betas in an ``anthropic-beta`` header.
        signed_here: its thinking blocks were signed by :mod:`learnkit.clients.contract.thinking`.
        before: an accepted request that this one may continue; saves reading the same again.
    """

    body: dict[str, Any]
    size: int = 0
    counting: bool = False
    beta: bool = False
    signed_here: bool = True
    before: Request | None = None

    @cached_property
    def spec(self) -> ModelSpec:
        return MODELS[self.body["model"]]

    @cached_property
    def messages(self) -> Survey:
        return survey(self.body["messages"], self.before.messages if self.before else None)

    @cached_property
    def tools(self) -> list[Any]:
        return self.body.get("tools") or []

    @cached_property
    def own_tools(self) -> list[tuple[int, dict[str, Any]]]:
        """The tools that the caller runs, with their places; a typed one is the API's own."""
        return [(i, t) for i, t in enumerate(self.tools) if t.get("type") in (None, "custom")]

    @cached_property
    def flaws(self) -> list[Flaw]:
        """Thinking blocks that are not as they were returned."""
        return self.reading.flaws if self.reading else []

    @cached_property
    def reading(self) -> Reading | None:
        """What its thinking blocks are bound to; None if it has none that could be verified."""
        if not (self.signed_here and self.messages.thinking):
            return None
        bound = self.spec.preserved_thinking and not self._may_drop
        before = self.before.reading if self.before else None
        return reading(self.body, bound=bound, before=before)

    @property
    def _may_drop(self) -> bool:
        binding = (self.body.get("thinking") or {}).get("block_binding")
        return isinstance(binding, dict) and (
            binding.get("prefix_mismatch_behavior") == "drop_block"
        )


def missing(request: Request) -> str | None:
    needed = ("model", "messages") if request.counting else ("model", "max_tokens", "messages")
    for name in needed:
        if name not in request.body:
            return f"{name}: Field required"
    return None


def malformed(request: Request) -> str | None:
    """Values of a type that no request may have, so that the later rules can rely on theirs."""
    body = request.body
    kinds: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
        ("model", str, "string"),
        ("max_tokens", int, "integer"),
        ("messages", list, "list"),
        ("system", (str, list), "string or list"),
        ("tools", list, "list"),
        ("tool_choice", dict, "dictionary"),
        ("thinking", dict, "dictionary"),
        ("stop_sequences", list, "list"),
    )
    for name, kind, noun in kinds:
        value = body.get(name)
        wrong = not isinstance(value, kind) or isinstance(value, bool)
        if wrong and (value is not None or name in ("model", "max_tokens", "messages")):
            if name == "max_tokens" and name not in body:
                continue
            return f"{name}: Input should be a valid {noun}"
    system = body.get("system")
    for i, block in enumerate(system if isinstance(system, list) else ()):
        if not isinstance(block, dict) or not isinstance(block.get("text"), str):
            return f"system.{i}: Input should be a text block"
    for i, tool in enumerate(request.tools):
        if not isinstance(tool, dict):
            return f"tools.{i}: Input should be a valid dictionary"
    return request.messages.shape


def unknown_key(request: Request) -> str | None:
    allowed = _COUNTED if request.counting else _CREATED
    for name in request.body:
        if name not in allowed and not (request.beta and name in _BETA):
            return f"{name}: Extra inputs are not permitted"
    for i, tool in request.own_tools:
        for name in tool:
            if name not in _TOOL_KEYS:
                return f"tools.{i}.custom.{name}: Extra inputs are not permitted"
    return request.messages.extra


def unknown_model(request: Request) -> str | None:
    model = request.body["model"]
    return None if model in MODELS else f"model: {model}"


def output_limit(request: Request) -> str | None:
    asked, cap = request.body.get("max_tokens", 1), request.spec.max_output
    if asked < 0:
        return "max_tokens: Input should be greater than or equal to 0"
    if asked > cap:
        return (
            f"max_tokens: {asked} > {cap}, which is the maximum allowed number of output tokens "
            f"for {request.spec.id}"
        )
    return None


def message_count(request: Request) -> str | None:
    count = len(request.body["messages"])
    if count == 0:
        return "messages: at least one message is required"
    if count > MAX_MESSAGES:
        return f"messages: at most {MAX_MESSAGES:,} messages are allowed, not {count:,}"
    return None


def empty_system_text(request: Request) -> str | None:
    system = request.body.get("system")
    if isinstance(system, list) and any(block["text"] == "" for block in system):
        return "system: text content blocks must be non-empty"
    return None


def cache_marks(request: Request) -> str | None:
    system = request.body.get("system")
    parts = [request.body, *request.tools, *(system if isinstance(system, list) else ())]
    count = sum(1 for part in parts if part.get("cache_control")) + request.messages.cached
    if count <= MAX_CACHED:
        return None
    return f"A maximum of 4 blocks with cache_control may be provided. Found {count}."


def thinking(request: Request) -> str | None:
    """Which thinking a model can be asked for, and what goes with it."""
    config, spec = request.body.get("thinking") or {}, request.spec
    kind = config.get("type")
    if config and kind not in THINKING_TYPES:
        return f"thinking: Input tag {kind!r} does not match any of the expected tags"
    if config and kind not in spec.accepts:
        if spec.thinking == "manual":
            return f'"thinking.type.{kind}" is not supported for this model.'
        return (
            f'"thinking.type.{kind}" is not supported for this model. Use '
            '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    if kind == "enabled":
        budget, limit = config.get("budget_tokens"), request.body.get("max_tokens")
        if not isinstance(budget, int):
            return "thinking.enabled.budget_tokens: Field required"
        if budget < MIN_BUDGET:
            return (
                "thinking.enabled.budget_tokens: "
                f"Input should be greater than or equal to {MIN_BUDGET}"
            )
        if limit is not None and budget >= limit:
            return "`max_tokens` must be greater than `thinking.budget_tokens`."
    choice = (request.body.get("tool_choice") or {}).get("type")
    if choice in ("any", "tool") and (spec.thinking == "always" or kind in ("adaptive", "enabled")):
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


def sampling(request: Request) -> str | None:
    for name in SAMPLING:
        if name in request.body:
            return f"`{name}` is deprecated for this model."
    return None


def stop_sequences(request: Request) -> str | None:
    for stop in request.body.get("stop_sequences") or ():
        if not isinstance(stop, str) or not stop.strip():
            return "stop_sequences: each stop sequence must contain non-whitespace"
    return None


def prompt_length(request: Request) -> str | None:
    """Only for a body of known size: a token has at least one byte, which settles most of them."""
    window = request.spec.window
    if request.size <= window or request.messages.media:  # images are not counted by the letter
        return None
    body = request.body
    tokens = sum(estimate_tokens(body.get(part)) for part in ("system", "tools", "messages"))
    if tokens <= window:
        return None
    return f"prompt is too long: {tokens} tokens > {window} maximum"
