"""What the Messages API refuses about the parameters and the tools of a request.

Each rule is a small function: it gets a :class:`Request` and returns the text of the refusal, or
None. ``rules.py`` lists them in order, with where each one comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from learnkit.clients.contract import shape
from learnkit.clients.contract.thinking import Flaw, flaws
from learnkit.core.catalog import MODELS, THINKING_TYPES, ModelSpec
from learnkit.core.token_count import estimate_tokens

Block = dict[str, Any]

MAX_BYTES = 32 * 1024 * 1024
MAX_CACHED = 4

#: Parameters of older versions of the API. They are part of the shape, for a refusal of their own.
SAMPLING = ("temperature", "top_p", "top_k")


@dataclass(slots=True)
class Turn:
    """Consecutive messages of one role, which the API takes as one.

    Attributes:
        role: user, assistant or system.
        first: index of its first message.
        blocks: its content, as (message, position in the message, block).
        calls: its tool calls if it is the assistant's, as (message, position, tool use id).
        results: its tool results if it is the user's, likewise.
    """

    role: str
    first: int
    blocks: list[tuple[int, int, Block]] = field(default_factory=list)
    calls: list[tuple[int, int, str]] = field(default_factory=list)
    results: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass
class Request:
    """A request and what the rules keep asking about it, each worked out once and when needed.

    Attributes:
        raw: the parsed JSON body, as it came.
        size: bytes of the body as sent; 0 when not known.
        counting: it goes to ``count_tokens``.
        beta: it names betas in an ``anthropic-beta`` header.
        signed_here: its thinking blocks were signed by :mod:`learnkit.clients.contract.thinking`.
        body: the body with all content as lists of blocks; empty if its shape is wrong.
        problems: what is wrong with its shape, by rule.
    """

    raw: dict[str, Any]
    size: int = 0
    counting: bool = False
    beta: bool = False
    signed_here: bool = True

    def __post_init__(self) -> None:
        self.body, self.problems = shape.parse(self.raw, counting=self.counting, beta=self.beta)

    @cached_property
    def spec(self) -> ModelSpec:
        """The facts about its model."""
        return MODELS[self.body["model"]]

    @cached_property
    def turns(self) -> list[Turn]:
        """Its messages, with consecutive ones of one role as one turn."""
        turns: list[Turn] = []
        for i, message in enumerate(self.body["messages"]):
            if not turns or turns[-1].role != message["role"]:
                turns.append(Turn(message["role"], i))
            turn = turns[-1]
            for j, block in enumerate(message["content"]):
                kind = block["type"]
                if kind == "tool_use" and turn.role == "assistant":
                    turn.calls.append((i, j, block["id"]))
                elif kind == "tool_result" and turn.role == "user":
                    turn.results.append((i, j, block["tool_use_id"]))
                turn.blocks.append((i, j, block))
        return turns

    @cached_property
    def parts(self) -> list[Block]:
        """The system prompt's blocks, all blocks of the messages, and those inside tool results."""
        parts = list(self.body.get("system") or ())
        for turn in self.turns:
            for _, _, block in turn.blocks:
                parts.append(block)
                if block["type"] == "tool_result":
                    parts += block.get("content", ())
        return parts

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools it offers."""
        return self.body.get("tools") or []

    @cached_property
    def flaws(self) -> list[Flaw]:
        """Thinking blocks that are not as they were returned."""
        if not (self.signed_here and any(part["type"] == "thinking" for part in self.parts)):
            return []
        binding = (self.body.get("thinking") or {}).get("block_binding")
        drops = isinstance(binding, dict) and (
            binding.get("prefix_mismatch_behavior") == "drop_block"
        )
        return flaws(self.body, bound=self.spec.preserved_thinking and not drops)


def shape_problem(rule: str) -> Callable[[Request], str | None]:
    """The rule that reports one kind of problem with the shape."""
    return lambda request: request.problems.get(rule)


def unknown_model(request: Request) -> str | None:
    """A model that the catalogue does not list."""
    model = request.body["model"]
    return None if model in MODELS else f"model: {model}"


def output_limit(request: Request) -> str | None:
    """A ``max_tokens`` below 0, or above what the model can write."""
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
    """No message."""
    return None if request.body["messages"] else "messages: at least one message is required"


def cache_marks(request: Request) -> str | None:
    """More cache marks than the API takes."""
    parts = [request.body, *request.tools, *request.parts]
    count = sum(1 for part in parts if part.get("cache_control"))
    if count <= MAX_CACHED:
        return None
    return f"A maximum of {MAX_CACHED} blocks with cache_control may be provided. Found {count}."


def thinking(request: Request) -> str | None:
    """Which thinking a model can be asked for, and what goes with it."""
    config, spec = request.body.get("thinking") or {}, request.spec
    kind = config.get("type")
    if config and kind not in THINKING_TYPES:
        return f"thinking: Input tag {kind!r} does not match any of the expected tags"
    if config and kind not in spec.accepts:
        return (
            f'"thinking.type.{kind}" is not supported for this model. Use '
            '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    choice = (request.body.get("tool_choice") or {}).get("type")
    if choice in ("any", "tool") and (spec.always_thinks or kind in ("adaptive", "enabled")):
        return "Thinking may not be enabled when tool_choice forces tool use."
    return None


def sampling(request: Request) -> str | None:
    """Sampling parameters, which current models do not take."""
    for name in SAMPLING:
        if name in request.body:
            return f"`{name}` is deprecated for this model."
    return None


def stop_sequences(request: Request) -> str | None:
    """A stop sequence that is blank."""
    for stop in request.body.get("stop_sequences") or ():
        if not isinstance(stop, str) or not stop.strip():
            return "stop_sequences: each stop sequence must contain non-whitespace"
    return None


def prompt_length(request: Request) -> str | None:
    """Only for a body of known size: a token has at least one byte, which settles most of them."""
    window = request.spec.window
    if request.size <= window or any("source" in part for part in request.parts):
        return None  # the tokens of an image do not follow from its bytes
    texts = (request.raw.get(part) for part in ("system", "tools", "messages"))
    tokens = sum(map(estimate_tokens, texts))
    if tokens <= window:
        return None
    return f"prompt is too long: {tokens} tokens > {window} maximum"


def tools_missing(request: Request) -> str | None:
    """Calls or results in a request that offers no tools."""
    if request.tools or not any(turn.calls or turn.results for turn in request.turns):
        return None
    return "Requests which include `tool_use` or `tool_result` blocks must define tools"


def tool_names_unique(request: Request) -> str | None:
    """Two tools of one name."""
    names = [str(tool["name"]) for tool in request.tools if "name" in tool]
    return "tools: Tool names must be unique." if len(set(names)) < len(names) else None


def input_schema(request: Request) -> str | None:
    """A schema with a choice at its top level."""
    for i, tool in enumerate(request.tools):
        if tool.get("type") in (None, "custom") and not tool["input_schema"].keys().isdisjoint(
            ("oneOf", "allOf", "anyOf")
        ):
            where = f"tools.{i}.custom.input_schema"
            return f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    return None


def tool_choice(request: Request) -> str | None:
    """A forced choice without tools, or of a tool that is not offered."""
    choice = request.body.get("tool_choice")
    if choice is None:
        return None
    kind = choice.get("type")
    if kind not in ("auto", "any", "tool", "none"):
        return f"tool_choice: Input tag {kind!r} does not match any of the expected tags"
    if kind in ("any", "tool") and not request.tools:
        return f"tool_choice.{kind} may only be specified while providing tools"
    if kind == "tool" and "name" not in choice:
        return "tool_choice.tool.name: Field required"
    if kind == "tool" and choice["name"] not in [tool.get("name") for tool in request.tools]:
        return f"Tool '{choice['name']}' not found in provided tools"
    return None
