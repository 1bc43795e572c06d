"""What images and PDFs cost: by their pixels and pages, however many bytes they have."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.core.media_tokens import MOST, PAGE, media_tokens
from learnkit.core.token_count import TokenCount, estimate_tokens, length
from learnkit.mechanisms.compaction.edits import results


def png(width: int, height: int, noise: int = 0) -> bytes:
    """A PNG file; noise adds so many bytes that cannot be compressed."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + bytes(width) for _ in range(height)))
    text = chunk(b"tEXt", b"noise\0" + random.Random(1).randbytes(noise))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + text
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def jpeg(width: int, height: int) -> bytes:
    """The head of a JPEG file, with a long comment before its frame."""
    comment = b"\xff\xfe" + struct.pack(">H", 60_002) + b"\xff" * 60_000
    tables = b"\xff\xc4\x00\x04ab"  # begins like a frame, and is none
    return (
        b"\xff\xd8"
        + comment
        + tables
        + b"\xff\xc2\x00\x0b\x08"
        + struct.pack(">HH", height, width)
        + b"\1\1\x11\0"
    )


def image(data: bytes) -> dict[str, Any]:
    text = base64.b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": text}}


@pytest.mark.parametrize(
    "data",
    [
        png(800, 600),
        png(800, 600, noise=300_000),
        jpeg(800, 600),
    ],
    ids=["png", "large png", "jpeg"],
)
def test_an_image_costs_what_its_patches_cost(data: bytes) -> None:
    assert media_tokens(image(data)) == 29 * 22  # 800 / 28 and 600 / 28, rounded up


@given(
    st.binary(max_size=60),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8"]),
)
def test_no_file_is_too_damaged(data: bytes, head: bytes) -> None:
    assert 1 <= media_tokens(image(head + data)) <= MOST


def test_a_pdf_costs_by_its_pages() -> None:
    pages = b"%PDF-1.4 /Type /Pages " + b"<< /Type /Page >> << /Type/Page >> " * 3
    source = {"type": "base64", "data": base64.b64encode(pages + bytes(500_000)).decode()}
    assert media_tokens({"type": "document", "source": source}) == 6 * PAGE
    source["data"] = base64.b64encode(b"%PDF-1.4").decode()
    assert media_tokens({"type": "document", "source": source}) == PAGE


def test_three_hundred_kilobytes_of_image_are_not_a_hundred_thousand_tokens() -> None:
    block = image(png(800, 600, noise=300_000))
    inside = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
    document = {"type": "document", "source": {"type": "content", "content": [block]}}
    for message in (
        {"role": "user", "content": [block]},
        {"role": "user", "content": [inside]},
        {"role": "user", "content": [document]},
    ):
        assert 29 * 22 <= estimate_tokens(message) < 29 * 22 + 60
        assert estimate_tokens([message, message]) == 2 * estimate_tokens(message)
        assert TokenCount().measure([message]) == -(-length(message) // 4)
    call = {"type": "tool_use", "id": "t1", "name": "shot", "input": {}}
    array = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [inside]}]
    assert results(array)[0].chars < 4 * 29 * 22 + 200
