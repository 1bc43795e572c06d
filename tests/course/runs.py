"""The rules that need a kernel of their own. A rehearsal runs a copy, every scenario three times.

Each cell that runs a scenario is run twice in a row, and all of them once more at the end, the
last one first. Probes around it see what is left behind. What one plain execution can tell is
looked at where it happens, in ``pytest --nbval``: see ``tests/support/executed.py``.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from executed import AFTER, BEFORE, Run, all_turns_used, files, no_file_left, nothing_left
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell

from learnkit import verify

from .subject import Subject, parsed, tags


@dataclass(slots=True)
class Rehearsal(Run):
    """What came of rehearsing a notebook.

    Attributes:
        failure: the error that ended it, if one did.
        outputs: cell number -> its outputs, in the order in which it was run.
    """

    failure: str = ""
    outputs: dict[int, list[Any]] = field(default_factory=dict)


def rehearse(subject: Subject, folder: Path) -> Rehearsal:
    """Run a notebook in a folder of its own.

    Args:
        subject: the notebook; it is not changed.
        folder: an empty folder.
    """
    copy = folder / "notebooks" / subject.path.name
    temporary = folder / "tmp"
    temporary.mkdir()
    if (recordings := subject.home / "recordings").is_dir():
        shutil.copytree(recordings, copy.parent / "recordings")
    copy.parent.mkdir(exist_ok=True)
    nbformat.write(_extended(subject), copy)
    before = files(copy.parent)
    result = Rehearsal()
    try:
        book = verify.execute(copy, {"TMPDIR": str(temporary)})
    except CellExecutionError as error:
        result.failure = f"{error.ename}: {error.evalue}"
        return result
    result.stray = sorted(files(copy.parent) - before)
    for cell in book.cells:
        for tag in tags(cell):
            if match := re.fullmatch(r"cell-(\d+)", tag):
                result.outputs.setdefault(int(match[1]), []).append(_compared(cell.outputs))
    result.left = json.loads(book.cells[-1].outputs[0].text)
    return result


def scenario_cells(subject: Subject) -> list[int]:
    """The numbers of the cells that run a scenario, by themselves or through a function."""
    runs = r"\blab\.scenario\("
    functions = {
        node.name
        for _, cell in subject.code
        for node in parsed(cell.source).body
        if isinstance(node, ast.FunctionDef) and re.search(runs, ast.unparse(node))
    }
    pattern = "|".join([runs, *(rf"\b{name}\(" for name in sorted(functions))])
    return [number for number, cell in subject.code if re.search(pattern, cell.source)]


def _extended(subject: Subject) -> Any:
    """The notebook with its scenarios repeated, between two probes."""
    scenarios = scenario_cells(subject)
    book = deepcopy(subject.book)
    numbered = list(enumerate(book.cells, start=1))
    again = {number: _again(number, cell) for number, cell in numbered if number in scenarios}
    last = max((n for n, cell in numbered if cell.cell_type == "code"), default=0)
    cells = [new_code_cell(BEFORE)]
    for number, cell in numbered:
        if number == last:
            cells += [deepcopy(again[n]) for n in reversed(scenarios)]
        cells.append(cell)
        if number in again:
            cell.metadata["tags"] = [*tags(cell), f"cell-{number}"]
            cells.append(again[number])
    book.cells = [*cells, new_code_cell(AFTER)]
    for number, cell in enumerate(book.cells):
        cell.id = f"cell{number}"
    return book


def _again(number: int, cell: Any) -> Any:
    """The cell once more; when it fails this time, that is an output to compare."""
    copy = deepcopy(cell)
    copy.metadata["tags"] = ["raises-exception", f"cell-{number}"]
    return copy


def _compared(outputs: list[Any]) -> list[Any]:
    """Outputs as nbval compares them: without the count and without the traceback."""
    ignored = ("execution_count", "traceback")
    return [{k: v for k, v in output.items() if k not in ignored} for output in outputs]


def runs_through(result: Rehearsal) -> list[str]:
    """No cell fails that is not meant to."""
    return [f"it stops at {result.failure}"] if result.failure else []


def twice_the_same(result: Rehearsal) -> list[str]:
    """A scenario run twice in a row shows the same."""
    return [
        f"cell {number} shows something else when it is run again"
        for number, shown in result.outputs.items()
        if shown[1] != shown[0]
    ]


def any_order(result: Rehearsal) -> list[str]:
    """The scenarios, last one first, show the same."""
    return [
        f"cell {number} shows something else when it is run after later ones"
        for number, shown in result.outputs.items()
        if shown[2] != shown[1]
    ]


#: Name -> rule, as in ``rules.RULES``.
RULES: dict[str, Callable[[Any], list[str]]] = {
    rule.__name__: rule
    for rule in (
        runs_through,
        twice_the_same,
        any_order,
        nothing_left,
        all_turns_used,
        no_file_left,
    )
}
