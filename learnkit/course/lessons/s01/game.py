"""What the agent has in lesson 1's game, and what is said at its end.

Prompt and script are in ``questions.yaml``.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Remark
from learnkit.course.files import EXAMPLE
from learnkit.events.text import blocks_of, content_text, count, quoted


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Return the one tool of this lesson: bash in the workspace."""
    return [lk.Toolbox(lk.CodingTools(workspace).bash)]


def judge(workspace: Path, messages: Sequence[Mapping[str, Any]]) -> list[Remark]:
    """Say whether the model knew the temperature before it wrote the email, and what is in it."""
    with (EXAMPLE / "stations/beijing.csv").open(encoding="utf-8") as file:
        degrees = list(csv.DictReader(file))[-1]["celsius"]
    mails = sorted((workspace / "outbox").glob("*.txt"))
    if mails:
        texts = [path.read_text("utf-8", "replace") for path in mails]
        remarks = [_order(messages, degrees, mails[0].name), *_contents(texts, degrees)]
    else:
        why = f"It's {degrees} °C in Beijing, and the user wanted an email above 30 °C"
        remarks = [Remark(False, f"{why}. There is none in the outbox.")]
    turns = sum(message["role"] == "assistant" for message in messages)
    ours = "The replies that we recorded take 4: README, reading, email, and a last text"
    return [*remarks, Remark(None, f"This game took {count(turns, 'turn')}. {ours}.")]


def _order(messages: Sequence[Mapping[str, Any]], degrees: str, mail: str) -> Remark:
    """Whether a result with the temperature came before the one that is about the email."""
    results = [
        (place, content_text(block.get("content")))
        for place, message in enumerate(messages)
        for block in blocks_of(message["content"])
        if block["type"] == "tool_result"
    ]
    known = [place for place, text in results if degrees in text]
    wrote = [place for place, text in results if mail in text] or [len(messages)]
    if known and known[0] < wrote[0]:
        said = (
            f"The email is in the outbox, and no guess: a result had said {degrees} °C before it."
        )
        return Remark(True, said)
    guess = f"The email was a guess: no result had said {degrees} °C before it was written"
    return Remark(False, f"{guess}. That's above 30 °C, so the guess was lucky.")


def _contents(mails: Sequence[str], degrees: str) -> list[Remark]:
    """How many emails there are, and whether the first one says the temperature."""
    said = quoted(mails[0].partition("\n\n")[2] or mails[0])
    many = f"There are {len(mails)} emails; the user asked for one."
    remarks = [Remark(False, many)] if len(mails) > 1 else []
    if degrees in mails[0]:
        return [*remarks, Remark(True, f"The email says {said}: the reading is in it.")]
    return [*remarks, Remark(False, f"The email says {said}: {degrees} °C isn't in it.")]
