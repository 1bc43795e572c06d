"""The pictures of docs/gallery.md: each is taken of a run that shows what its caption promises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Picture(NamedTuple):
    """The picture of a view.

    Attributes:
        lesson: that has the run.
        promise: words of the caption.
        finding: what the view says of a run that shows this, as a regular expression.
    """

    lesson: str
    promise: str
    finding: str


#: Name of a view -> its picture. The race finder has no run until its buttons are
#: pressed, and a fork is in no lesson.
PICTURED = {
    "Messages": Picture("s01", "What every request sends", "carries the whole array again"),
    "Dispatch": Picture("s02", "how often each tool was called", r"calls to \d of \d tools"),
    "Todo": Picture("s03", "where a reminder followed", r"a reminder followed round \d"),
    "Contexts": Picture("s04", "of the parent and of each subagent", r"\d subagents read"),
    "Skills": Picture("s05", "when each part of a skill was loaded", "skills is loaded"),
    "Compaction": Picture("s06", "cleared results are marked", r"\d messages are cleared"),
    "Tokens": Picture("s06", "each compaction shows as a drop", r"\d summaries remove"),
    "Tasks": Picture("s07", "which task is blocked by which", "tasks completed"),
    "Timeline": Picture("s08", "Commands that run while the agent works", r"\d% less than"),
    "Traffic": Picture("s09", "a tick says that a message has been read", r"all read: \d between"),
    "Protocol": Picture("s10", "and its state", "rejects .*, then approves"),
    "Team": Picture("s11", "who claimed which task", r"\d by alice and \d by bob"),
    "Worktrees": Picture("s12", "branches that diverge and merge", "is merged"),
}


def pictured(lesson: str, cells: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Find the cells to take pictures in."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for view, picture in PICTURED.items():
        if picture.lesson == lesson:
            for number, cell in enumerate(code):
                if _shows(cell, view, picture.finding):
                    yield view, number
                    break


def _shows(cell: Any, view: str, finding: str) -> bool:
    if f"lk.views.{view}" not in "".join(cell["source"]):
        return False
    said = ("".join(one.get("data", {}).get("text/plain", "")) for one in cell["outputs"])
    return any(re.search(finding, one) for one in said)
