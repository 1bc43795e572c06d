"""The rules that need a kernel. A rehearsal runs a copy, every scenario three times.

Each cell that runs a scenario is run twice in a row, and all of them once more at the end, the
last one first. Probes around it see what is left behind.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell
from project import ROOT

from learnkit import verify

from .subject import Subject, parsed, tags

#: Runs first: what was there before.
BEFORE = "import threading as _t\n_threads = {one.ident for one in _t.enumerate()}"
#: Runs last, after lab.close(): what is there that was not.
AFTER = """
import json as _json, os as _os, psutil as _psutil, tempfile as _tempfile
print(_json.dumps({
    "threads": [one.name for one in _t.enumerate() if one.ident not in _threads],
    "processes": [one.name() for one in _psutil.Process().children(recursive=True)],
    "temporary files": sorted(_os.listdir(_tempfile.gettempdir())),
    "unused": lab.unused(),
}))
"""


@dataclass(slots=True)
class Rehearsal:
    """What came of running a notebook.

    Attributes:
        failure: the error that ended it, if one did.
        outputs: cell number -> its outputs, in the order in which it was run.
        left: what the probe at the end found.
        stray: what git saw afterwards that it had not seen before.
        refreshed: whether writing the outputs anew left every byte as it was.
    """

    subject: Subject
    failure: str = ""
    outputs: dict[int, list[Any]] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)
    stray: list[str] = field(default_factory=list)
    refreshed: bool = True


def rehearse(subject: Subject, folder: Path, *, refresh: bool = True) -> Rehearsal:
    """Run a notebook in a folder of its own, which git watches.

    Args:
        subject: the notebook; it is not changed.
        folder: an empty folder.
        refresh: write the outputs of the plain notebook anew, too; takes another kernel.
    """
    copy = folder / "notebooks" / subject.path.name
    temporary = folder / "tmp"
    temporary.mkdir()
    shutil.copy(ROOT / ".gitignore", folder)
    if (recordings := subject.home / "recordings").is_dir():
        shutil.copytree(recordings, copy.parent / "recordings")
    copy.parent.mkdir(exist_ok=True)
    nbformat.write(_extended(subject), copy)
    _git(folder, "init", "--quiet")
    before = _watched(folder)
    result = Rehearsal(subject)
    try:
        book = verify.execute(copy, {"TMPDIR": str(temporary)})
    except CellExecutionError as error:
        result.failure = f"{error.ename}: {error.evalue}"
        return result
    result.stray = sorted(set(_watched(folder)) - set(before))
    for cell in book.cells:
        for tag in tags(cell):
            if match := re.fullmatch(r"cell-(\d+)", tag):
                result.outputs.setdefault(int(match[1]), []).append(_compared(cell.outputs))
    result.left = json.loads(book.cells[-1].outputs[0].text)
    if refresh:
        nbformat.write(subject.book, copy)
        committed = copy.read_bytes()
        verify.refresh(copy)
        result.refreshed = copy.read_bytes() == committed
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


def _git(folder: Path, *command: str) -> str:
    done = subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def _watched(folder: Path) -> list[str]:
    """The files that git would take, temporary ones left out: those are looked at apart."""
    listing = _git(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    return [line for line in listing if not line.startswith("?? tmp/")]


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


def all_turns_used(result: Rehearsal) -> list[str]:
    """Every recorded turn is asked for."""
    return [f"turn {turn} of the recording is never used" for turn in result.left.get("unused", [])]


def nothing_left(result: Rehearsal) -> list[str]:
    """After the last cell there is no thread, process or temporary file of the lesson's."""
    return [
        f"{kind} left: {', '.join(found)}"
        for kind, found in result.left.items()
        if kind != "unused" and found
    ]


def git_clean(result: Rehearsal) -> list[str]:
    """git sees no file that was not there before."""
    return [f"git status shows {line}" for line in result.stray]


def refreshing_changes_nothing(result: Rehearsal) -> list[str]:
    """The committed bytes are those that `learnkit verify --refresh` writes."""
    return [] if result.refreshed else ["refreshing it changes the file: run it and read the diff"]


#: Name -> rule, as in ``rules.RULES``.
RULES: dict[str, Callable[[Rehearsal], list[str]]] = {
    rule.__name__: rule
    for rule in (
        *(runs_through, twice_the_same, any_order, all_turns_used, nothing_left, git_clean),
        refreshing_changes_nothing,
    )
}
