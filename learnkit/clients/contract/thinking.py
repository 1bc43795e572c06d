"""Signatures of thinking blocks, made and verified offline.

On current models a returned thinking block is bound to everything that came before it: the system
prompt, the tools and the earlier messages. The real signature is opaque; this one is a MAC over a
running hash of that prefix, so the rule can be checked in one pass without a server. A signature
reads ``link.own.prefix``: the block before it, the block's own text, and the prefix.

The hash ignores what does not change the conversation: ``cache_control``, the order of keys, plain
string against one text block, how messages of one role are split, and thinking blocks (dropping
older ones is allowed; the link notices when one is missing between others).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from learnkit.clients.request_hash import without_mark

#: A constant in public source, not a secret: it detects honest edits, and is no protection.
_KEY = b"learnkit: offline signatures, not a secret"

#: The link of a thinking block that has none before it.
_FIRST = "0"

_THINKING = ("thinking", "redacted_thinking")
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Flaw:
    """A thinking block that is not as it was returned, at ``messages[message].content[block]``.

    ``kind`` says what differs: the block itself (``modified``), something before it (``prefix``),
    or the thinking block that came before it (``gap``).
    """

    message: int
    block: int
    kind: Literal["modified", "prefix", "gap"]


def sign_reply(body: dict[str, Any], content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every thinking block of a reply its signature."""
    if not any(block.get("type") == "thinking" for block in content):
        return content
    prefix = _Prefix(body)
    for message in body["messages"]:
        prefix.turn(message["role"])
        for block in _blocks(message["content"]):
            prefix.add(block)
    prefix.turn("assistant")
    signed = []
    for block in content:
        if block.get("type") == "thinking":
            link, text = prefix.link, block.get("thinking", "")
            block = {**block, "signature": f"{link}.{_own(f'{link}:{text}')}.{prefix.mac()}"}
        prefix.add(block)
        signed.append(block)
    return signed


def flaws(body: dict[str, Any], *, bound: bool) -> list[Flaw]:
    """Find the thinking blocks of a request that differ from what was returned."""
    prefix, found = _Prefix(body), []
    for index, message in enumerate(body["messages"]):
        prefix.turn(message["role"])
        for position, block in enumerate(_blocks(message["content"])):
            if block["type"] == "thinking":
                link, _, rest = block["signature"].partition(".")
                own, _, mac = rest.partition(".")
                if own != _own(f"{link}:{block['thinking']}"):
                    found.append(Flaw(index, position, "modified"))
                elif bound and prefix.link not in (_FIRST, link):
                    found.append(Flaw(index, position, "gap"))
                elif bound and mac != prefix.mac():
                    found.append(Flaw(index, position, "prefix"))
            prefix.add(block)
    return found


class _Prefix:
    """A running hash over system prompt, tools and blocks, in the order of the conversation."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.link = _FIRST
        self._hash = hashlib.blake2b()
        self._role = ""
        self._parts: list[str] = []
        for block in _blocks(body.get("system") or ()):
            self.add(block)
        tools = [without_mark(tool) for tool in body.get("tools") or ()]
        self._parts.append(_encode(tools))

    def turn(self, role: str) -> None:
        if role != self._role:  # messages of one role in a row are one turn
            self._role = role
            self._parts.append(f"@{role}")

    def add(self, block: dict[str, Any]) -> None:
        kind, add = block["type"], self._parts.append
        if kind == "text":
            if (block.get("text") or "").strip():  # a blank one cannot be sent back: no binding
                add(_text(block["text"]))
        elif kind == "tool_use":
            add(f"u{block['id']}:{block.get('name')}")
            given = block.get("input")  # a scripted reply may lack it, as some servers' do
            for key, value in sorted(given.items() if isinstance(given, dict) else ()):
                add(f"{key}={_encode(value)}")
        elif kind == "tool_result":
            add(f"r{block['tool_use_id']}:{'error' if block.get('is_error') else ''}")
            for part in _blocks(block.get("content") or ()):
                add(_encode(without_mark(part)))
        elif kind in _THINKING:
            self.link = _own(block.get("signature") or block.get("data") or "")
        else:
            add(f"o{_encode(without_mark(block))}")

    def mac(self) -> str:
        if self._parts:
            self._hash.update("\n".join(self._parts).encode("utf-8", "surrogatepass"))
            self._hash.update(b"\n")  # the same bytes however often a MAC is asked for
            self._parts.clear()
        return hashlib.blake2b(self._hash.digest(), key=_KEY, digest_size=12).hexdigest()


def _text(text: str) -> str:
    """With its length in front, so that where a text ends is part of what is hashed."""
    return f"t{len(text)}:{text}"


def _own(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=_KEY, digest_size=8).hexdigest()


def _blocks(content: Any) -> Any:
    """Content as blocks; a plain string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
