"""The commit graph: a row a commit, newest first, and a column for each line of work.

A column is given to a commit when its first child asks for it; a merge asks for one more. Lines
leave a merge at once and join where they begin, so that they run straight in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from learnkit.views.drawing.text import as_list

#: Pixels of a row and of a column.
ROW, COLUMN = 22.0, 18.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A commit and its place.

    Attributes:
        id: of the commit.
        subject: its first line.
        refs: branches and tags that point to it.
        row: from the top, 0 is the newest.
        column: from the left.
        parents: ids of those of its parents that are drawn.
    """

    id: str
    subject: str
    refs: tuple[str, ...]
    row: int
    column: int
    parents: tuple[str, ...]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The middle of its dot, in pixels.

        Args:
            x, y: of the graph's upper left corner, in pixels.
        """
        return x + COLUMN * (self.column + 0.5), y + ROW * (self.row + 0.5)


def laid_out(commits: list[Any]) -> list[Dot]:
    """The commits with their places.

    Args:
        commits: as ``worktree.commits`` has them, children before parents; what is none is left
            out.
    """
    good = [one for one in commits if isinstance(one, dict) and one.get("id")]
    known = {str(one["id"]) for one in good}
    columns: list[str | None] = []  # the commit that each column leads to
    dots = []
    for row, one in enumerate(good):
        id = str(one["id"])
        waiting = [place for place, wanted in enumerate(columns) if wanted == id]
        column = waiting[0] if waiting else _free(columns)
        for place in waiting:
            columns[place] = None
        parents = [str(p) for p in as_list(one.get("parents")) if str(p) in known]
        if parents:
            columns[column] = parents[0]
        for parent in parents[1:]:
            if parent not in columns:
                columns[_free(columns)] = parent
        refs = tuple(map(str, as_list(one.get("refs"))))
        dots.append(Dot(id, str(one.get("subject", "")), refs, row, column, tuple(parents)))
    return dots


def width(dots: Sequence[Dot]) -> float:
    """The width of all columns, in pixels.

    Args:
        dots: at least one.
    """
    return COLUMN * (1 + max(dot.column for dot in dots))


def lines(dots: Sequence[Dot], x: float, y: float) -> str:
    """The edges between these commits as one path.

    Args:
        dots: the commits.
        x, y: the upper left corner, in pixels.
    """
    places = {dot.id: dot for dot in dots}
    parts = []
    for dot in dots:
        for parent in (places[id] for id in dot.parents if id in places):
            (x1, y1), (x2, y2) = dot.at(x, y), parent.at(x, y)
            if y2 <= y1:
                continue  # a log that is in no order
            bend = ROW * 0.9
            if x1 == x2:
                parts.append(f"M{x1:g} {y1:g}V{y2:g}")
            elif x2 > x1:  # a merge: leave at once
                end = min(y1 + bend, y2)
                parts.append(f"M{x1:g} {y1:g}C{x1:g} {end:g} {x2:g} {y1:g} {x2:g} {end:g}V{y2:g}")
            else:
                begin = max(y2 - bend, y1)
                bow = f"C{x1:g} {y2:g} {x2:g} {begin:g} {x2:g} {y2:g}"
                parts.append(f"M{x1:g} {y1:g}V{begin:g}{bow}")
    return "".join(parts)


def _free(columns: list[str | None]) -> int:
    """The first column that leads nowhere; a new one if all do."""
    if None not in columns:
        columns.append(None)
    return columns.index(None)
