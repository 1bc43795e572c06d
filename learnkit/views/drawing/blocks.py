"""HTML fragments for the blocks of a message: text, thinking, calls and results.

Several views use them, so that the same block looks the same everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from learnkit.events.text import arguments, blocks_of, content_text, count
from learnkit.views.drawing import theme
from learnkit.views.drawing.text import esc
from learnkit.views.drawing.theme import Mark

#: Lines and characters of a short text. A longer one is folded, with a button that opens it.
SHORT = 8, 400
#: How a call ends that ran no tool, or whose tool raised; and a command that reports a failure.
_BROKEN = re.compile(r"^There is no tool |^(\w*Error|\w*Exception)\b|^error \d+$")
_FAILED = re.compile(rf"{_BROKEN.pattern}|\[exit code [1-9]\d*\]\s*$")


def label(mark: Mark, after: str = "") -> str:
    """A mark's glyph and word in its colour; ``after`` is HTML that follows the word."""
    return f'<span class="label t-{mark.key}"><i>{mark.glyph}</i> {mark.word}{after}</span>'


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A message with its texts changed, such as cut; the input of a call is one text."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        if value.get("type") == "tool_use":
            value = {**value, "input": {"": arguments(value.get("input", {}))}}
        return {key: with_texts(one, change) for key, one in value.items()}
    return [with_texts(one, change) for one in value] if isinstance(value, list) else value


def long_text(text: str, kind: str = "prose") -> str:
    """A text with its white space, folded to three lines by the player when it is long."""
    lines = text.count("\n") + 1
    short_lines, short_length = SHORT
    shown = esc(text)
    if lines <= short_lines and len(text) <= short_length:
        return f'<div class="{kind}">{shown}</div>'
    size = count(lines, "line") if lines > short_lines else count(len(text), "character")
    return (
        f'<div class="{kind} clip">{shown}</div>'
        f'<button type="button" data-expand aria-expanded="false">show {size}</button>'
    )


def tokens(number: int, new: int = 0) -> str:
    """A number of tokens at the end of its length, on the scale of the page."""
    part = f'<u class="fresh" style="--n:{new}"></u>' if new else ""
    said = f' <span class="t-fresh">{new:,} new</span>' if new else ""
    length = f'<u style="--n:{number - new}"></u>{part}'
    return f'<span class="tokens">{length}<b>≈ {number:,}{said}</b></span>'


def short_id(call_id: object) -> str:
    """The end of an id, which differs from call to call."""
    return str(call_id)[-4:]


def failure(text: str) -> str:
    """What an output says of a failure that its block isn't marked with; empty for nothing."""
    return "reads like a failure, but is_error is not set" if _FAILED.search(text) else ""


def is_broken(block: dict[str, Any]) -> bool:
    """Whether a call has failed: its result says so, or says that no tool has run to its end.

    A command that reports a failure has run.
    """
    return bool(block.get("is_error") or _BROKEN.search(content_text(block.get("content"))))


def pair(lane: str, call_id: object) -> str:
    """The name that a call and its result share in ``data-pair``."""
    return "_".join(f"{lane}/{call_id}".split())


def call(block: dict[str, Any], lane: str, status: Mark | None = None) -> str:
    """A tool call: its name, its status, its id, and its input."""
    state = _state(status.key, status.label) if status else ""
    name, text = str(block.get("name", "?")), _often(block, arguments(block.get("input", {})))
    return _block(theme.CALL, name, state, text, lane, block.get("id"))


def result(block: dict[str, Any], lane: str, name: str | None, status: Mark | None) -> str:
    """A tool result; with its call's status, marked when it is an error, or reads like one."""
    text, state = content_text(block.get("content")), ""
    mark = _mark(block) if status or block.get("is_error") else theme.RESULT
    if name is None:
        state = _state("error", f"{theme.ERROR.glyph} no call has this id")
    elif mark is theme.UNMARKED:
        state = _state("error", failure(text))
    elif mark is theme.ERROR and status:
        state = _state("error", status.word if status.key == "blocked" else "failed")
    return _block(mark, name or "", state, _often(block, text), lane, block.get("tool_use_id"))


