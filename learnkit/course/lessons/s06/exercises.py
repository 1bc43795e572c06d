"""Lesson 6's exercises: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def check_largest(largest: Any) -> Verdict:
    """Free some tokens of old results."""
    old = {"a": 400, "b": 2_000, "c": 800, "d": 4_000}
    cases: Cases = (
        ("3,000 tokens, which d alone frees", (old, 3_000), ["d"]),
        ("4,000, which is just what d frees", (old, 4_000), ["d"]),
        ("4,001, for which d isn't enough, and b is the next largest", (old, 4_001), ["d", "b"]),
        ("0 tokens", (old, 0), []),
        ("9,999 tokens, which is more than all free", (old, 9_999), ["d", "b", "c", "a"]),
    )
    if wrong := first_wrong(largest, cases):
        return wrong
    largest(given := dict(old), 4_001)
    return None if given == old else "it changed the dict that it was given"


def _message(calls: str = "", results: str = "", text: str = "") -> dict[str, Any]:
    """A message with a block for each letter, and perhaps a text."""
    use: dict[str, Any] = {"type": "tool_use", "name": "bash", "input": {"command": "ls"}}
    blocks: list[dict[str, Any]] = [{**use, "id": id} for id in calls]
    blocks += [{"type": "tool_result", "tool_use_id": id, "content": "-"} for id in results]
    blocks += [{"type": "text", "text": text}] if text else []
    return {"role": "assistant" if calls else "user", "content": blocks}


def check_orphans(orphans: Any) -> Verdict:
    """Look for pairs that were split."""
    go: dict[str, Any] = {"role": "user", "content": "Go."}
    two, both, end = _message("ab"), _message(results="ab"), _message(text="A tool_result, b.")
    one = _message(results="a", text="Stop.")
    cases: Cases = (
        ("a conversation with all pairs", ([go, two, both, end],), list[str]()),
        ("a conversation whose calls were cut off", ([go, both, end],), ["a", "b"]),
        ("a conversation in which only a has a result", ([go, two, one, end],), ["b"]),
        ("a conversation that ends with two calls", ([go, two],), ["a", "b"]),
        ("a prompt between calls and results", ([go, two, go, both],), ["a", "b"]),
        ("no messages", ([],), list[str]()),
    )
    return first_wrong(orphans, cases, lambda ids: sorted({*ids}))
