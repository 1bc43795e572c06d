"""What an image or a PDF costs in tokens: it depends on its size in pixels or pages, not in bytes.

None of the numbers was measured here. The patch is that of the vendor's vision page, as others
quote it; the limits are as others report them (November 2026), an upper bound. An image is seen in
patches of 28 by 28 pixels, a token each. One with an edge over 2,576 pixels, or more than 4,784
patches, is scaled down first; older models scale down earlier, so that this is the upper bound. A
page of a PDF costs 1,500 to 3,000 tokens, of which the upper bound is taken. What cannot be
measured, such as an image behind a URL or one that is neither PNG nor JPEG, counts as the largest.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator
from typing import Any

#: Pixels of a patch's edge and of the longest edge of an image; and the most tokens of an image.
PATCH, LONGEST, MOST = 28, 2_576, 4_784
#: Tokens of a page of a PDF.
PAGE = 3_000

_HEAD = 400_000  # characters of base64 that are looked at for the size; divisible by four
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
    data = block["source"].get("data")
    if block["type"] == "document":
        return PAGE * (_pages(data) if isinstance(data, str) else 1)
    size = size_of(_decoded(data[:_HEAD])) if isinstance(data, str) else None
    if size is None:
        return MOST
    width, height = size
    scale = min(1.0, LONGEST / max(width, height, 1))
    patches = math.ceil(width * scale / PATCH) * math.ceil(height * scale / PATCH)
    return min(MOST, max(1, patches))


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""


def _pages(data: str) -> int:
    return max(1, len(re.findall(rb"/Type\s*/Page(?!s)", _decoded(data))))


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height from the head of an image file; None if it is of no known kind."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return _number(data[16:20]), _number(data[20:24])
    if data.startswith(b"\xff\xd8"):
        return _jpeg_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a frame begins
            return _number(data[place + 7 : place + 9]), _number(data[place + 5 : place + 7])
        place += 2 + _number(data[place + 2 : place + 4])
    return None


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")
