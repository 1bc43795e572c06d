"""Lesson 6's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.core.tools import tool
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.mechanisms.compaction.edits import clearable, results
from learnkit.mechanisms.compaction.policies import Change


def _rounds(sizes: list[int], *names: str) -> list[dict[str, Any]]:
    """A conversation with one call in each round; the results have these lengths.

    The first calls are of the tools ``names``, the others of ``read_file``.
    """
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, size in enumerate(sizes):
        id = f"t{number}"
        name = names[number] if number < len(names) else "read_file"
        call = {"type": "tool_use", "id": id, "name": name, "input": {}}
        result = {"type": "tool_result", "tool_use_id": id, "content": "x" * size}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    return messages


def check_saved(saved: Any) -> Verdict:
    """Check how many tokens all compactions saved together."""
    log = lk.EventLog()
    told = saved(log)
    if told is None:
        return "your function returned None; it should return a number of tokens"
    if told != 0 or isinstance(told, bool):
        return f"no compaction saves no tokens, but your function returned {_shown(told)}, not 0"
    log.append("compaction.cleared", results=[], before=6_000, after=4_000)
    more: dict[str, Any] = {"chars_per_token": 4.0, "messages": 9}
    log.append("tokens.estimated", tokens=4_000, threshold=8_000, **more)
    log.append("compaction.failed", error="no")
    log.append("compaction.summarised", before=9_000, after=1_000, transcript="x", focus="")
    if (told := saved(log)) != 10_000:
        return (
            "a clearing from 6,000 to 4,000 tokens and a summary from 9,000 to 1,000 saved 10,000 "
            f"together, but your function returned {_shown(told)}"
        )
    return None


def _shown(value: object) -> str:
    """A value as it is shown in a sentence; a whole log would be no help there."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        return f"{value:,}"
    return f"an object of type {type(value).__name__}"


SAVED_LOOP = """
def saved(events):
    total = 0
    for event in events:
        if "before" in event.data and "after" in event.data:
            total += event.data["before"] - event.data["after"]
    return total
""".strip()


def check_tail(tail: Any) -> Verdict:
    """Check for the last messages, at least so many, that begin where no pair is split."""
    messages = _rounds([10] * 3)
    both = [*messages[:5], {"role": "user", "content": "What is a tool_result?"}, *messages[5:]]
    for array, number, wanted in (
        (messages, 2, messages[5:]),
        (messages, 1, messages[5:]),
        (messages, 3, messages[3:]),
        (messages, 7, messages),
        (messages, 50, messages),
        (both, 3, both[5:]),
        (messages, 0, []),
    ):
        given = tail([*array], number)
        call = f"tail(messages, {number})"
        if not isinstance(given, list | tuple):
            return f"{call} returned {given!r}; it should return a list of messages"
        given = list(given)
        if any(message not in array for message in given):
            return f"{call} returned something that isn't one of the messages"
        called = {
            block["id"]
            for message in given
            if message["role"] == "assistant"
            for block in message["content"]
        }
        if any(one.id not in called for one in results(given)):
            return f"{call} begins with a result whose call is cut off, so the API would refuse it"
        if not wanted and given:
            return (
                f"{call} should return an empty list; your function returned {len(given)} messages"
            )
        if given != wanted:
            others = " others" if len(given) == len(wanted) else ""
            mentions = ". A text that mentions a tool_result isn't one" if array is both else ""
            return (
                f"{call} should return the last {len(wanted)} of {len(array)} messages, the fewest "
                f"that cut no pair; your function returned {len(given)}{others}{mentions}"
            )
    return None


TAIL_BLOCKS = """
def tail(messages, number):
    def answers(message):
        content = message["content"]
        return not isinstance(content, str) and any(b["type"] == "tool_result" for b in content)

    kept = messages[-number:] if number else []
    if 0 < len(kept) < len(messages) and answers(kept[0]):
        return messages[-number - 1 :]
    return kept
""".strip()


def check_largest(Largest: Any) -> Verdict:
    """Check that a policy clears the largest old results first, and no more than it has to."""
    policy = Largest()
    change = policy.choose(_rounds([4_000] * 6), 1_000, 1_000, {})
    if change is not None:
        return "1,000 tokens are not over a threshold of 1,000, so choose should return None"
    sizes = [400, 2_000, 800, 4_000, 1_200, *[300] * 3]
    for tokens, wanted, first in ((1_400, [4_000], 8), (2_600, [4_000, 2_000, 1_200], 4)):
        messages = _rounds(sizes)
        over = f"with {tokens:,} tokens and a threshold of 1,000"
        change = policy.choose(messages, tokens, 1_000, {})
        if change is None:
            return f"{over}, choose returned None; it should return a Change that clears results"
        if not isinstance(change, Change):
            return f"{over}, choose returned a {type(change).__name__}; it should return a Change"
        cleared = sorted((one.chars for one in change.cleared), reverse=True)
        if cleared != wanted:
            return (
                f"{over}, the results of {_chars(wanted)} characters are the largest and free "
                f"enough, but choose cleared {_chars(cleared) or 'none'}"
            )
        if [one.chars for one in results(messages)] != sizes:
            return "`choose` changed the messages that it was given; it should make new ones"
        kept = {one.id for one in clearable(change.messages)}
        if kept & {one.id for one in change.cleared}:
            return "the results in change.cleared still have their content in change.messages"
        if change.first != first:
            return (
                f"the first message that changes has index {first}, but change.first is "
                f"{change.first!r}"
            )
    change = policy.choose(_rounds([4_000, *[400] * 4], "rules"), 1_010, 1_000, {"rules": _rules})
    if change is None or "rules" in [one.name for one in change.cleared]:
        return (
            "the results of a tool with holds='always' are instructions, and must stay, also if "
            "they are the largest; give `tools` to clearable"
        )
    return None


@tool(name="rules", holds="always")
def _rules() -> None:
    """Return the rules of the house."""


def _chars(sizes: list[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


LARGEST_RECURSE = '''
from learnkit.mechanisms.compaction.edits import clearable, replaced
from learnkit.mechanisms.compaction.policies import Change


class Largest:
    """Over the threshold, clears the largest old results first, and no more than it must."""

    def choose(self, messages, tokens, threshold, tools):
        found = clearable(messages, tools=tools)
        if tokens <= threshold or not found:
            return None
        chosen, excess = [], tokens - threshold
        while excess > 0 and found:
            largest = max(found, key=lambda one: one.chars)
            found.remove(largest)
            chosen.append(largest)
            excess -= largest.chars // 4
        chosen.sort(key=lambda one: one.index)
        return Change(replaced(messages, chosen, lambda one: "[gone]"), chosen, chosen[0].index)
'''.strip()


TAIL_NEGATIVE = """
def tail(messages, number):
    start = len(messages) - number
    if start <= 0 or number == 0:
        return tuple(messages if number else ())
    if "tool_use_id" in str(messages[start]["content"]):
        start -= 1
    return tuple(messages[start:])
""".strip()


EXERCISES = {
    "saved": Check(check_saved, [SAVED_LOOP]),
    "tail": Check(check_tail, [TAIL_BLOCKS, TAIL_NEGATIVE]),
    "Largest": Check(check_largest, [LARGEST_RECURSE]),
}
