"""The static form of a view: what survives on GitHub, nbviewer and in an untrusted notebook.

Those places strip ``<style>``, inline ``<svg>`` and attributes, so that only plain tables and
pictures are left. The picture is an ``<img>``, and a table has everything in it as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from learnkit.events.text import one_line
from learnkit.views.drawing.text import esc

T = TypeVar("T")

#: Bytes a static form may have.
LIMIT = 20_000
#: Columns of the longest text in a cell: the names of agents, too, are of any length.
_CELL = 200


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A plain table; every cell is escaped. Numbers are aligned to the right."""
    cells = "".join(f"<th>{esc(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _cell(one: object) -> str:
    if isinstance(one, int):
        return f'<td align="right">{one:,}</td>'
    return f"<td>{esc(one_line(str(one), _CELL))}</td>"


def form(
    head: str, body: str, facts: str, because: str = "", fold: str = "the same in words"
) -> str:
    """Title, the line below it, a picture, and facts under a fold."""
    line = f"<p>{esc(because)}</p>" if because else ""
    return (
        f"<p><strong>{esc(head)}</strong></p>{line}{body}"
        f"<details><summary>{fold}</summary>{facts}</details>"
    )


class Gap(int):
    """How many things were left out of a list."""


def cut(things: Sequence[T], room: int, costs: Sequence[int] | None = None) -> list[T | Gap]:
    """The things that fit, with one gap in the middle: the first things get a third of the room."""
    costs = costs or [1] * len(things)
    if sum(costs) <= room:
        return [*things]
    first, last, used = 0, len(things) - 1, 0
    while used + costs[first] <= room // 3:
        used += costs[first]
        first += 1
    used += costs[last]
    while used + costs[last - 1] <= room:
        last -= 1
        used += costs[last]
    return [*things[:first], *([Gap(last - first)] if first < last else []), *things[last:]]
