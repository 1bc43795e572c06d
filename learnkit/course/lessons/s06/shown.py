"""Lesson 6's pictures of the learner's own run, and of which facts are in which summary."""

from __future__ import annotations

import json
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
#: In pixels: the first column, and the heads of the columns.
_LEFT, _TOP = 190, 34
_NOT = (
    r"(?:\b(?:out|without|skip|omit|not?|never|avoid|ignor|disregard|exclu|discard|drop|leav|minus"
    r"|except|remov|invalid|unusable|wrong|bad)\w*\b|n['’]t\b)"
)
#: A fact of the recorded session -> what is looked for, in words, and a pattern that finds it in a
#: text: words, and no meaning.
FACTS = {
    "in °C": ("°C, Celsius", r"°\s*C\b|celsius"),
    "round down": ("down, floor, truncate", r"\bdown|floor|truncat"),
    "… for the display": ("display, digit, template", r"digit|display|template|decimal"),
    "no day 36": (
        "36 beside a word such as no, not, omit, exclude, invalid",
        rf"{_NOT}[^.;]{{0,25}}\b36(?:th)?\b|\b36(?:th)?\b[^.;]{{0,25}}{_NOT}",
    ),
    "… for the car": ("car, roof, Charlie, sensor", r"charlie|sensor|roof|\bcar\b"),
    "drafts/ and N.S.": ("drafts and N.S.", r"drafts.*\bN\.?S\b|\bN\.?S\b.*drafts"),
    "… for the mail": ("mail, midnight", r"midnight|mail"),
    "check each unit": ("unit, °F, Fahrenheit", r"unit|°F|Fahrenheit"),
    "… as grep mixes them": (
        "grep beside a word such as mixes, unit, not, avoid",
        rf"{_NOT}[^.;]{{0,25}}\bgrep|\bgrep[^.;]{{0,40}}(?:mix|unit|{_NOT})",
    ),
}
#: The facts that are the reason of the one before.
_REASONS = {fact for fact in FACTS if fact.startswith("…")}


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
        if old and blocks_of(new[0]["content"]) != blocks_of(old[0]["content"]):
            log.append(CompactionSummarised(before=whole, after=length))
        elif old and length < agent.estimate(old):
            log.append(CompactionCleared(before=whole, after=length))
        log.append(TokensEstimated(tokens=length, threshold=agent.THRESHOLD))
        log.append(ModelReplied())
    log.append("run.ended", reason="completed")
    return lk.views.Tokens(log)


def conversation() -> str:
    """What was said in the session that the recorded runs summarise, without the results."""
    asked = str(_recording().messages("own/1")[0]["content"])
    lines = []
    for message in json.loads(asked.partition("\n\n")[2]):
        who = {"user": "user", "assistant": "agent"}[message["role"]]
        for block in blocks_of(message["content"]):
            if block["type"] == "text":
                lines.append(f"{who:6}{block['text']}")
            elif block["type"] == "tool_use":
                lines.append(f"{who:6}→ {block['name']} {next(iter(block['input'].values()))}")
    return "\n".join(lines)


def own_runs() -> dict[str, list[str]]:
    """What asked for a summary -> the summaries that a model wrote, a run each."""
    recording, summaries = _recording(), dict[str, list[str]]()
    for name in recording.scenarios:
        asked, *_, reply = recording.messages(name)
        wish = str(asked["content"]).partition("\n\n")[0]
        summaries.setdefault(wish, []).append(str(reply["content"][0]["text"]))
    return summaries


def _recording() -> Recording:
    return Recording.load(course_files.recordings() / "model" / "s06.yaml")


def survivors(summaries: Mapping[str, Sequence[str]]) -> Card:
    """Draw which facts are in which summary; a mark tells the words, or what was looked for.

    Args:
        summaries: what asked for them -> their texts.
    """
    canvas, said, loses, low = Canvas(WIDE), list[str](), list[str](), _TOP
    step = (WIDE - _LEFT) / sum(len(texts) + 1 for texts in summaries.values())
    rows: dict[str, float] = {}
    for fact in FACTS:  # a reason stands close to its fact
        rows[fact] = low = low + (20 if fact in _REASONS else 32)
        canvas.text(fact, 14 * (fact in _REASONS), low + 4, fact)
    x = float(_LEFT)
    for name, texts in summaries.items():
        missed, always = [], []
        for fact, (sought, pattern) in FACTS.items():
            found = [re.search(pattern, text, re.IGNORECASE | re.DOTALL) for text in texts]
            if number := found.count(None):
                missed.append(fact if len(texts) == 1 else f"{fact} {number}×")
                always += [fact] * (number == len(texts))
            for place, match in enumerate(found):
                mark, glyph = ("done", "✓") if match else ("failed", "✗")
                words = f"“{match[0]}”" if match else f"not found ({sought})"
                if not texts[place].strip():
                    mark, glyph, words = "pending", "", "nothing written yet"
                says, key = f"{name} {place + 1}: {fact}: {words}", f"{name} {place} {fact}"
                style = "cg" if not glyph else "c"
                canvas.dot(key, x + place * step + 9, rows[fact], 9, mark, glyph, style, says=says)
        canvas.text(name, x, _TOP + 6, name, "b", width=step * (len(texts) + 1))
        x += step * (len(texts) + 1)
        written = any(text.strip() for text in texts)
        said.append(f"{name}: " + (f"missing {listed(missed) or 'nothing'}." if written else "–"))
        loses += [f"{name} loses {listed(always) or 'nothing'}"] * written
    canvas.height = low + 14
    canvas.text("title", 0, 14, f"{'; '.join(loses[:1]) or 'Nothing is written yet'}.", "h")
    alt = " ".join(said)
    return Card(canvas.img(alt), "\n".join(said)).or_html(canvas.inline(alt))
