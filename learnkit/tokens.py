"""Token estimates: how long a request is, before the API has said so.

Four characters a token is the field's rule of thumb for English text and code. It is an
estimate, so whatever shows one marks it with ≈.
"""

from __future__ import annotations

import json
from typing import Any

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
    text = messages if isinstance(messages, str) else _compact(messages)
    return -(-len(text) // CHARS_PER_TOKEN)
