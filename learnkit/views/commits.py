"""The layout of a commit graph: a row for each commit, newest first, and a column for each branch.

A commit gets the column that its first child reserved; a merge reserves one more. An edge changes
column right below a merge or right above its parent, and runs straight in between.
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
    """A commit and its place in the graph.

    Attributes:
        id: the commit's id.
        subject: the first line of its message.
        refs: branches and tags that point to it.
        row: from the top, 0 is the newest.
        column: from the left.
        parents: ids of the parents that are drawn.
    """

    id: str
    subject: str
    refs: tuple[str, ...]
    row: int
    column: int
    parents: tuple[str, ...]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The centre of the commit's dot, in pixels.

        Args:
            x: left edge of the graph, in pixels.
            y: upper edge of the graph, in pixels.
        """
        return x + COLUMN * (self.column + 0.5), y + ROW * (self.row + 0.5)


def laid_out(commits: list[Any]) -> list[Dot]:
    """Give each commit its place.

    Args:
        commits: the ``commits`` of a ``worktree.commits`` event, children before parents. Anything
            that isn't a commit is left out.
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
        x: left edge of the graph, in pixels.
        y: upper edge of the graph, in pixels.
    """
    places = {dot.id: dot for dot in dots}
    parts = []
    for dot in dots:
        for parent in (places[id] for id in dot.parents if id in places):
            (x1, y1), (x2, y2) = dot.at(x, y), parent.at(x, y)
            if y2 <= y1:
                continue  # the parent comes first: the log isn't ordered
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
    """The first column that no commit has reserved; a new one if there is none."""
    if None not in columns:
        columns.append(None)
    return columns.index(None)
