"""The shape of a request: which keys it may have, which it must have, and the types of the values.

The shape is declared as typed dictionaries, and pydantic compares a request with them. The API is
known to do the same, so the texts of its refusals come out by themselves. Keys that this course
never looks into have values of type ``Any``. What depends on several values at once, or on the
model, is left to the rules of ``messages.py`` and ``request.py``.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, Required

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

_closed = with_config(ConfigDict(extra="forbid", strict=True))
_open = with_config(ConfigDict(extra="allow", strict=True))

#: Keys that are let through when a request names betas in its header.
BETA = frozenset(
    {"billing_policy", "compaction", "context_management", "fallback_credit_token", "fallbacks"}
    | {"mcp_servers", "thread"}
)


def _as_blocks(content: Any) -> Any:
    """Content as blocks: a plain string is one text block, or none if it is empty."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def _tool_kind(tool: Any) -> str | None:
    """A tool without a type is the caller's own; one with another type is the API's."""
    kind = tool.get("type") if isinstance(tool, dict) else None
    return "custom" if kind in (None, "custom") else "typed"


@_closed
class Text(TypedDict, total=False):
    """A block of text."""

    type: Required[Literal["text"]]
    text: Required[str]
    citations: Any
    cache_control: Any


@_closed
class ToolUse(TypedDict, total=False):
    """A call of a tool."""

    type: Required[Literal["tool_use"]]
    id: Required[Annotated[str, StringConstraints(pattern="^[a-zA-Z0-9_-]+$")]]
    name: Required[str]
    input: Required[dict[str, Any]]
    caller: Any
    toolset_name: Any
    cache_control: Any


@_open
class Inside(TypedDict, total=False):
    """What a tool result may hold besides text."""

    type: Required[Literal["image", "document", "search_result", "tool_reference", "browser_state"]]


@_closed
class ToolResult(TypedDict, total=False):
    """The result of a call."""

    type: Required[Literal["tool_result"]]
    tool_use_id: Required[str]
    content: Annotated[
        list[Annotated[Text | Inside, Discriminator("type")]], BeforeValidator(_as_blocks)
    ]
    is_error: Any
    toolset_name: Any
    cache_control: Any


@_closed
class Thinking(TypedDict):
    """A block of thinking, with its signature."""

    type: Literal["thinking"]
    thinking: str
    signature: str


@_closed
class RedactedThinking(TypedDict):
    """A block of thinking that only the API can read."""

    type: Literal["redacted_thinking"]
    data: str


@_open
class Other(TypedDict):
    """A block that this course does not use."""

    type: Literal[
        "image",
        "document",
        "search_result",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "container_upload",
    ]


Block = Annotated[
    Text | ToolUse | ToolResult | Thinking | RedactedThinking | Other, Discriminator("type")
]


@_closed
class Message(TypedDict):
    """A message; afterwards its content is always a list of blocks."""

    role: str
    content: Annotated[list[Block], BeforeValidator(_as_blocks)]


@_open
class InputSchema(TypedDict):
    """The JSON schema of a tool's input."""

    type: Literal["object"]


@_closed
class CustomTool(TypedDict, total=False):
    """A tool that the caller runs."""

    name: Required[Annotated[str, StringConstraints(pattern="^[a-zA-Z0-9_-]{1,128}$")]]
    input_schema: Required[InputSchema]
    type: Any
    allowed_callers: Any
    cache_control: Any
    defer_loading: Any
    description: Any
    eager_input_streaming: Any
    input_examples: Any
    strict: Any


Tool = Annotated[
    Annotated[CustomTool, Tag("custom")] | Annotated[dict[str, Any], Tag("typed")],
    Discriminator(_tool_kind),
]


@_closed
class Counted(TypedDict, total=False):
    """What goes to ``count_tokens``."""

    model: Required[str]
    messages: Required[list[Message]]
    system: Annotated[list[Text] | None, BeforeValidator(_as_blocks)]
    tools: list[Tool] | None
    tool_choice: dict[str, Any] | None
    thinking: dict[str, Any] | None
    cache_control: Any
    output_config: Any
    speed: Any


@_closed
class Created(Counted, total=False):
    """What asks for a message."""

    max_tokens: Required[int]
    stop_sequences: list[Any] | None
    container: Any
    diagnostics: Any
    inference_geo: Any
    metadata: Any
    service_tier: Any
    stream: Any
    # Not in the SDK's signature any more; known here so that they get an answer of their own.
    temperature: Any
    top_p: Any
    top_k: Any


@cache
def _adapter(counting: bool) -> TypeAdapter[Any]:
    return TypeAdapter(Counted if counting else Created)


def parse(
    body: dict[str, Any], *, counting: bool = False, beta: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """Compare a request with its declared shape."""
    if beta:
        body = {key: value for key, value in body.items() if key not in BETA}
    try:
        return _adapter(counting).validate_python(body), {}
    except ValidationError as error:
        problems: dict[str, str] = {}
        for one in error.errors(include_url=False, include_context=False, include_input=False):
            kind = "unknown_key" if one["type"] == "extra_forbidden" else "shape"
            if one["type"] == "missing" and len(one["loc"]) == 1:
                kind = "required"
            problems.setdefault(kind, f"{'.'.join(map(str, one['loc']))}: {one['msg']}")
        return {}, problems
