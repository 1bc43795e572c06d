"""The sources of an exercise: its stub and its solution are cells of the notebook.

The cell with the tag ``exercise-1`` is the stub of exercise 1, and the one with ``solution-1``
folds its solution. A lesson's ``exercises.py`` contains the checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.course.content.lesson import Exercise, Verdict
from learnkit.course.content.question_file import ExerciseText
from learnkit.errors import UsageError

_TAG = re.compile(r"(?:exercise|solution)-\d+")
_FOLDED = re.compile(r"<details>.*?^```python\n(.*?)\n```$.*?</details>", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Check:
    """The Python half of an exercise: its check, and right answers to test the check with.

    Attributes:
        check, right: as in :class:`learnkit.course.lessons.Exercise`.
    """

    check: Callable[[Any], Verdict]
    right: Sequence[str]


def exercise(
    number: int, text: ExerciseText, checks: Mapping[str, Check], cells: Mapping[str, str]
) -> Exercise:
    """Put an exercise together from the data file, ``exercises.py`` and the notebook."""
    what = f"exercise {number}, {text.title!r}"
    if text.name not in checks:
        raise UsageError(f"{what}: EXERCISES in exercises.py has no {text.name!r}; add its check")
    try:
        stub, solution = (cells[f"{kind}-{number}"] for kind in ("exercise", "solution"))
    except KeyError as error:
        raise UsageError(
            f"{what}: no cell of the notebook holds code and is tagged {error.args[0]}; tag one"
        ) from None
    own = checks[text.name]
    return Exercise(
        text.title, text.minutes, text.name, own.check, text.hints, stub, solution, own.right
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
