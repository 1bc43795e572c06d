"""What the agent has in lesson 6's game, and what is said at its end.

Prompt and script are in ``questions.yaml``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.core.transcript import as_text
from learnkit.course.content import Remark
from learnkit.course.lessons.s06.daily_logs import celsius, log, write_logs
from learnkit.events.text import blocks_of, content_text, count, listed, one_line, quoted
from learnkit.mechanisms.compaction.edits import pending

Messages = Sequence[Mapping[str, Any]]

_DAYS = (1, 2, 3, 4)
_TRANSCRIPTS = ".transcripts"
#: Characters of a summary that are shown at the end.
_SHOWN = 600
#: The line of a log that the task is about.
_ASKED = "14:00 cairo"


def mechanisms(workspace: Path) -> list[lk.Mechanism]:
    """Write four logs, and return tools with a threshold that is passed after the third read."""
    write_logs(workspace, days=len(_DAYS))
    transcripts = workspace / _TRANSCRIPTS
    return [lk.CodingTools(workspace), lk.Compaction(1_700, keep=60, transcripts=transcripts)]


def judge(workspace: Path, messages: Messages) -> list[Remark]:
    """Say which values the answer and the summaries have, and which logs were read again."""
    saved = sorted((workspace / _TRANSCRIPTS).glob("*.jsonl"), key=_number)
    arrays: list[Messages] = [
        *([json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in saved),
        messages,
    ]
    remarks, known, number = [_answered(messages)], set[int](), 0
    for path, before, after in zip(saved, arrays, arrays[1:], strict=False):
        known |= _shown(before[:-1])
        if (summary := _summary(path, after)) is not None:  # None: it failed, and nothing changed
            number += 1
            remarks += [
                _kept(number, summary, known - _unseen(before), _told(before)),
                _raw(summary),
            ]
            if number == 1:
                remarks += _beside(summary)
    reads: dict[str, set[int]] = {}
    for array in arrays:
        reads |= _reads(array)
    remarks.append(_again(Counter(day for days in reads.values() for day in days)))
    took = f"{count(len(reads), 'read')} and {_summaries(number)}"
    why = " Long summaries and repeated reads fill the messages sooner." if number > 1 else ""
    ours = "The replies that we recorded take 4 reads and 1 summary"
    return [*remarks, Remark(None, f"This game took {took}.{why} {ours}.")]


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def _summaries(number: int) -> str:
    return "1 summary" if number == 1 else f"{number} summaries"


def _summary(saved: Path, array: Messages) -> str | None:
    """The summary that an array begins with, if it is that of a saved array."""
    pattern = rf'<summary transcript="[^"]*{re.escape(saved.name)}">\n(.*)\n</summary>'
    found = re.search(pattern, as_text([dict(array[0])]), re.DOTALL)
    return found and found[1]


def _answered(messages: Messages) -> Remark:
    text = as_text([dict(messages[-1])])
    if missing := [day for day in _DAYS if not _has(text, celsius(day)["cairo"])]:
        return Remark(False, f"The answer doesn't have the value of {_values(missing)}.")
    return Remark(True, "The answer has the value of each day.")


def _kept(number: int, summary: str, due: set[int], told: set[int]) -> Remark:
    """Which of the values that were known a summary has, in °C or as the log has them.

    A value that the player has ``told`` in a message that stayed isn't lost without it. But a
    summary that has no value at all is useless: the next one replaces that message, too.
    """
    kept = _valued(summary) & due
    stayed = (due & told) - kept
    missing = due - kept - stayed
    verbs = (("has", kept), ("lacks", missing))
    said = [f"{verb} the value of {_values(sorted(days))}" for verb, days in verbs if days]
    said = said or ["had no value to keep" if not stayed else "has no value"]
    where = f" The value of {_values(sorted(stayed))} is in a message that stayed."
    luck = " The next summary replaces that message, too, so put each value that you know in it."
    useless = bool(stayed) and not kept and not missing
    return Remark(
        not missing and not useless,
        f"Summary {number} {', and '.join(said)}.{where * bool(stayed)}{luck * useless}",
    )


def _told(messages: Messages) -> set[int]:
    """The days whose values are in the last reply, which a summary leaves as it is."""
    array = [dict(one) for one in messages]
    replies = (one for one in array[pending(array) :] if one["role"] == "assistant")
    blocks = [block for reply in replies for block in blocks_of(reply["content"])]
    return _valued("\n".join(block["text"] for block in blocks if block["type"] == "text"))


def _valued(text: str) -> set[int]:
    """The days whose values a text has, in °C or as the log has them."""
    return {day for day in _DAYS if any(_has(text, one) for one in _readings(day))}


def _beside(summary: str) -> list[Remark]:
    """The first summary and the one that we recorded, unless it is ours."""
    recorded = _recorded()
    both = {"Summary 1": summary, "The summary that we recorded": recorded}
    if one_line(summary, _SHOWN) == one_line(recorded, _SHOWN):
        del both["Summary 1"]
    return [Remark(None, f"{name}: {quoted(text, _SHOWN)}") for name, text in both.items()]


def _recorded() -> str:
    """The first reply of the game's script that is nothing but a text: the summary."""
    from learnkit.course.content import question_file

    game = question_file.read(Path(__file__).with_name(question_file.NAME)).game
    return next(said for said in (game.script if game else []) if isinstance(said, str))


