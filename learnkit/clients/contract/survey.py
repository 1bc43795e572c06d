"""One walk over the messages of a request, for the rules of the contract.

Each rule of ``contract_messages`` is a few lines over what :func:`survey` found, so a long
conversation is read once and not once a rule. It survives any JSON value: what is malformed is
noted and left out. Consecutive messages of one role are one turn, here as in the API.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

_KEYS = frozenset({"role", "content"})
_COMMON = frozenset({"type", "cache_control"})
#: Block type -> the keys it may have. None: a block this course does not use, whose keys are free.
BLOCKS: dict[str, frozenset[str] | None] = {
    "text": _COMMON | {"text", "citations"},
    "tool_use": _COMMON | {"id", "name", "input", "caller", "toolset_name"},
    "tool_result": _COMMON | {"tool_use_id", "content", "is_error", "toolset_name"},
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "image": None,
    "document": None,
    "search_result": None,
    "server_tool_use": None,
    "web_search_tool_result": None,
    "web_fetch_tool_result": None,
    "code_execution_tool_result": None,
    "bash_code_execution_tool_result": None,
    "text_editor_code_execution_tool_result": None,
    "tool_search_tool_result": None,
    "container_upload": None,
}
#: What a tool result may hold besides text.
_INSIDE_RESULTS = frozenset(
    {"text", "image", "document", "search_result", "tool_reference", "browser_state"}
)
#: Block types that carry thinking.
THINKING = ("thinking", "redacted_thinking")


@dataclass(slots=True)
class Turn:
    """A run of messages of one role.

    ``calls`` and ``results`` are (message, block, tool use id); ``late`` holds the ids of results
    that other content stands before.
    """

    role: str
    first: int
    last: int = 0
    blocks: int = 0
    mixed: bool = False
    # Tuples, since most turns have none and an empty one costs nothing.
    calls: tuple[tuple[int, int, str], ...] = ()
    results: tuple[tuple[int, int, str], ...] = ()
    late: tuple[str, ...] = ()


@dataclass(slots=True)
class Survey:
    """What one walk over the messages found; texts are the messages of refusals."""

    messages: list[Any]
    turns: list[Turn] = field(default_factory=list)
    shape: str | None = None
    extra: str | None = None
    role: str | None = None
    empty_text: bool = False
    misplaced: str | None = None
    error_media: str | None = None
    cached: int = 0
    thinking: bool = False
    media: bool = False
    system: list[int] = field(default_factory=list)


def survey(messages: list[Any], before: Survey | None = None) -> Survey:
    """Walk the messages once and note what the rules ask about.

    Args:
        messages: the ``messages`` of a request, of whatever shape.
        before: a survey of messages that these may continue; then only the new ones are walked
            over. It stays as it is.
    """
    found, turn, known = Survey(messages), Turn("", 0), 0
    if before is not None and before.turns and continues(messages, before.messages):
        known, turn = len(before.messages), replace(before.turns[-1])
        turns = [*before.turns[:-1], turn]
        found = replace(before, messages=messages, turns=turns, system=[*before.system])
    for i, message in enumerate(messages[known:], start=known):
        if not isinstance(message, dict):
            found.shape = found.shape or f"messages.{i}: Input should be an object"
            continue
        role, content = message.get("role"), message.get("content")
        if message.keys() != _KEYS:
            _message_keys(found, i, message)
        if role != turn.role:
            turn = Turn(role if isinstance(role, str) else "", i)
            found.turns.append(turn)
            if role not in ("user", "assistant", "system") and "role" in message:
                found.role = found.role or str(role)
        if role == "system":
            found.system.append(i)
        turn.last = i
        if isinstance(content, str):
            if content:
                turn.blocks += 1
                turn.mixed = True
        elif isinstance(content, list):
            turn.blocks += len(content)
            for j, block in enumerate(content):
                _block(found, turn, i, j, block)
        elif "content" in message:
            found.shape = found.shape or f"messages.{i}.content: Input should be a valid list"
    return found


def continues(messages: list[Any], before: list[Any]) -> bool:
    """Whether messages begin with all of those before."""
    return len(messages) >= len(before) and messages[: len(before)] == before


def _block(found: Survey, turn: Turn, i: int, j: int, block: Any) -> None:
    """Note one content block: its shape, and what the rules want to know about it."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in BLOCKS:
        found.shape = found.shape or (
            f"messages.{i}.content.{j}: Input tag {kind!r} found using 'type' does not match any "
            "of the expected tags"
        )
        return
    allowed = BLOCKS[kind]
    if allowed is not None and not allowed.issuperset(block):
        extra = next(key for key in block if key not in allowed)
        where = f"messages.{i}.content.{j}.{kind}.{extra}"
        found.extra = found.extra or f"{where}: Extra inputs are not permitted"
    if block.get("cache_control"):
        found.cached += 1
    if kind == "tool_result":
        _result(found, turn, i, j, block)
        return
    turn.mixed = True
    if kind == "text":
        text = block.get("text")
        if not isinstance(text, str):
            _malformed(found, i, j, block, "text", "string")
        elif not text:
            found.empty_text = True
    elif kind == "tool_use":
        id = block.get("id")
        if not isinstance(id, str):
            _malformed(found, i, j, block, "id", "string")
        elif not isinstance(block.get("name"), str):
            _malformed(found, i, j, block, "name", "string")
        elif not isinstance(block.get("input"), dict):
            _malformed(found, i, j, block, "input", "dictionary")
        elif turn.role == "assistant":
            turn.calls += ((i, j, id),)
        else:
            _misplaced(found, i, kind, "assistant")
    elif kind in THINKING:
        found.thinking = True
        for key in ("signature", "thinking") if kind == "thinking" else ("data",):
            if not isinstance(block.get(key), str):
                _malformed(found, i, j, block, key, "string")
        if turn.role != "assistant":
            _misplaced(found, i, kind, "assistant")
    elif "source" in block:
        found.media = True


