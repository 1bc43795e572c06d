"""Lesson 6's pictures of the learner's own run, and of which facts are in which summary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import learnkit as lk
from learnkit.clients.recordings.recording import Recording
from learnkit.course import files as course_files
from learnkit.course.display.card import Card
from learnkit.events.compaction import CompactionCleared, CompactionSummarised, TokensEstimated
from learnkit.events.log import EventLog
from learnkit.events.loop import MessageAdded, MessagesRewritten, ModelReplied
from learnkit.events.text import blocks_of, listed
from learnkit.views.drawing.display import WIDE, Canvas

Messages = Sequence[Mapping[str, Any]]
#: In pixels: the first column, a summary's column, the room between groups, and a row.
_LEFT, _COLUMN, _BETWEEN, _ROW = 150, 40, 24, 26
_LOOKS = {True: ("done", "✓", "is there"), False: ("failed", "✗", "is missing")}


def compaction(before: Messages, after: Messages) -> lk.views.Compaction:
    """The array before and after a rewrite."""
    log = EventLog()
    old, new = (
        [{**one, "content": blocks_of(one["content"])} for one in part] for part in (before, after)
    )
    for index, message in enumerate(old):
        log.append(MessageAdded(index=index, message=message))
    log.append(MessagesRewritten(messages=tuple(new), why="compaction"))
    return lk.views.Compaction(log)


def _as_blocks(messages: Messages) -> list[dict[str, Any]]:
    return [{**one, "content": blocks_of(one["content"])} for one in messages]


def saw_tooth(agent: Any, arrays: Sequence[Messages]) -> lk.views.Tokens:
    """The length of each request, and where the array became shorter.

    Args:
        agent: the module; its estimate and threshold are used.
        arrays: the messages as they were sent, request by request.
    """
    log = EventLog()
    for old, new in zip([[], *arrays], arrays, strict=False):
        length, whole = agent.estimate(new), agent.estimate([*old, *new[-2:]])
        log.append(TokensEstimated(tokens=length, threshold=agent.THRESHOLD))
        if (
            old
            and "[Summary of" in str(new[0])
            and blocks_of(new[0]["content"]) != blocks_of(old[0]["content"])
        ):
            log.append(CompactionSummarised(before=whole, after=length))
        elif old and length < agent.estimate(old):
            log.append(CompactionCleared(before=whole, after=length))
        log.append(TokensEstimated(tokens=length, threshold=agent.THRESHOLD))
        log.append(ModelReplied())
    log.append("run.ended", reason="completed")
    return lk.views.Tokens(log)


def own_runs() -> dict[str, str]:
    """The summary that a model wrote in each run."""
    recording = Recording.load(course_files.recordings() / "model" / "s06.yaml")
    return {
        name: str(recording.messages(name)[-1]["content"][0]["text"])
        for name in recording.scenarios
    }


def survivors(summaries: Mapping[str, Sequence[str]], facts: Mapping[str, str]) -> Card:
    """Draw which facts are in which summary.

    Args:
        summaries: what asked for them -> their texts.
        facts: a fact -> a pattern that finds it in a text, whatever its case.
    """
    canvas, x, said = Canvas(WIDE), float(_LEFT), list[str]()
    for row, fact in enumerate(facts):
        canvas.text(fact, 0, 40 + row * _ROW, fact)
    for name, texts in summaries.items():
        kept = [[_has(text, pattern) for text in texts] for pattern in facts.values()]
        canvas.text(name, x, 14, name, "b", width=_COLUMN * max(len(texts), 3))
        for row, (fact, marks) in enumerate(zip(facts, kept, strict=True)):
            for number, there in enumerate(marks, 1):
                mark, glyph, word = _LOOKS[there]
                says = f"{name} {number}: {fact} {word}"
                at, key = x + (number - 0.5) * _COLUMN - 6, f"{name} {number} {fact}"
                canvas.dot(key, at, 36 + row * _ROW, 10, mark, glyph, says=says)
        x += _COLUMN * max(len(texts), 3) + _BETWEEN
        times = [marks.count(False) for marks in kept]
        lost = [
            fact if len(texts) == 1 else f"{fact} {number}×"
            for fact, number in zip(facts, times, strict=True)
            if number
        ]
        said.append(f"{name} misses {listed(lost) or 'nothing'}.")
    canvas.height = 40 + len(facts) * _ROW
    alt = " ".join(said)
    return Card(canvas.img(alt), "\n".join(said), lambda: {"text/html": canvas.inline(alt)})


def _has(text: str, pattern: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
