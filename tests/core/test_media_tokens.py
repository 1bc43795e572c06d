"""What images and PDFs cost: the most that one may, and by its pages, whatever their bytes."""

from __future__ import annotations

import base64
from typing import Any

from learnkit.core.media_tokens import MOST, PAGE, media_tokens
from learnkit.core.token_count import TokenCount, estimate_tokens, length
from learnkit.mechanisms.compaction.edits import results


def image(size: int) -> dict[str, Any]:
    """An image block with so many bytes, of which no one looks at any."""
    text = base64.b64encode(bytes(size)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": text}}


def test_an_image_costs_the_most_that_one_may() -> None:
    at_a_url = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    assert {media_tokens(one) for one in (image(0), image(300_000), at_a_url)} == {MOST}


def test_a_pdf_costs_by_its_pages() -> None:
    pages = b"%PDF-1.4 /Type /Pages " + b"<< /Type /Page >> << /Type/Page >> " * 3
    source = {"type": "base64", "data": base64.b64encode(pages + bytes(500_000)).decode()}
    assert media_tokens({"type": "document", "source": source}) == 6 * PAGE
    for damaged in (base64.b64encode(b"%PDF-1.4").decode(), "", "no base64"):
        source["data"] = damaged
        assert media_tokens({"type": "document", "source": source}) == PAGE


def test_three_hundred_kilobytes_of_image_are_not_a_hundred_thousand_tokens() -> None:
    block = image(300_000)
    inside = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
    document = {"type": "document", "source": {"type": "content", "content": [block]}}
    for message in (
        {"role": "user", "content": [block]},
        {"role": "user", "content": [inside]},
        {"role": "user", "content": [document]},
    ):
        assert MOST <= estimate_tokens(message) < MOST + 60
        assert estimate_tokens([message, message]) == 2 * estimate_tokens(message)
        assert TokenCount().measure([message]) == -(-length(message) // 4)
    call = {"type": "tool_use", "id": "t1", "name": "shot", "input": {}}
    array = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [inside]}]
    assert results(array)[0].chars < 4 * MOST + 200
