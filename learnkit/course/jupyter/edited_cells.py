"""Which cells of a lesson ran in a form of the learner's own, and what the lesson has in them.

The kernel knows the text of each cell that has run, also if the notebook is not saved.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from learnkit.clients.recordings.difference import Change

#: How many cells to offer at most, and how many letters a telling word has at least.
MOST, LETTERS = 3, 4


@dataclass(frozen=True, slots=True)
class Edited:
    """A cell that the learner has changed.

    Attributes:
        id: of the cell.
        was: its text in the lesson.
        now: the text that ran.
    """

    id: str
    was: str
    now: str

    def lines(self) -> list[tuple[str, str]]:
        """Its lines, each marked ``same``, ``gone`` or ``new``; of the same ones only a few."""
        old, new = self.was.splitlines(), self.now.splitlines()
        marks = {"-": "gone", "+": "new", " ": "same"}
        rows = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
        shown = [("same", "…") if r[0] == "@" else (marks[r[0]], r[1:]) for r in rows][1:]
        return [row for row in shown if row[1].strip()]


class Ran:
    """The text of each cell as it ran last in this kernel.

    Attributes:
        id: of the cell that ran last; empty if the front end sends none.
        text: of that cell.
    """

    def __init__(self) -> None:
        self.id = self.text = ""
        self._texts: dict[str, str] = {}
        self._shell: Any = None

    def watch(self, shell: Any) -> None:
        """Note each cell from now on. Twice is no error."""
        if shell is not self._shell:
            self._shell = shell
            shell.events.register("pre_run_cell", self.note)

    def note(self, info: Any) -> None:
        """Note a cell that is about to run; not what a widget runs."""
        if info.store_history and not info.silent:
            self.id, self.text = info.cell_id or "", info.raw_cell
            self._texts[self.id] = self.text

    def edited(self, originals: Mapping[str, str], changes: Sequence[Change]) -> list[Edited]:
        """Return the cells that may have caused a change of a request, the likeliest first.

        A solved exercise often has a word of the changed request, too: of two cells with the same
        words of it, only the likelier one is returned.
        """
        found = [
            Edited(id, originals[id], text)
            for id, text in self._texts.items()
            if id in originals and text.strip() != originals[id].strip()
        ]
        found.sort(key=lambda one: one.id != self.id)
        left = set[str]().union(*(_words(change.pieces) for change in changes))
        likely = []
        for one in found:
            if words := _words(one.lines()) & left:
                likely.append(one)
                left -= words
        here = [one for one in found if one.id == self.id]
        return (likely or here or found)[:MOST]


def _words(pieces: Sequence[tuple[str, str]]) -> set[str]:
    """The longer words of what has changed."""
    texts = " ".join(text for kind, text in pieces if kind != "same")
    return set(re.findall(rf"\w{{{LETTERS},}}", texts))


#: What this process has run: one kernel, one notebook.
RAN = Ran()
