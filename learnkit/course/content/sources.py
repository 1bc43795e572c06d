"""What a notebook's cells hold for others: stubs and solutions of exercises, parts of ``agent.py``.

The cell with the tag ``exercise-1`` is the stub of exercise 1. Its solution is in the data file, or
folded in the cell with ``solution-1``. A lesson's ``exercises.py`` contains the checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from learnkit.course.content.lesson import Exercise, Verdict
from learnkit.course.content.question_file import ExerciseText
from learnkit.errors import UsageError

_TAG = re.compile(r"(?:exercise|solution)-\d+")
#: The first line of a cell whose definitions go into the learner's ``agent.py``.
MAGIC = "%%agent"
#: The decorator that checks an exercise; the stub is what is below it.
_CHECKED = re.compile(r"^@lab\.exercise\(\d+\)\n", re.MULTILINE)
_FOLDED = re.compile(r"<details>.*?^```python\n(.*?)\n```$.*?</details>", re.DOTALL | re.MULTILINE)


def exercise(
    number: int,
    text: ExerciseText,
    checks: Mapping[str, Callable[[Any], Verdict]],
    cells: Mapping[str, str],
) -> Exercise:
    """Put an exercise together from the data file, ``exercises.py`` and the notebook."""
    what = f"exercise {number}, {text.title!r}"
    if text.name not in checks:
        raise UsageError(f"{what}: EXERCISES in exercises.py has no {text.name!r}; add its check")
    try:
        stub = cells[f"exercise-{number}"]
        solution = text.solution or cells[f"solution-{number}"]
    except KeyError as error:
        raise UsageError(
            f"{what}: no cell of the notebook holds code and is tagged {error.args[0]}; tag one"
        ) from None
    check = checks[text.name]
    return Exercise(text.title, text.minutes, text.name, check, text.hints, stub, solution)


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


def agent_cells(book: Mapping[str, Any]) -> list[str]:
    """Return the code of every cell with ``%%agent``, and of those tagged ``repair`` below it.

    A repair is folded in a Markdown cell; its definitions take the place of the naive ones above.
    """
    found = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and text.startswith(f"{MAGIC}\n"):
            found.append(text.removeprefix(f"{MAGIC}\n"))
        elif "repair" in cell["metadata"].get("tags", ()):
            found += [code for code in (_code(cell["cell_type"], text),) if code]
    return found


def folded_repairs(book: Mapping[str, Any]) -> list[str]:
    """Return the code that is folded in each cell tagged ``repair``, in order."""
    tagged = [cell for cell in book["cells"] if "repair" in cell["metadata"].get("tags", ())]
    return agent_cells({"cells": tagged})


def _code(kind: str, text: str) -> str:
    if kind == "code":
        return _CHECKED.sub("", text)
    found = _FOLDED.search(text)
    return found[1] if found else ""
