"""Lesson 6's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check
from learnkit.mechanisms.compaction.edits import clearable, results


def _rounds(sizes: list[int]) -> list[dict[str, Any]]:
    """A conversation with one call in each round; the results have these lengths."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number, size in enumerate(sizes):
        id = f"t{number}"
        call = {"type": "tool_use", "id": id, "name": "read_file", "input": {}}
        result = {"type": "tool_result", "tool_use_id": id, "content": "x" * size}
        messages += [
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    return messages


def check_saved(saved: Any) -> Verdict:
    """Check the share of tokens that all compactions together saved.

    Args:
        saved: the learner's function of the events.
    """
    log = lk.EventLog()
    if (told := saved(log)) != 0:
        return f"a log without compactions saved nothing, so 0; it says {told!r}"
    log.append("compaction.cleared", results=[], before=6_000, after=4_000)
    more: dict[str, Any] = {"chars_per_token": 4.0, "messages": 9}
    log.append("tokens.estimated", tokens=4_000, threshold=8_000, **more)
    log.append("compaction.failed", error="no")
    log.append("compaction.summarised", before=9_000, after=1_000, transcript="x", focus="")
    if (told := saved(log)) != 10_000:
        return f"6,000 → 4,000 and 9,000 → 1,000 saved 10,000 together; it says {told!r}"
    return None


SAVED_LOOP = """
def saved(events):
    total = 0
    for event in events:
        if "before" in event.data and "after" in event.data:
            total += event.data["before"] - event.data["after"]
    return total
""".strip()


def check_tail(tail: Any) -> Verdict:
    """Check for the last messages, at least so many, that begin where no pair is split.

    Args:
        tail: the learner's function of the messages and a number.
    """
    messages = _rounds([10, 10, 10])
    both = [*messages[:5], {"role": "user", "content": "and?"}, *messages[5:]]
    for array, number, wanted in (
        (messages, 2, messages[5:]),
        (messages, 1, messages[5:]),
        (messages, 3, messages[3:]),
        (messages, 7, messages),
        (messages, 50, messages),
        (both, 3, both[5:]),
    ):
        given = tail([*array], number)
        if not isinstance(given, list):
            return f"it returned {given!r}, and no list of messages"
        called = {
            block["id"]
            for message in given
            if message["role"] == "assistant"
            for block in message["content"]
        }
        if any(one.id not in called for one in results(given)):
            return f"tail(messages, {number}) begins with a result whose call is cut off"
        if len(given) < min(number, len(array)):
            return f"tail(messages, {number}) has {len(given)} messages; keep at least {number}"
        if given != wanted:
            return f"tail(messages, {number}) keeps {len(given)} messages; {len(wanted)} are enough"
    return None


TAIL_BLOCKS = """
def tail(messages, number):
    def answers(message):
        content = message["content"]
        return not isinstance(content, str) and any(b["type"] == "tool_result" for b in content)

    kept = messages[-number:]
    if len(kept) < len(messages) and answers(kept[0]):
        return messages[-number - 1 :]
    return kept
""".strip()


def check_largest(Largest: Any) -> Verdict:
    """Check that a policy clears the largest old results first, and no more than it has to.

    Args:
        Largest: the learner's class; it is a policy of compaction.
    """
    policy = Largest()
    if policy.choose(_rounds([4_000] * 6), 900, 1_000) is not None:
        return "below the threshold there is nothing to do: return None"
    sizes = [400, 2_000, 800, 4_000, 1_200, 300, 300, 300]
    messages = _rounds(sizes)
    change = policy.choose(messages, 1_400, 1_000)
    if change is None:
        return "at 1,400 of 1,000 tokens it does nothing"
    cleared = [one.chars for one in change.cleared]
    if cleared != [4_000]:
        return f"400 tokens too many: the result of 4,000 chars is enough; it cleared {cleared}"
    change = policy.choose(messages, 2_600, 1_000)
    cleared = sorted((one.chars for one in change.cleared), reverse=True) if change else []
    if cleared != [4_000, 2_000, 1_200]:
        return f"1,600 tokens too many: 4,000, 2,000 and 1,200 chars; it cleared {cleared}"
    if change.first != 4:
        return f"the first message that changes has index 4; it says {change.first}"
    kept = {one.id for one in clearable(change.messages)}
    if kept & {one.id for one in change.cleared}:
        return "the results that it names still stand in its array"
    if [one.chars for one in results(messages)] != sizes:
        return "the array that it was given has changed; make a new one"
    return None


LARGEST_RECURSE = '''
from learnkit.mechanisms.compaction.edits import clearable, replaced
from learnkit.mechanisms.compaction.policies import Change


class Largest:
    """Over the threshold, clears the largest old results first, and no more than it must."""

    def choose(self, messages, tokens, threshold):
        found = clearable(messages)
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


EXERCISES = {
    "saved": Check(
        check_saved,
        right=[SAVED_LOOP],
        wrong=[
            SOLUTION.replace(
                '("compaction.cleared", "compaction.summarised")', '"compaction.cleared"'
            ),
            SOLUTION.replace(' - data["after"]', ""),
        ],
    ),
    "tail": Check(
        check_tail,
        right=[TAIL_BLOCKS],
        wrong=[
            SOLUTION.replace("start -= 1", "start += 1"),
            SOLUTION.replace("return messages[start:]", "return messages[max(start - 1, 0) :]"),
        ],
    ),
    "Largest": Check(
        check_largest,
        right=[LARGEST_RECURSE],
        wrong=[
            SOLUTION.replace("key=lambda one: -one.chars", "key=lambda one: one.chars"),
            SOLUTION.replace("            tokens -= one.chars // 4\n", ""),
            SOLUTION.replace("min(one.index for one in chosen)", "0"),
        ],
    ),
}
