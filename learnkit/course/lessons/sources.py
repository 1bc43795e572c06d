"""The sources of an exercise: stub and solution are in the notebook, others are made from them.

The cell with the tag ``exercise-1`` is the stub of exercise 1, and the one with ``solution-1``
folds its solution. A lesson's ``exercises.py`` contains the checks, and refers to these cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from learnkit.course.lessons.lesson import Exercise, Verdict
from learnkit.course.lessons.question_file import ExerciseText
from learnkit.errors import UsageError

_TAG = re.compile(r"(?:exercise|solution)-\d+")
_FOLDED = re.compile(r"<details>.*?^```python\n(.*?)\n```$.*?</details>", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cell:
    """The stub or the solution of an exercise, as the notebook has it, with some text replaced.

    Attributes:
        tag: ``exercise`` for the stub, ``solution``; the notebook's tag adds the number.
        edits: pairs of old and new text, replaced in this order.
    """

    tag: str
    edits: tuple[tuple[str, str], ...] = ()

    def replace(self, old: str, new: str) -> Cell:
        """Return the same cell with one more text replaced, wherever it occurs."""
        return replace(self, edits=(*self.edits, (old, new)))

    def source(self, number: int, cells: Mapping[str, str]) -> str:
        """Return the text, from a notebook's cells."""
        tag = f"{self.tag}-{number}"
        if tag not in cells:
            raise UsageError(f"no cell of the notebook holds code and is tagged {tag}; tag one")
        text = cells[tag]
        for old, new in self.edits:
            if old not in text:
                raise UsageError(
                    f"the cell tagged {tag} does not hold {old!r}, which a right source in "
                    "exercises.py replaces; change it there too"
                )
            text = text.replace(old, new)
        return text


STUB, SOLUTION = Cell("exercise"), Cell("solution")


@dataclass(frozen=True, slots=True)
class Check:
    """The Python half of an exercise: its check, and right answers to test the check with.

    Attributes:
        check, right: as in :class:`learnkit.course.lessons.Exercise`, but a source may be made from
            the cells, ``STUB`` and ``SOLUTION``.
    """

    check: Callable[[Any], Verdict]
    right: Sequence[str | Cell]


def exercise(
    number: int, text: ExerciseText, checks: Mapping[str, Check], cells: Mapping[str, str]
) -> Exercise:
    """Put an exercise together from the data file, ``exercises.py`` and the notebook."""
    what = f"exercise {number}, {text.title!r}"
    if text.name not in checks:
        raise UsageError(f"{what}: EXERCISES in exercises.py has no {text.name!r}; add its check")
    check = checks[text.name]

    try:
        stub, solution, *right = (
            one if isinstance(one, str) else one.source(number, cells)
            for one in (STUB, SOLUTION, *check.right)
        )
    except UsageError as error:
        raise UsageError(f"{what}: {error}") from None
    return Exercise(
        text.title, text.minutes, text.name, check.check, text.hints, stub, solution, right
    )


def read(notebook: Path) -> dict[str, str]:
    """Return the stubs and solutions of a notebook file; see :func:`tagged_cells`."""
    return tagged_cells(json.loads(notebook.read_text("utf-8")))


def tagged_cells(book: Mapping[str, Any]) -> dict[str, str]:
    """Return the code of every cell that is tagged ``exercise-1``, ``solution-1``, and so on."""
    return {
        tag: code
        for cell in book["cells"]
        for tag in cell["metadata"].get("tags", ())
        if _TAG.fullmatch(tag) and (code := _code(cell["cell_type"], "".join(cell["source"])))
    }


def _code(kind: str, text: str) -> str:
    if kind == "code":
        return text
    found = _FOLDED.search(text)
    return found[1] if found else ""
