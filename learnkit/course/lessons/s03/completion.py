"""What lesson 3's explorable shows: two hundred simulated runs for each window and output.

``python -m learnkit.course.lessons.s03.completion`` writes the table anew; a test recomputes a
sample of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median_low
from typing import Any

from learnkit.course.trials import FEATURE, Trial, drift, drifted
from learnkit.simulation.forgetful import Forgetful, Step

TABLE = Path(__file__).with_name("completion.json")
#: Windows of the model, in tokens; how many lines a step prints; and runs of each kind.
WINDOWS, OUTPUTS, SEEDS = range(500, 6_001, 500), (4, 8, 16), 200
#: The characters of a line, with which an output is measured.
LINE = 180


def tried(window: int, seeds: int = 100) -> str:
    """Return how many of some runs complete without a list, and how many with one, in a line."""
    off, on = drift(range(seeds), window=window)
    without, listed = (sum(one.completed for one in runs) for runs in (off, on))
    said = f"window {window:,}: {without} of {seeds} runs complete, {listed} with a list"
    off_tokens, on_tokens = comparable_tokens(off, on)
    if off_tokens:
        said += f"; where both do, the list sends {on_tokens / off_tokens:.1f} × the tokens"
    return said


def comparable_tokens(off: Sequence[Trial], on: Sequence[Trial]) -> tuple[int, int]:
    """The mean tokens without a list and with one, of the seeds with which both complete.

    A run that leaves steps out also sends less, which says nothing about the list.
    """
    both = [pair for pair in zip(off, on, strict=True) if all(one.completed for one in pair)]
    if not both:
        return 0, 0
    without, listed = zip(*both, strict=True)
    return round(fmean(one.tokens for one in without)), round(fmean(one.tokens for one in listed))


def measured(window: int, lines: int, seeds: int = SEEDS) -> dict[str, Any]:
    """Return one row of the table.

    It holds the share of completed runs, the mean tokens of those that complete both ways, and the
    last request of a typical run: the first one with the median number of forgotten steps.
    """
    output = lines * LINE
    row: dict[str, Any] = {"window": window, "lines": lines}
    both = drift(range(seeds), output=output, window=window)
    for listed, (trials, tokens) in enumerate(zip(both, comparable_tokens(*both), strict=True)):
        median = median_low(one.forgotten for one in trials)
        typical = next(seed for seed, one in enumerate(trials) if one.forgotten == median)
        row["with" if listed else "without"] = {
            "completed": fmean(one.completed for one in trials),
            "tokens": tokens,
            "done": len(FEATURE) - median,
            "parts": parts(drifted(typical, bool(listed), output=output, window=window)[:-1]),
        }
    return row


def parts(messages: list[dict[str, Any]]) -> list[list[Any]]:
    """What a request holds, from its end: the kind of each part, and the tokens of it.

    The output of a step that had been done before is of the kind ``again``.
    """
    all_seeing = Forgetful([Step(name) for name in FEATURE], window=10**9)
    seen = all_seeing.notice({"messages": messages})
    calls = {one.call["id"]: one.call for one in seen if one.call is not None}
    first: dict[str, str] = {}  # step -> the first call that did it
    for id, call in calls.items():
        first.setdefault(str(call["input"].get("step")), id)
    found: list[list[Any]] = []
    known, last = 0, "?"
    for one in reversed(seen):
        id = one.call["id"] if one.call is not None else one.answers
        if id != last:
            found.append([_kind(one.text, calls.get(id), first.values()), 0])
        found[-1][1] += one.distance - known
        known, last = one.distance, id
    return found


def _kind(text: str, call: dict[str, Any] | None, first: Collection[str]) -> str:
    if call is None:
        return "reminder" if text.startswith("<reminder>") else "request"
    if call["name"] == "todo":
        return "list"
    return "output" if call["id"] in first else "again"


def table() -> Iterator[dict[str, Any]]:
    """All rows, as they are committed."""
    yield from json.loads(TABLE.read_text("utf-8"))


def write() -> None:
    """Compute the table, and write it."""
    rows = [json.dumps(measured(window, lines)) for lines in OUTPUTS for window in WINDOWS]
    TABLE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write()
