"""Lesson 6's exercises: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Verdict


def check_largest(largest: Any) -> Verdict:
    """Free some tokens of old results."""
    old = {"a": 400, "b": 2_000, "c": 800, "d": 4_000}
    for tokens, wanted, why in (
        (3_000, ["d"], "d alone frees 4,000"),
        (4_000, ["d"], "d frees 4,000, which is enough"),
        (4_001, ["d", "b"], "d isn't enough, and b is the next largest"),
        (0, [], "nothing has to be freed"),
        (9_999, ["d", "b", "c", "a"], "all of them together free less"),
    ):
        given = dict(old)
        ids = largest(given, tokens)
        if given != old:
            return "it changed the dict that it was given"
        if not isinstance(ids, list):
            return f"it returned {ids!r}; it should return a list of ids"
        if ids != wanted:
            return f"to free {tokens:,} of {old}, it cleared {ids}; it should be {wanted}: {why}"
    return None


def _call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "bash", "input": {"command": "ls"}}


def _result(id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": "(no output)"}


def check_orphans(orphans: Any) -> Verdict:
    """Look for pairs that were split."""
    go: dict[str, Any] = {"role": "user", "content": "Go."}
    two = {"role": "assistant", "content": [_call("a"), _call("b")]}
    both = {"role": "user", "content": [_result("a"), _result("b")]}
    one = {"role": "user", "content": [_result("a"), {"type": "text", "text": "Stop."}]}
    end = {"role": "assistant", "content": [{"type": "text", "text": "A tool_result, b."}]}
    for messages, wanted, what in (
        ([go, two, both, end], [], "with all pairs"),
        ([go, both, end], ["a", "b"], "whose calls were cut off"),
        ([go, two, one, end], ["b"], "in which only a has a result"),
        ([go, two], ["a", "b"], "that ends with two calls"),
        ([go, two, go, both], ["a", "b", "a", "b"], "with a prompt between calls and results"),
        ([], [], "without messages"),
    ):
        ids = orphans([{**message} for message in messages])
        if not isinstance(ids, list | set | tuple):
            return f"it returned {ids!r}; it should return the ids"
        if {*ids} != {*wanted}:
            found = f"{sorted(ids)}" if ids else "none"
            return f"in a conversation {what}, it found {found}; it should find {sorted({*wanted})}"
    return None


EXERCISES = {
    "largest": check_largest,
    "orphans": check_orphans,
}
