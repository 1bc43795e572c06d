"""Token estimates: how long a request is, before the API has said so.

Four characters a token is the field's rule of thumb for English text and code. An image counts by
its size in pixels (``media_tokens``), as so many characters as its tokens are worth. It is an
estimate, so whatever shows one marks it with ≈. ``TokenCount`` follows one conversation: it
measures each message once, and takes what the API counts into account from the first reply on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from learnkit.core.media_tokens import media, media_tokens

#: Characters a token, to begin with.
CHARS_PER_TOKEN = 4

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def estimate_tokens(messages: Any) -> int:
    """Estimate the tokens of a message, a list of messages, or any other JSON-ready part.

    Args:
        messages: what would be sent; its compact JSON is measured.

    Returns:
        Tokens, rounded up; 0 for an empty list, an empty string or None.
    """
    if not messages:
        return 0
    if isinstance(messages, list):
        return sum(estimate_tokens(one) for one in messages)
    return -(-length(messages) // CHARS_PER_TOKEN)


def sent(usage: Mapping[str, Any]) -> int:
    """All the tokens that a request had, as the API counted them: new ones and cached ones."""
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(kind) or 0 for kind in kinds)


class TokenCount:
    """The estimated length of a conversation that grows, is rewritten now and then, and is sent.

    A turn costs what is new in it: a list that was only appended to is measured from where it
    ended before, and after a rewrite the messages that were kept are not measured again. They are
    known by identity, so a message that is edited in place goes unnoticed until it is replaced.

    Attributes:
        chars_per_token: 4 to begin with, then as the API has counted.
    """

    def __init__(self) -> None:
        self.chars_per_token: float = CHARS_PER_TOKEN
        self._list: Sequence[Any] = ()
        self._sizes: list[tuple[Any, int]] = []
        self._chars = 0

    def measure(self, messages: Sequence[dict[str, Any]], head: int = 0) -> int:
        """Follow the messages to where they are now."""
        if messages is not self._list or len(messages) < len(self._sizes):
            known = {id(message): (message, size) for message, size in self._sizes}
            self._list, self._sizes, self._chars = messages, [], 0
        else:
            known = {}
        for message in messages[len(self._sizes) :]:
            same = known.get(id(message))
            size = same[1] if same is not None else length(message)
            self._sizes.append((message, size))  # which keeps the message, and so its id
            self._chars += size
        return self.tokens(self._chars + head)

    def calibrate(self, chars: int, tokens: int) -> None:
        """Take over what the API counted for a request."""
        if chars > 0 and tokens > 0:
            self.chars_per_token = chars / tokens

    @property
    def chars(self) -> int:
        """Characters of the messages as they were measured last, in compact JSON."""
        return self._chars

    def tokens(self, chars: int) -> int:
        """Return the estimated tokens of a text, rounded up."""
        return math.ceil(round(chars / self.chars_per_token, 6))  # so that 202.0000001 is 202


def length(part: Any) -> int:
    """Return the length of a part of a request, in characters."""
    if not part:
        return 0
    if isinstance(part, str):
        return len(part)
    text = _compact(part)
    size = len(text)
    if '"source":{' in text:  # else there is no image in it
        for block in media(part):
            size += CHARS_PER_TOKEN * media_tokens(block) - len(_compact(block["source"]))
    return size
