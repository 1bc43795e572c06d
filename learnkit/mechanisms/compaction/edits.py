"""What can be cleared from a message array without breaking it: pure functions, no model asked.

The API wants every call answered, results that were returned where they belong, and thinking only
after the messages that it was about. So results are cleared and never removed, thinking after a
change is dropped, and an array is cut only where no call would lose its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from learnkit.core.token_count import length
from learnkit.core.tools import Tool

Message = dict[str, Any]

#: Results longer than this are worth clearing, in characters.
WORTH = 100

_NONE: Mapping[str, Tool] = {}
_THINKING = ("thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result in a message array.

    Attributes:
        index: of its message.
        block: index of its block in the message.
        id: of the call.
        name: of the tool.
        chars: length of its content, in characters.
        failed: it is marked as an error.
    """

    index: int
    block: int
    id: str
    name: str
    chars: int
    failed: bool


def results(messages: Sequence[Message]) -> list[Result]:
    """Every tool result, in order."""
    names: dict[str, str] = {}
    found = []
    for index, message in enumerate(messages):
        for number, block in enumerate(_blocks(message)):
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                id, failed = block["tool_use_id"], bool(block.get("is_error"))
                name = names.get(id, "a tool")
                chars = _length(block.get("content", ""))
                found.append(Result(index, number, id, name, chars, failed))
    return found


def seen(messages: Sequence[Message]) -> int:
    """How many messages the model has answered: those up to its last reply."""
    last = (i for i in range(len(messages), 0, -1) if messages[i - 1]["role"] == "assistant")
    return next(last, 0)


def protected(found: Sequence[Result], keep: int, tools: Mapping[str, Tool]) -> list[Result]:
    """The results that stay: the last ones, and those that still hold."""
    kept = list(found[max(0, len(found) - keep) :])
    last = {}
    for one in found:
        tool = tools.get(one.name)
        if tool and tool.holds == "always":
            kept.append(one)
        elif tool and tool.holds == "last":
            last[tool.name] = one
    return [*kept, *last.values()]


def clearable(
    messages: Sequence[Message], keep: int = 3, tools: Mapping[str, Tool] = _NONE
) -> list[Result]:
    """The results that may go: seen by the model, old, long, no failures, nothing that holds."""
    found, end = results(messages), seen(messages)
    kept = {one.id for one in protected(found, keep, tools)}
    return [
        one
        for one in found
        if one.index < end and one.chars > WORTH and not one.failed and one.id not in kept
    ]


def shortened(messages: Sequence[Message], chosen: Sequence[Result]) -> list[Message]:
    """A new array in which some results are cleared: only the tool's name is left.

    What does not change is shared with the old one.
    """
    new = list(messages)
    for one in chosen:
        message = new[one.index]
        blocks = [*message["content"]]
        blocks[one.block] = {**blocks[one.block], "content": f"[Previous: used {one.name}]"}
        new[one.index] = {**message, "content": blocks}
    return new


def without_stale_thinking(messages: Sequence[Message], changed: int) -> list[Message]:
    """The array without the thinking after a change, which was about the messages as they were."""
    new = list(messages)
    for index, message in enumerate(messages[changed:], start=changed):
        blocks = _blocks(message)
        kept = [block for block in blocks if block["type"] not in _THINKING]
        if len(kept) < len(blocks):
            new[index] = {**message, "content": kept}
    return new


def cut_before(messages: Sequence[Message], index: int) -> int:
    """The nearest place at or before ``index`` where the array can be cut: no pair is split."""
    while index > 0 and index < len(messages) and _answers(messages[index]):
        index -= 1
    return index


def pending(messages: Sequence[Message]) -> int:
    """Where what the model has not seen yet begins, with the calls that it answers."""
    return cut_before(messages, seen(messages))


def _answers(message: Message) -> bool:
    return any(block["type"] == "tool_result" for block in _blocks(message))


def _blocks(message: Message) -> list[dict[str, Any]]:
    content = message["content"]
    return [] if isinstance(content, str) else content


def _length(content: str | Sequence[dict[str, Any]]) -> int:
    if isinstance(content, str):
        return len(content)
    return sum(length(block["text"] if block["type"] == "text" else block) for block in content)
