"""JSON that others may have written: every reason why it cannot be read is one kind of error.

A state file is edited by hand, copied from another system, or damaged. Python's parser raises
``RecursionError`` for text that is nested deeply, and takes ``NaN``, which no strict parser reads
back. Here both are a ``ValueError``, like text that is no JSON at all.
"""

from __future__ import annotations

import json
from typing import Any

#: Levels of lists and objects that stored data may have. What is read can be written again: Python
#: gives up at several times as many.
MAX_DEPTH = 200


def parse(text: bytes) -> Any:
    """Return the value that a JSON text holds; a byte order mark before it is passed over."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        value, deep = None, True
    else:
        deep = text.count(b"[") + text.count(b"{") > MAX_DEPTH and not _fits(value)
    if deep:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    return value


def _refuse(number: str) -> Any:
    raise ValueError(f"{number} is no JSON number")


def _fits(value: Any) -> bool:
    """Whether a value has at most ``MAX_DEPTH`` levels; found without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return True
    return False
