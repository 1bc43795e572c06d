"""The pictures of docs/gallery.md: each is of a run that shows what its caption promises."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, NamedTuple

from learnkit import views

#: A view's static form: its title, the line below it, the view's name, and its picture.
_FORM = re.compile(
    r"<p><strong>((?:(?!<strong>).)*?)</strong></p>(?:<p>(.*?)</p>)?"
    r'<img alt="([^":]*): [^"]*" src="data:image/svg\+xml;base64,([^"]+)">'
)


class Picture(NamedTuple):
    """The picture of a view.

    Attributes:
        lesson: that has the run.
        promise: words of the caption.
        finding: what the view says of a run that shows this, as a regular expression.
        drawn: what can be read in such a picture, as a regular expression.
    """

    lesson: str
    promise: str
    finding: str
    drawn: str = ""


#: Name of a view -> its picture.
PICTURED = {
    "Messages": Picture("s01", "What every request sends", "carries the whole array again"),
    "Dispatch": Picture(
        "s02", "through the gate to its tool", r"\d calls?(:| to \d tools)", "gate.*result"
    ),
    "Todo": Picture("s03", "where a reminder followed", r"Reminded after round \d"),
    "Contexts": Picture("s04", "of the parent and of each subagent", r"\d subagents\."),
    "Skills": Picture("s05", "when each part of a skill was loaded", "skills is loaded"),
    "Compaction": Picture(
        *("s06", "before and after", r"\d messages are cleared", "before.*after.*⊘ cleared")
    ),
    "Tokens": Picture(
        "s06", "each compaction shows as a drop", "and were compacted", "threshold 400,000"
    ),
    "Tasks": Picture("s07", "which task is blocked by which", "tasks completed"),
    "Timeline": Picture(
        "s08", "what the background saves", r": \d+ min instead of \d+ min.*\d% less", "waits"
    ),
    "Traffic": Picture("s09", "a tick says that a message has been read", "all is read"),
    "Protocol": Picture(
        *("s10", "between its question and its answer", "rejects .*, then approves"),
        "✗ rejected.*✓ approved",
    ),
    "Team": Picture(*("s11", "who claimed which task", r"\d by alice and \d by bob"), "✓ #1"),
    "Worktrees": Picture("s12", "branches that diverge and merge", "is merged"),
    "Schedule": Picture(
        *("s09", "the four steps that lose a message", "is lost", "(?!.*>5<).*>4<")
    ),
}


def pictured(lesson: str, cells: Iterable[Any]) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Find the views of a lesson that show what is promised.

    Yields:
        The name of the view; its title, the line below it, and its picture as SVG.
    """
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for view, picture in PICTURED.items():
        if picture.lesson == lesson:
            shown = (form for cell in code for form in _forms(cell, view, picture))
            yield from ((view, form) for form in [*shown][:1])


def _forms(cell: Any, view: str, picture: Picture) -> Iterator[tuple[str, str, str]]:
    name = getattr(views, view).name
    for output in cell["outputs"]:
        html = "".join(output.get("data", {}).get("text/html", ""))
        for title, below, shown, data in _FORM.findall(html):
            svg = base64.b64decode(data).decode()
            said = unescape(f"{title} {below}")
            fits = shown == name and re.search(picture.finding, said)
            if fits and re.search(picture.drawn, svg, re.DOTALL):
                yield unescape(title), unescape(below), svg
