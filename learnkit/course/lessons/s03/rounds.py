"""Lesson 3's table of runs: what each round calls, and where a reminder follows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from textwrap import fill
from typing import Any

from learnkit.events.text import blocks_of, content_text, count

Messages = Sequence[Mapping[str, Any]]
_DONE = re.compile(r"\((\d+/\d+) completed\)$")


def rounds(runs: Mapping[str, Messages], in_order: bool = False) -> str:
    """Say what each run calls, round by round; a semicolon ends a round.

    Args:
        runs: what a run is called -> its messages.
        in_order: name a round's calls as they came; otherwise those of a kind are counted.
    """
    lines = []
    for name, messages in runs.items():
        run = list(_rounds(messages))
        reminders = sum(reminded for _, reminded in run)
        head = f"{name}: {count(len(run), 'round')}"
        lines.append(head + (f", {count(reminders, 'reminder')}" if reminders else ""))
        said = "; ".join(_words(calls, reminded, in_order) for calls, reminded in run)
        lines.append(fill(said, 96, initial_indent="   ", subsequent_indent="   "))
    return "\n".join(lines).replace("\xa0", " ")


def results(messages: Messages) -> list[str]:
    """The texts of all results, in their order."""
    blocks = [block for message in messages for block in blocks_of(message["content"])]
    return [content_text(one["content"]) for one in blocks if one["type"] == "tool_result"]


def without_list(messages: Messages) -> list[dict[str, Any]]:
    """The same run as if nobody had sent a list: without these calls, results and reminders."""
    lists = {
        one["id"]
        for message in messages
        for one in blocks_of(message["content"])
        if one["type"] == "tool_use" and one["name"] == "todo"
    }
    kept = []
    for message in messages:
        blocks = [
            one
            for one in blocks_of(message["content"])
            if not {one.get("id"), one.get("tool_use_id")} & lists
            and "<reminder>" not in one.get("text", "")
        ]
        if blocks:
            kept.append({**message, "content": blocks})
    return kept


def _rounds(messages: Messages) -> Iterator[tuple[list[str], bool]]:
    """The calls of each round, in a word each, and whether a reminder follows their results."""
    for said, answer in zip(messages[1::2], messages[2::2], strict=False):
        results = blocks_of(answer["content"])
        texts = {one.get("tool_use_id"): content_text(one.get("content")) for one in results}
        calls = [one for one in blocks_of(said["content"]) if one["type"] == "tool_use"]
        reminded = any("<reminder>" in one.get("text", "") for one in results)
        yield [_word(one, texts.get(one["id"], "")) for one in calls], reminded


def _word(call: Mapping[str, Any], result: str) -> str:
    if call["name"] == "todo":
        done = _DONE.search(result)
        return f"list\xa0{done[1]}" if done else "list\xa0refused"  # on one line
    if call["name"] in ("edit_file", "write_file"):
        path = PurePosixPath(str(call["input"].get("path")))
        return "tests/" if path.parts[:1] == ("tests",) else path.name
    return str(call["name"]).removesuffix("_file")


def _words(calls: Sequence[str], reminded: bool, in_order: bool) -> str:
    many = [(one, 1) for one in calls] if in_order else Counter(calls).items()
    words = [one if number == 1 else f"{number}× {one}" for one, number in many]
    return " + ".join(words) + (" + a reminder" if reminded else "")
