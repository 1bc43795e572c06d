"""Lesson 3's picture of runs: what each round calls, and where a reminder follows.

The runs that a model made are in a recording of their own, as they came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from learnkit.clients.recordings.recording import Recording
from learnkit.course import files as course_files
from learnkit.course.display.card import Card
from learnkit.events.text import blocks_of, content_text, count
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import WIDE, Canvas
from learnkit.views.drawing.plot import legend

Messages = Sequence[Mapping[str, Any]]
#: In pixels: a call's height, and the widest round.
_HIGH, _WIDEST = 24, 70
_LIST, _FILE, _OTHER, _REMINDER = theme.ASSISTANT, theme.CALL, theme.PLAIN, theme.INJECTED
_DONE = re.compile(r"\((\d+/\d+) completed\)$")


def rounds(runs: Mapping[str, Messages], in_order: bool = False) -> Card:
    """Draw each run's rounds, from left to right.

    Args:
        runs: what a run is called -> its messages.
        in_order: draw a round's calls as they came; otherwise those of a kind are one box.
    """
    read = {name: _rounds(messages, in_order) for name, messages in runs.items()}
    wide = min(_WIDEST, (WIDE - 8) / max(map(len, read.values()), default=1))
    canvas, told, y = Canvas(WIDE), list[str](), 16.0
    for name, run in read.items():
        reminders = sum(reminded for _, reminded in run)
        said = f"{name}: {count(len(run), 'round')}"
        said += f", {count(reminders, 'reminder')}" if reminders else ""
        canvas.text(f"{name} title", 4, y, said, "b")
        for place, (calls, reminded) in enumerate(run):
            left = 4 + place * wide
            for line, (mark, word) in enumerate(calls):
                top, key = y + 8 + line * (_HIGH + 2), f"{name} {place} {line}"
                canvas.box(key, left, top, wide - 8, _HIGH, mark.key, [word], "l")
            if reminded:
                canvas.bar(f"{name} {place} reminder", left + wide - 7, y + 8, 6, _HIGH, "injected")
        told.append(f"{said}: {'; '.join(map(_words, run))}.")
        y += 8 + max((len(calls) for calls, _ in run), default=0) * (_HIGH + 2) + 24
    drawn = {mark.key for run in read.values() for calls, _ in run for mark, _ in calls}
    drawn |= {_REMINDER.key for run in read.values() for _, reminded in run if reminded}
    marks = (_LIST, "the list"), (_FILE, "writes a file"), (_OTHER, "anything else")
    every = (*marks, (_REMINDER, "a reminder"))
    entries = [(mark.key, word) for mark, word in every if mark.key in drawn]
    canvas.height = legend(canvas, 4, y - 14, entries)
    alt = " ".join(told)
    return Card(canvas.img(alt), "\n".join(told), lambda: {"text/html": canvas.inline(alt)})


def own_runs() -> dict[str, Messages]:
    """The messages of each run that a model made, in their order."""
    recording = Recording.load(course_files.recordings() / "model" / "s03.yaml")
    return {name: recording.messages(name) for name in recording.scenarios}


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


def _rounds(messages: Messages, in_order: bool) -> list[tuple[list[tuple[theme.Mark, str]], bool]]:
    """The calls of each round, as mark and word, and whether a reminder follows their results."""
    found = []
    for said, answer in zip(messages[1::2], messages[2::2], strict=False):
        results = blocks_of(answer["content"])
        texts = {
            one["tool_use_id"]: content_text(one["content"])
            for one in results
            if one["type"] == "tool_result"
        }
        calls = [
            _call(one, texts.get(one["id"], ""))
            for one in blocks_of(said["content"])
            if one["type"] == "tool_use"
        ]
        reminded = any("<reminder>" in one.get("text", "") for one in results)
        found.append((calls if in_order else _by_kind(calls), reminded))
    return found


def _call(call: Mapping[str, Any], result: str) -> tuple[theme.Mark, str]:
    if call["name"] == "todo":
        done = _DONE.search(result)
        return _LIST, done[1] if done else "refused"
    if call["name"] in ("edit_file", "write_file"):
        path = PurePosixPath(str(call["input"].get("path")))
        return _FILE, "tests/" if path.parts[:1] == ("tests",) else path.stem.strip("_")
    return _OTHER, call["name"].removesuffix("_file")


def _by_kind(calls: list[tuple[theme.Mark, str]]) -> list[tuple[theme.Mark, str]]:
    words: dict[str, list[str]] = {}
    for mark, word in calls:
        words.setdefault(mark.key, []).append(word)
    return [_together(theme.MARKS[key], many) for key, many in words.items()]


def _together(mark: theme.Mark, words: list[str]) -> tuple[theme.Mark, str]:
    """One word for all calls of a kind in a round."""
    if len(words) == 1:
        return mark, words[0]
    if mark is _LIST:
        return mark, f"{len(words)}× {words[-1]}"
    return mark, f"{len(words)} {'edits' if mark is _FILE else 'calls'}"


def _words(one: tuple[list[tuple[theme.Mark, str]], bool]) -> str:
    calls, reminded = one
    words = [f"list {word}" if mark is _LIST else word for mark, word in calls]
    return " + ".join(words) + (" + a reminder" if reminded else "")
