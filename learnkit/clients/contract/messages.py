"""What the Messages API refuses about the ``messages`` of a request, one small function a rule.

A rule gets the survey of the messages and returns the text of the refusal, or None. ``contract.py``
has them in order, with where each one comes from.
"""

from __future__ import annotations

import re

from learnkit.clients.contract.survey import THINKING, Survey, Turn

_ID = re.compile(r"[a-zA-Z0-9_-]+")


def bad_role(found: Survey) -> str | None:
    if found.role is None:
        return None
    return f'messages: Unexpected role "{found.role}". Allowed roles are "user" or "assistant"'


def empty_message(found: Survey) -> str | None:
    for turn in found.turns:
        if turn.blocks == 0 and turn.role == "user":
            return f"messages.{turn.first}: user messages must have non-empty content"
        if turn.blocks == 0 and turn.role == "assistant" and turn is not found.turns[-1]:
            return (
                f"messages.{turn.first}: all messages must have non-empty content except for the "
                "optional final assistant message"
            )
    return None


def empty_text(found: Survey) -> str | None:
    return "messages: text content blocks must be non-empty" if found.empty_text else None


def unanswered_call(found: Survey) -> str | None:
    for turn, after in _pairs(found):
        if turn.calls:
            answered = {id for _, _, id in after.results}
            open_calls = [(i, id) for i, _, id in turn.calls if id not in answered]
            if open_calls:
                return _unanswered(open_calls[0][0], [id for _, id in open_calls])
    return None


def late_result(found: Survey) -> str | None:
    for turn, after in _pairs(found):
        if after.late:
            late = [(i, id) for i, _, id in turn.calls if id in after.late]
            if late:
                return _unanswered(late[0][0], [id for _, id in late])
    return None


def unknown_result(found: Survey) -> str | None:
    before = Turn("", 0)
    for turn in found.turns:
        if turn.results:
            calls = {id for _, _, id in before.calls}
            for i, j, id in turn.results:
                if id not in calls:
                    return (
                        f"messages.{i}.content.{j}: unexpected `tool_use_id` found in "
                        f"`tool_result` blocks: {id}. Each `tool_result` block must answer a "
                        "`tool_use` block of the message before it"
                    )
        before = turn
    return None


def double_result(found: Survey) -> str | None:
    for turn in found.turns:
        if len(turn.results) > 1:
            seen: set[str] = set()
            for i, j, id in turn.results:
                if id in seen:
                    return (
                        f"messages.{i}.content.{j}: each tool_use must have a single result. "
                        f"Found multiple `tool_result` blocks with id: {id}"
                    )
                seen.add(id)
    return None


def repeated_id(found: Survey) -> str | None:
    seen: set[str] = set()
    for turn in found.turns:
        for i, j, id in turn.calls:
            if id in seen:
                return f"messages.{i}.content.{j}: `tool_use` ids must be unique"
            seen.add(id)
    return None


def bad_id(found: Survey) -> str | None:
    for turn in found.turns:
        for i, j, id in turn.calls:
            if not _ID.fullmatch(id):
                return (
                    f"messages.{i}.content.{j}.tool_use.id: "
                    "String should match pattern '^[a-zA-Z0-9_-]+$'"
                )
    return None


def wrong_side(found: Survey) -> str | None:
    return found.misplaced


def error_with_media(found: Survey) -> str | None:
    if found.error_media is None:
        return None
    return f"{found.error_media}: all content must be type 'text' if 'is_error' is true"


def system_message(found: Survey, supported: bool) -> str | None:
    """Where a message of role ``system`` may stand, on models that take one."""
    messages = found.messages
    for i in found.system:
        content = messages[i].get("content")
        if i == 0:
            return "messages.0: use the top-level 'system' parameter for the initial system prompt"
        if not supported:
            return "role 'system' is not supported on this model"
        if messages[i - 1]["role"] != "user":
            return f"messages.{i}: a 'system' message must follow a 'user' message"
        if i + 1 < len(messages) and messages[i + 1]["role"] != "assistant":
            return f"messages.{i}: a 'system' message must precede an 'assistant' message"
        if not content:
            return f"messages.{i}: 'system' messages must have non-empty content"
        if not isinstance(content, str) and any(block["type"] != "text" for block in content):
            return f"messages.{i}: 'system' messages may only hold text blocks"
    return None


def assistant_end(found: Survey) -> str | None:
    if found.turns[-1].role != "assistant" or _paused(found):
        return None
    return (
        "This model does not support assistant message prefill. "
        "The conversation must end with a user message."
    )


def trailing_space(found: Survey) -> str | None:
    last = found.messages[-1]
    content = last["content"]
    text = content if isinstance(content, str) else content and content[-1].get("text")
    if last["role"] == "assistant" and text and text != text.rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return None


def thinking_end(found: Survey) -> str | None:
    for i, message in enumerate(found.messages):
        content = message["content"]
        if isinstance(content, list) and content and content[-1]["type"] in THINKING:
            following = found.messages[i + 1 : i + 2]
            if not following or following[0]["role"] != "assistant":
                return (
                    f"messages.{i}: The final block in an assistant message cannot be "
                    f"`{content[-1]['type']}`"
                )
    return None


def _paused(found: Survey) -> bool:
    """A reply that stopped inside a server tool (``pause_turn``) is sent back as it is."""
    start = found.turns[-1].first
    blocks = [
        block
        for m in found.messages[start:]
        if isinstance(m["content"], list)
        for block in m["content"]
    ]
    return any(block["type"] == "server_tool_use" for block in blocks)


def _pairs(found: Survey) -> list[tuple[Turn, Turn]]:
    """Each turn with the one after it; the last with an empty one."""
    return list(zip(found.turns, [*found.turns[1:], Turn("", 0)], strict=True))


def _unanswered(i: int, ids: list[str]) -> str:
    return (
        f"messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block needs its `tool_result` block first in the next "
        "message"
    )


def latest_assistant(found: Survey) -> int:
    """Where the last turn of the assistant begins; past the end if there is none."""
    starts = [turn.first for turn in found.turns if turn.role == "assistant"]
    return starts[-1] if starts else len(found.messages)
