"""What an image or a PDF costs in tokens, however many bytes it has.

Neither number was measured here. An image counts as the largest one, whatever its pixels: 4,784
patches of 28 by 28, a token each, as others report the limit (November 2026); most cost less. A
page of a PDF costs 1,500 to 3,000 tokens, of which the upper bound is taken.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

#: The most tokens that an image costs.
MOST = 4_784
#: Tokens of a page of a PDF.
PAGE = 3_000

_BESIDE = ("image", "document")


def media(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the image and document blocks of a message whose content is not text."""
    if isinstance(part, list):
        for one in part:
            yield from media(one)
    elif isinstance(part, dict):
        source = part.get("source")
        if part.get("type") in _BESIDE and isinstance(source, dict):
            if source.get("type") in ("base64", "url", "file"):
                yield part
                return
            yield from media(source.get("content"))
        yield from media(part.get("content"))


def media_tokens(block: dict[str, Any]) -> int:
    """Estimate what an image or a document costs, in tokens."""
    if block["type"] == "image":
        return MOST
    data = block["source"].get("data")
    return PAGE * (_pages(data) if isinstance(data, str) else 1)


def _pages(data: str) -> int:
    try:
        decoded = base64.b64decode(data)
    except (binascii.Error, ValueError):
        return 1
    return max(1, len(re.findall(rb"/Type\s*/Page(?!s)", decoded)))
