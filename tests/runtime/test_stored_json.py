"""JSON that others wrote: what is read can be written again, and all else is one kind of error."""

from __future__ import annotations

import pytest

from learnkit.runtime.stored_json import MAX_DEPTH, parse


def nested(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"[]" + b"}" * (levels - 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[", "Expecting value"),
        (b"[NaN]", "NaN is no JSON number"),
        (b"[-Infinity]", "-Infinity is no JSON number"),
        (nested(MAX_DEPTH + 1), f"more than {MAX_DEPTH} levels deep"),
        (b"[" * 100_000, f"more than {MAX_DEPTH} levels deep"),
    ],
)
def test_what_cannot_be_written_again_is_refused(text: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse(text)


@pytest.mark.parametrize("text", [nested(MAX_DEPTH), b'["' + b"[{" * MAX_DEPTH + b'"]', b"[{}]"])
def test_deep_and_wide_values_and_a_mark_before_them_are_read(text: bytes) -> None:
    assert parse(b"\xef\xbb\xbf" + text) == parse(text)
