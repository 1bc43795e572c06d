"""The cells of the lessons' notebooks, for tests that run them as a learner does."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import nbformat

from learnkit.course import files


@cache
def cells(lesson: str) -> list[Any]:
    """The cells of a lesson, such as ``s03``."""
    return list(nbformat.read(files.notebook(lesson), as_version=4).cells)


def code(lesson: str) -> list[str]:
    """The sources of its code cells."""
    return [cell.source for cell in cells(lesson) if cell.cell_type == "code"]


def cell(lesson: str, start: str) -> str:
    """The source of the one code cell in which a line starts so."""
    (found,) = (source for source in code(lesson) if f"\n{start}" in f"\n{source}")
    return found


def stub(lesson: str, number: int) -> str:
    """What an exercise begins with, without what checks it."""
    (found,) = (
        c.source for c in cells(lesson) if f"exercise-{number}" in c.metadata.get("tags", ())
    )
    return str(found.replace(f"@lab.exercise({number})\n", ""))


def folded(lesson: str, start: str) -> str:
    """The one solution in a fold that starts so."""
    pattern = re.compile(rf"<details>.*?```python\n({re.escape(start)}.*?)```", re.DOTALL)
    (found,) = (match[1] for one in cells(lesson) if (match := pattern.search(one.source)))
    return str(found)
