"""Lesson 4's forty station parsers: small, real, and each written in its own way.

Every station sends its readings in its own format. Some parsers handle a missing reading, in one of
four ways; some don't; and some only claim to.
"""

from __future__ import annotations

import random
from pathlib import Path

#: How a parser treats a missing reading, and the lines that do it.
WAYS = {
    "-9999": ("        if value == -9999:\n            continue\n", "-9999 marks a gap."),
    "NA": ('        if field == "NA":\n            continue\n', "NA stands for no reading."),
    "empty": ("        if not field:\n            continue\n", "An empty field is no reading."),
    "negative humidity": (
        "        if humidity < 0:\n            continue\n",
        "Below 0 % the sensor was off.",
    ),
    "not handled": ("", "The logger writes every ten minutes."),
    "said, not done": ("", "Missing values are skipped."),
}

#: The text of a parser, with fields to format.
_TEMPLATE = Path(__file__).with_name("station_parser.txt").read_text("utf-8")

_PLACES = ("harbour", "airport", "school", "ridge", "valley", "roof", "park", "mill")
_REASONS = ("sensor stands in the sun", "calibrated in spring", "measured beside a road")


def way(number: int) -> str:
    """Return how the parser of a station treats a missing reading: a key of ``WAYS``."""
    return random.Random(f"way {number}").choice(list(WAYS))


def source(number: int) -> str:
    """Return the source of a station's parser."""
    dice = random.Random(f"station {number}")
    kind = way(number)
    lines, note = WAYS[kind]
    offset = dice.choice((0, 0, -0.4, 1.5))
    return _TEMPLATE.format(
        number=number,
        place=dice.choice(_PLACES),
        note=note,
        separator=dice.choice((",", ";", "\t", "|")),
        column=dice.choice((1, 2)),
        offset=offset,
        reason=dice.choice(_REASONS),
        head=dice.choice((1, 2)),
        before="" if kind == "-9999" else lines,
        after=lines if kind == "-9999" else "",
        value="value + OFFSET" if offset else "value",
    )


def write_parsers(workspace: Path, number: int = 40) -> Path:
    """Write the parsers of the first stations."""
    folder = workspace / "parsers"
    folder.mkdir()
    for one in range(1, number + 1):
        (folder / f"station_{one:02}.py").write_text(source(one), encoding="utf-8")
    return folder
