"""What a request holds, message by message: its canonical form, running hash and length.

The API is stateless, so every request repeats the whole conversation. A running hash over its parts
says two things: which recorded request it is, and how much of it a prompt cache would have held.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from learnkit.core.content import clean
from learnkit.core.token_count import estimate_tokens

Body = dict[str, Any]

#: Keys of a request that change nothing about what the model sees.
IGNORED = frozenset({"messages", "stream", "metadata", "cache_control", "service_tier"})

# Keys of a block that say nothing new: signatures are verified by the contract, and made anew.
_UNSEEN = frozenset({"cache_control", "signature"})

# What differs from run to run: temporary folders, UUIDs, times of day; and the slots that replace
# them in a recording. /tmp always counts, since a recording may come from a machine whose temporary
# folder is another one. In JSON a line begins after \\n, which ends in a letter.
_START = r"(?:(?<![0-9A-Za-z_])|(?<=\\[nrtbf]))"
_VOLATILE = re.compile(
    rf"(?:/private)?(?:/tmp|{re.escape(tempfile.gettempdir())})/[\w./-]*[\w-]"
    rf"|{_START}[0-9a-f]{{8}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{12}}\b"
    rf"|{_START}\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|⟦slot (?P<slot>\d{1,6})⟧"
)
_HINTS = ("/tmp/", tempfile.gettempdir(), "⟦slot ")
_SLOT = re.compile(r"⟦slot (\d+)⟧")

# Where the keys of a schema are names of the author's, and no keywords.
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(slots=True)
class Prefix:
    """A request in canonical form.

    Attributes:
        body: the request as it came.
        canon: canonical JSON of the head (all but the messages), then of each message.
        hashes: running hash after the head, and after each message.
        tokens: estimated tokens of each of these parts, as the views count them: of the head, the
            system prompt and the tools.
        slots: the volatile values, in order of first appearance.
    """

    body: Body
    canon: list[str]
    hashes: list[str]
    tokens: list[int]
    slots: list[str]

    @classmethod
    def of(cls, body: Body, before: Prefix | None = None) -> Prefix:
        """Bring a request into canonical form."""
        messages, known = body["messages"], len(before.body["messages"]) if before else 0
        if before and before.body == {**body, "messages": messages[:known]}:
            new = cls(body, [*before.canon], [*before.hashes], [*before.tokens], [*before.slots])
        else:
            new, known = cls(body, [], [], [], []), 0
            new._add(_encode(_normal_head(body)), _head_tokens(body))
        for message in messages[known:]:
            new._add(_encode(_normal_message(message)), estimate_tokens(_unmarked(message)))
        return new

    @property
    def hash(self) -> str:
        """The hash of the whole request."""
        return self.hashes[-1]

    @property
    def marked(self) -> int:
        """How many of the parts a cache is asked to keep: those up to the last mark."""
        if "cache_control" in self.body:
            return len(self.tokens)
        for index in range(len(self.body["messages"]), 0, -1):
            if _is_marked(self.body["messages"][index - 1].get("content")):
                return index + 1
        return int(_is_marked(self.body.get("system")) or _is_marked(self.body.get("tools")))

    def shared(self, before: Prefix | None) -> int:
        """How many parts, from the start, are the same as in another request."""
        # The hashes are running ones: two that are equal have equal ones before them.
        return sum(map(str.__eq__, self.hashes, before.hashes)) if before else 0

    def extended(self, message: dict[str, Any]) -> Prefix:
        """This request with one more message."""
        return Prefix.of({**self.body, "messages": [*self.body["messages"], message]}, self)

    def fill(self, value: Any) -> Any:
        """Put the volatile values back where a recorded reply has slots.

        Lone surrogates go, too: neither JSON in UTF-8 nor a recording can hold them.
        """
        return map_texts(value, lambda text: _SLOT.sub(self._slot_value, clean(text)))

    def hide(self, value: Any) -> Any:
        """The reverse of :meth:`fill`: the volatile values of this request become slots."""
        return json.loads(_VOLATILE.sub(self._slot_known, _encode(value)))

    def _add(self, canonical: str, tokens: int) -> None:
        canonical = self._slotted(canonical)
        seed = self.hashes[-1] if self.hashes else ""
        self.canon.append(canonical)
        digest = hashlib.sha256(f"{seed}\n{canonical}".encode("utf-8", "surrogatepass"))
        self.hashes.append(digest.hexdigest())
        self.tokens.append(tokens)

    def _slotted(self, text: str) -> str:
        if text.count("-") < 2 and not any(one in text for one in _HINTS):
            return text  # the pattern is slow, and most messages hold nothing of the kind
        return _VOLATILE.sub(self._slot_number, text)

    def _slot_number(self, match: re.Match[str]) -> str:
        value, number = match.group(), match.group("slot")
        if number is not None:  # from a recording: it has its number already, and takes it up
            if int(number) == len(self.slots) + 1:
                self.slots.append(value)
            return value
        if value not in self.slots:
            self.slots.append(value)
        return self._slot_known(match)

    def _slot_known(self, match: re.Match[str]) -> str:
        value = match.group()
        known = value in self.slots and match.group("slot") is None
        return f"⟦slot {self.slots.index(value) + 1}⟧" if known else value

    def _slot_value(self, match: re.Match[str]) -> str:
        number = int(match.group(1))
        return self.slots[number - 1] if number <= len(self.slots) else match.group()


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value with all its texts changed, those in lists and the values of objects too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_texts(one, change) for one in value]
    if isinstance(value, dict):
        return {key: map_texts(one, change) for key, one in value.items()}
    return value


def _is_marked(parts: Any) -> bool:
    return isinstance(parts, list) and any(part.get("cache_control") for part in parts)


def _unmarked(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the marks for the cache in its blocks."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [without_mark(block) for block in content]}


def without_mark(part: dict[str, Any]) -> dict[str, Any]:
    """A block or a tool without its mark for the cache."""
    return {name: value for name, value in part.items() if name != "cache_control"}


def unmarked(body: Body) -> Body:
    """Return a request without the marks for the cache in its system prompt and tools.

    A system prompt that is one block of text is that text.
    """
    plain = dict(body)
    for key in ("system", "tools"):
        if isinstance(body.get(key), list):
            plain[key] = [without_mark(part) for part in body[key]]
    match plain.get("system"):
        case [{"type": "text", "text": text, **rest}] if not rest:
            plain["system"] = text
    return plain


def _head_tokens(body: Body) -> int:
    """Of the parts before the messages, those that a model reads; settings add nothing to them."""
    plain = unmarked(body)
    return estimate_tokens(plain.get("system")) + estimate_tokens(plain.get("tools"))


def _normal_head(body: Body) -> Body:
    head = {key: value for key, value in body.items() if key not in IGNORED}
    if "tools" in head:
        head["tools"] = [_normal_tool(tool) for tool in head["tools"]]
    system = head.get("system")
    if isinstance(system, list):
        head["system"] = "\n".join(block.get("text", "") for block in system)
    return head


def _normal_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool without what only the library that made its schema cares about."""
    kept = {key: value for key, value in tool.items() if key not in ("cache_control", "type")}
    return {**kept, "input_schema": _normal_schema(kept.get("input_schema"))}


def _normal_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_normal_schema(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    normal = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, dict):
            normal[key] = {name: _normal_schema(one) for name, one in value.items()}
        elif key not in ("title", "additionalProperties", "default"):
            normal[key] = _normal_schema(value)
    return normal


def _normal_message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if isinstance(content, list):
        content = [
            {key: value for key, value in block.items() if key not in _UNSEEN} for block in content
        ]
    return {"role": message.get("role"), "content": content}
