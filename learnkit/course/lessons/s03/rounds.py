"""Lesson 3's runs, a line each: what each round calls, what it costs, where a reminder follows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any

import learnkit as lk
from learnkit.course.lessons.reading import blocks
from learnkit.events.text import blocks_of, content_text

Messages = Sequence[Mapping[str, Any]]
#: What the signs mean; a table explains those that it has.
SIGNS = {
    r"\d": "0 to 9 list: so many completed",
    "!": "! list: refused",
    r"\$": "$ bash",
    "p": "p bash: tests pass",
    "r": "r read",
    "e": "e edit",
    "T": "T edit in tests/",
    r"\*": "* reminder",
}
_DONE = re.compile(r"\((\d+)/\d+ completed\)$")
_PASSED = re.compile(r"\b\d+ passed\b")


def rounds(runs: Mapping[str, Messages]) -> str:
    """Draw a line for each run and a column for each round, with a sign for each call in order.

    Args:
        runs: what a run is called -> its messages.
    """
    lines = [[name, *_rounds(messages)] for name, messages in runs.items()]
    widths = [max(map(len, column)) for column in zip_longest(*lines, fillvalue="")]
    rows = (
        "  ".join(one.ljust(width) for one, width in zip(line, widths, strict=False)).rstrip()
        for line in lines
    )
    used = " ".join(sign for line in lines for sign in line[1:])
    signs = [text for sign, text in SIGNS.items() if re.search(sign, used)]
    legend = "   ".join(["A column is a round.", *signs])
    return "\n".join([*rows, "", legend])


def tokens(agent: Any, messages: Messages) -> int:
    """Estimate how many tokens all requests of a run sent together.

    Args:
        agent: one with the run's system prompt and tools.
        messages: of the run.
    """
    head = lk.estimate_tokens([agent.system, agent.specs])
    asked = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    return sum(head + lk.estimate_tokens(messages[:n]) for n in asked)


def without_list(messages: Messages) -> list[dict[str, Any]]:
    """The same run as if nobody had sent a list: without these calls, results and reminders."""
    lists = {
        one["id"] for one in blocks(messages) if one["type"] == "tool_use" and one["name"] == "todo"
    }
    kept = []
    for message in messages:
        left = [
            one
            for one in blocks_of(message["content"])
            if not {one.get("id"), one.get("tool_use_id")} & lists
            and "<reminder>" not in one.get("text", "")
        ]
        if left:
            kept.append({**message, "content": left})
    return kept


def _rounds(messages: Messages) -> list[str]:
    """The calls of each round as signs, and a star where a reminder follows their results."""
    signs = []
    for said, answer in zip(messages[1::2], messages[2::2], strict=False):
        results = blocks_of(answer["content"])
        texts = {one.get("tool_use_id"): content_text(one.get("content")) for one in results}
        calls = [one for one in blocks_of(said["content"]) if one["type"] == "tool_use"]
        reminded = any("<reminder>" in one.get("text", "") for one in results)
        signs.append("".join(_sign(one, texts.get(one["id"], "")) for one in calls))
        signs[-1] += "*" * reminded
    return signs


def _sign(call: Mapping[str, Any], result: str) -> str:
    if call["name"] == "todo":
        done = _DONE.search(result)
        return done[1] if done else "!"
    if call["name"] in ("edit_file", "write_file"):
        parts = PurePosixPath(str(call["input"].get("path"))).parts
        return "T" if parts[:1] == ("tests",) else "e"
    if call["name"] == "bash":
        return "p" if _PASSED.search(result) else "$"
    return "r"
