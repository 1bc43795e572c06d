"""Output as a model gets it: text, and never more of it than a context can bear."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import IO

#: Characters that are kept of one result, head and tail together.
OUTPUT_LIMIT = 50_000


def decoded(file: IO[bytes]) -> Iterator[str]:
    """The text of a file, in parts; bytes that are not UTF-8 become replacement characters."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    file.seek(0)
    while chunk := file.read(1 << 20):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def head_and_tail(parts: Iterable[str], limit: int = OUTPUT_LIMIT) -> tuple[str, bool]:
    """Join ``parts``; leave out the middle of what is longer than ``limit`` characters."""
    head = tail = ""
    total = 0
    for part in parts:
        total += len(part)
        tail = (tail + part)[-limit:]
        head += part[: limit - len(head)]
    if total <= limit:
        return head, False
    note = "\n[… {:,} characters left out …]\n"
    room = max(0, limit - len(note.format(total)))
    before = (room + 1) // 2
    return head[:before] + note.format(total - room) + tail[len(tail) - (room - before) :], True