def _raw(summary: str) -> Remark:
    """Whether a summary leaves out what a call brings back."""
    lines = {line for day in _DAYS for line in log(day).splitlines() if _ASKED not in line}
    copied = [line for line in summary.splitlines() if line.strip() in lines]
    size = f"≈{lk.estimate_tokens(summary):,} tokens"
    if copied:
        many = count(len(copied), "line")
        return Remark(
            False, f"It copied {many} of raw data, which a call brings back, and has {size}."
        )
    return Remark(True, f"It left the raw data out, and has {size}.")


def _again(times: Mapping[int, int]) -> Remark:
    again = [f"day {day} ({times[day]} times)" for day in _DAYS if times.get(day, 0) > 1]
    if again:
        return Remark(False, f"Logs that were read more than once: {listed(again)}.")
    return Remark(True, "No log was read twice.")


def _readings(day: int) -> tuple[float, float]:
    """The value of a day, in °C and as its log has it."""
    (line,) = (line for line in log(day).splitlines() if line.startswith(_ASKED))
    return celsius(day)["cairo"], float(line.split()[2])


def _has(text: str, value: float) -> bool:
    return re.search(rf"(?<!\d){re.escape(str(value))}(?!\d)", text) is not None


def _values(days: Sequence[int]) -> str:
    return listed([f"day {day} ({celsius(day)['cairo']} °C)" for day in days])


def _shown(messages: Messages) -> set[int]:
    """The days whose logs are in these messages."""
    return {day for days in _reads(messages).values() for day in days}


def _unseen(messages: Messages) -> set[int]:
    """The days in the last results, which stay because the model hasn't seen them."""
    last, reads = blocks_of(messages[-1]["content"]), _reads(messages)
    return {day for block in last for day in reads.get(block.get("tool_use_id", ""), ())}


def _reads(messages: Messages) -> dict[str, set[int]]:
    """Call id -> the days that the call's result shows, or that the call names."""
    found: dict[str, set[int]] = {}
    for message in messages:
        for block in blocks_of(message["content"]):
            if block["type"] == "tool_use":
                found[block["id"]] = _named(r"day_0(\d)\.", json.dumps(block["input"]))
            elif block["type"] == "tool_result":
                named = _named(r"day 0(\d), unit", content_text(block.get("content")))
                found[block["tool_use_id"]] = found.get(block["tool_use_id"], set()) | named
    return {id: days for id, days in found.items() if days}


def _named(pattern: str, text: str) -> set[int]:
    return {int(day) for day in re.findall(pattern, text)} & {*_DAYS}
