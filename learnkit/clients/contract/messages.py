"""What the Messages API refuses about the ``messages`` of a request.

Each rule is a small function: it gets a :class:`Request` and returns the text of the refusal, or
None. ``rules.py`` lists them in order, with where each one comes from.
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from learnkit.clients.contract.request import Request, Turn

ROLES = ("user", "assistant", "system")

#: The one role that may send a type of block.
_SENDERS = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
}


def bad_role(request: Request) -> str | None:
    """A message whose role is none of the API's."""
    for turn in request.turns:
        if turn.role not in ROLES:
            expected = 'Allowed roles are "user" or "assistant"'
            return f'messages: Unexpected role "{turn.role}". {expected}'
    return None


def empty_message(request: Request) -> str | None:
    """A turn without content; only the last one may be empty, if it is the assistant's."""
    for turn in request.turns:
        if not turn.blocks and turn.role == "user":
            return f"messages.{turn.first}: user messages must have non-empty content"
        if not turn.blocks and turn.role == "assistant" and turn is not request.turns[-1]:
            return (
                f"messages.{turn.first}: all messages must have non-empty content except for the "
                "optional final assistant message"
            )
    return None


def empty_text(request: Request) -> str | None:
    """A text block without text, in the messages, in a tool result or in the system prompt."""
    if any(part["type"] == "text" and not part["text"] for part in request.parts):
        return "messages: text content blocks must be non-empty"
    return None


def unanswered_call(request: Request) -> str | None:
    """A tool call without a result in the next turn, before all other content."""
    for turn, after in pairwise([*request.turns, Turn(role="", first=0)]):
        first = takewhile(lambda place: place[2]["type"] == "tool_result", after.blocks)
        answered = {block["tool_use_id"] for _, _, block in first}
        open_calls = [(i, id) for i, _, id in turn.calls if id not in answered]
        if open_calls:
            return (
                f"messages.{open_calls[0][0]}: `tool_use` ids were found without `tool_result` "
                f"blocks immediately after: {', '.join(id for _, id in open_calls)}. Each "
                "`tool_use` block needs its `tool_result` block first in the next message"
            )
    return None


def unknown_result(request: Request) -> str | None:
    """A result for a call that the turn before does not make."""
    called: list[str] = []
    for turn in request.turns:
        for i, j, id in turn.results:
            if id not in called:
                return (
                    f"messages.{i}.content.{j}: unexpected `tool_use_id` found in "
                    f"`tool_result` blocks: {id}. Each `tool_result` block must answer a "
                    "`tool_use` block of the message before it"
                )
        called = [id for _, _, id in turn.calls]
    return None


def double_result(request: Request) -> str | None:
    """A second result for one call."""
    for turn in request.turns:
        seen: set[str] = set()
        for i, j, id in turn.results:
            if id in seen:
                return (
                    f"messages.{i}.content.{j}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {id}"
                )
            seen.add(id)
    return None


def repeated_id(request: Request) -> str | None:
    """A tool use id that an earlier call has."""
    seen: set[str] = set()
    for turn in request.turns:
        for i, j, id in turn.calls:
            if id in seen:
                return f"messages.{i}.content.{j}: `tool_use` ids must be unique"
            seen.add(id)
    return None


def wrong_side(request: Request) -> str | None:
    """A block that only the other role may send."""
    for turn in request.turns:
        for i, _, block in turn.blocks:
            role = _SENDERS.get(block["type"], turn.role)
            if role != turn.role:
                return f"messages.{i}: `{block['type']}` blocks can only be in `{role}` messages"
    return None


def error_with_media(request: Request) -> str | None:
    """A failed tool result that holds more than text."""
    for turn in request.turns:
        for i, j, block in turn.blocks:
            if block["type"] != "tool_result" or not block.get("is_error"):
                continue
            if any(part["type"] != "text" for part in block.get("content", ())):
                where = f"messages.{i}.content.{j}.tool_result"
                return f"{where}: all content must be type 'text' if 'is_error' is true"
    return None


def system_message(request: Request) -> str | None:
    """Where a message of role ``system`` may come."""
    messages = request.body["messages"]
    for i, message in enumerate(messages):
        if message["role"] != "system":
            continue
        if i == 0:
            return "messages.0: use the top-level 'system' parameter for the initial system prompt"
        if messages[i - 1]["role"] != "user":
            return f"messages.{i}: a 'system' message must follow a 'user' message"
        if i + 1 < len(messages) and messages[i + 1]["role"] != "assistant":
            return f"messages.{i}: a 'system' message must precede an 'assistant' message"
        if not message["content"]:
            return f"messages.{i}: 'system' messages must have non-empty content"
        if any(block["type"] != "text" for block in message["content"]):
            return f"messages.{i}: 'system' messages may only hold text blocks"
    return None


def assistant_end(request: Request) -> str | None:
    """A conversation that ends with the assistant."""
    last = request.turns[-1]
    # A reply that stopped inside a server tool (``pause_turn``) is sent back as it is.
    paused = any(block["type"] == "server_tool_use" for _, _, block in last.blocks)
    if last.role != "assistant" or paused:
        return None
    return (
        "This model does not support assistant message prefill. "
        "The conversation must end with a user message."
    )


def moved_thinking(request: Request) -> str | None:
    """Preserved thinking: a block that something changed under, or that was tampered with."""
    hints = {
        "prefix": "Something before it has changed since it was returned",
        "gap": "The thinking block that preceded it is missing or was moved",
    }
    for flaw in request.flaws:
        where = f"messages.{flaw.message}.content.{flaw.block}: Invalid `signature` in `thinking`"
        if flaw.kind in hints:
            return (
                f"{where} block. The block is bound to a different conversation. Remove the "
                'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". '
                f"{hints[flaw.kind]}."
            )
        if flaw.message < max(turn.first for turn in request.turns if turn.role == "assistant"):
            return f"{where} block"
    return None


def changed_thinking(request: Request) -> str | None:
    """A thinking block that was edited, or that ends its turn."""
    for flaw in request.flaws:
        if flaw.kind == "modified":
            return (
                f"messages.{flaw.message}.content.{flaw.block}: `thinking` or `redacted_thinking` "
                "blocks in the latest assistant message cannot be modified. These blocks must "
                "remain as they were in the original response."
            )
    for turn in request.turns:
        for i, _, last in turn.blocks[-1:]:
            if last["type"] in ("thinking", "redacted_thinking"):
                kind = f"`{last['type']}`"
                return f"messages.{i}: The final block in an assistant message cannot be {kind}"
    return None
