"""What lesson 3's explorable shows: two hundred simulated runs for each length of the output.

``python -m learnkit.course.lessons.s03.completion`` writes the table anew; a test recomputes a
sample of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median_low
from typing import Any

from learnkit.course.trials import FEATURE, drift, drifted
from learnkit.simulation.forgetful import Forgetful, Step

TABLE = Path(__file__).with_name("completion.json")
#: The model sees so many tokens; and how many runs there are of each kind.
WINDOW, SEEDS = 2_000, 200
#: How many lines a step prints, and the characters of a line, with which an output is measured.
LINES, LINE = range(21), 180


def measured(lines: int, seeds: int = SEEDS) -> dict[str, Any]:
    """One row of the table: shares of completed runs, mean tokens, and a typical run's request.

    Typical is the first run with the median number of forgotten steps.

    Args:
        lines: how many lines each step prints.
        seeds: how many runs without a list, and with one.
    """
    output = lines * LINE
    row: dict[str, Any] = {}
    for listed, trials in enumerate(drift(range(seeds), output=output, window=WINDOW)):
        median = median_low(one.forgotten for one in trials)
        typical = next(seed for seed, one in enumerate(trials) if one.forgotten == median)
        row["with" if listed else "without"] = {
            "completed": fmean(one.completed for one in trials),
            "tokens": round(fmean(one.tokens for one in trials)),
            "done": len(FEATURE) - median,
            "parts": parts(drifted(typical, bool(listed), output=output, window=WINDOW)[:-1]),
        }
    return row


def parts(messages: list[dict[str, Any]]) -> list[list[Any]]:
    """What a request holds, from its end: the kind of each part, and the tokens of it.

    Args:
        messages: of the request.
    """
    all_seeing = Forgetful([Step(name) for name in FEATURE], window=10**9)
    seen = all_seeing.notice({"messages": messages})
    tools = {one.call["id"]: one.call["name"] for one in seen if one.call is not None}
    found: list[list[Any]] = []
    known, last = 0, "?"
    for one in reversed(seen):
        id = one.call["id"] if one.call is not None else one.answers
        spoken = "reminder" if one.text.startswith("<reminder>") else "request"
        kind = spoken if not id else "list" if tools[id] == "todo" else "output"
        if id != last:
            found.append([kind, 0])
        found[-1][1] += one.distance - known
        known, last = one.distance, id
    return found


def table() -> Iterator[dict[str, Any]]:
    """All rows, as they are committed."""
    yield from json.loads(TABLE.read_text("utf-8"))


def write() -> None:
    """Compute the table, and write it."""
    rows = [json.dumps(measured(lines)) for lines in LINES]
    TABLE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write()