def _often(block: dict[str, Any], text: str) -> str:
    """A text, and before it how many neighbouring blocks it stands for."""
    return f"{block['times']} × {text}" if "times" in block else text


def failed(block: dict[str, Any]) -> str:
    """The text of a result that is an error, or reads like one; empty for another."""
    return "" if _mark(block) is theme.RESULT else content_text(block.get("content")) or "(empty)"


def _mark(block: dict[str, Any]) -> Mark:
    plain = theme.UNMARKED if failure(content_text(block.get("content"))) else theme.RESULT
    return theme.ERROR if block.get("is_error") else plain


def joined(block: str, place: int | None) -> str:
    """A call or a result with its half of the line between them, in one of three lanes."""
    return block if place is None else f'<div class="joined" style="--p:{place % 3}">{block}</div>'


def _state(key: str, said: str) -> str:
    return f'<span class="state t-{key}">{said}</span>'


#: What stands at the right of a text that no person has written.
FROM_HARNESS = _state(theme.INJECTED.key, "from the harness")


def _block(mark: Mark, name: str, state: str, text: str, lane: str, call_id: object) -> str:
    # A text of one line stands beside its head.
    short = " short" * ("\n" not in text.rstrip() and len(text) <= SHORT[1])
    body = long_text(text, "code") if text else '<div class="code none">(empty)</div>'
    chip = f'<span class="id" title="{esc(call_id)}">id {esc(short_id(call_id))}</span>'
    start = f'<div class="block m-{mark.key}{short}" data-pair="{esc(pair(lane, call_id))}"'
    return (
        f'{start} tabindex="0">'
        f'<div class="line">{label(mark, f" <b>{esc(name)}</b>" if name else "")}{state}{chip}'
        f"</div>{body}</div>"
    )


def text(block_text: str, injected: bool = False) -> str:
    """A text block; injected text gets its own mark, so that it isn't taken for the user's."""
    body = long_text(block_text)
    if not injected:
        return body
    head = f'<div class="line">{label(theme.INJECTED)}{FROM_HARNESS}</div>'
    return f'<div class="block m-injected">{head}{body}</div>'


def thinking(block: dict[str, Any]) -> str:
    """A thinking block, which may be signed and empty, or redacted."""
    thought = block.get("thinking") or ""
    if not thought:
        word = "redacted" if block.get("type") == "redacted_thinking" else "signed, not shown"
        return f'<div class="thinking">thinking ({word})</div>'
    return f'<div class="thinking">thinking{long_text(str(thought))}</div>'


def other(block: dict[str, Any]) -> str:
    """A block of a type that this version doesn't know: the type and the details."""
    kind = str(block.get("type", "block"))
    details = {key: value for key, value in block.items() if key != "type"}
    body = long_text(arguments(details), "code")
    return f'<div class="thinking">{esc(kind)}{body}</div>'


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A block on one line, for pictures and tables.

    Attributes:
        mark: what kind it is; None for plain text of the message's own role.
        text: raw text, of any length.
        pair: the call id that a call and its result share.
        name: the tool, when it is a call.
    """

    mark: Mark | None
    text: str
    pair: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.text}" if self.name else self.text


def lines(message: dict[str, Any], injected: bool = False) -> list[BlockLine]:
    """A message as lines, one for each block."""
    found: list[BlockLine] = []
    for block in blocks_of(message.get("content")):
        kind = block.get("type")
        if kind == "text":
            mark = theme.INJECTED if injected else None
            found.append(BlockLine(mark, str(block.get("text", ""))))
        elif kind == "tool_use":
            text, id = _often(block, arguments(block.get("input", {}))), str(block.get("id"))
            found.append(BlockLine(theme.CALL, text, id, str(block.get("name", "?"))))
        elif kind == "tool_result":
            injected = True  # text after results isn't the user's
            text = _often(block, content_text(block.get("content")) or "(empty)")
            found.append(BlockLine(_mark(block), text, str(block.get("tool_use_id"))))
        elif kind in ("thinking", "redacted_thinking"):
            found.append(BlockLine(None, f"thinking: {block.get('thinking') or '(not shown)'}"))
        else:
            found.append(BlockLine(None, f"[{kind}]"))
    return found or [BlockLine(None, "(empty)")]