def _result(found: Survey, turn: Turn, i: int, j: int, block: dict[str, Any]) -> None:
    id, content = block.get("tool_use_id"), block.get("content", "")
    if not isinstance(id, str):
        _malformed(found, i, j, block, "tool_use_id", "string")
    elif turn.role == "user":
        turn.results += ((i, j, id),)
        if turn.mixed:
            turn.late += (id,)
    else:
        _misplaced(found, i, "tool_result", "user")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        _malformed(found, i, j, block, "content", "list")
        return
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str) or kind not in _INSIDE_RESULTS:
            _malformed(found, i, j, block, "content", "list of text, image or document blocks")
            continue
        if part.get("cache_control"):
            found.cached += 1
        if kind != "text":
            found.media = True
            if block.get("is_error"):
                found.error_media = found.error_media or f"messages.{i}.content.{j}.tool_result"
        elif not isinstance(part.get("text"), str):
            _malformed(found, i, j, block, "content", "list of text, image or document blocks")
        elif not part["text"]:
            found.empty_text = True


def _message_keys(found: Survey, i: int, message: dict[str, Any]) -> None:
    for key in ("role", "content"):
        if key not in message:
            found.shape = found.shape or f"messages.{i}.{key}: Field required"
    for key in message:
        if key not in _KEYS:
            found.extra = found.extra or f"messages.{i}.{key}: Extra inputs are not permitted"


def _malformed(found: Survey, i: int, j: int, block: dict[str, Any], key: str, wanted: str) -> None:
    problem = f"Input should be a valid {wanted}" if key in block else "Field required"
    found.shape = found.shape or f"messages.{i}.content.{j}.{block['type']}.{key}: {problem}"


def _misplaced(found: Survey, i: int, kind: str, role: str) -> None:
    found.misplaced = (
        found.misplaced or f"messages.{i}: `{kind}` blocks can only be in `{role}` messages"
    )
