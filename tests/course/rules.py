"""The rules that need no kernel: a notebook's form. See ``teaching`` and ``texts`` for the rest."""

from __future__ import annotations

import ast
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import nbformat
from project import ROOT

from . import names, own_file, reading, teaching, texts
from .subject import Rule, Subject, is_agents, parsed

#: What a cell's code must not do: nbval fails on it, or it needs a network.
HAZARDS = {
    r"^\s*(?!%%agent$)[!%]": "a shell or magic command (its output is not compared reliably)",
    r"\bclear_output\b": "clear_output fails in nbval",
    r"\bwidgets\.Output\b|\binteract\(": "an Output widget or interact fails in nbval",
    r"\bOut\[": "Out[] depends on what ran before",
    r"\bpip\b.*\binstall\b": "installing needs a network",
}
#: Bytes a notebook may have.
SIZE = 300_000


def counted(subject: Subject) -> list[str]:
    """Every code cell has its execution count, 1 to n; nbval passes cells that have none."""
    found = []
    for count, (number, cell) in enumerate(subject.code, start=1):
        if not cell.source.strip():
            found.append(f"cell {number} is empty")
        if cell.execution_count != count:
            found.append(f"cell {number} has execution count {cell.execution_count}, not {count}")
    return found


def no_widgets(subject: Subject) -> list[str]:
    """No widget is stored: it would be dead, and differ every time."""
    found = ["metadata.widgets is there"] if "widgets" in subject.book.metadata else []
    for number, output in subject.outputs:
        kinds = [kind for kind in output.get("data", {}) if "jupyter.widget" in kind]
        found += [f"cell {number} holds {kind}" for kind in kinds]
    return found


def stable_metadata(subject: Subject) -> list[str]:
    """Only metadata that does not change from run to run; every cell has its own id."""
    found = []
    if set(subject.book.metadata) - {"widgets"} != {"kernelspec", "language_info"}:
        found.append(f"the metadata holds {', '.join(sorted(subject.book.metadata))}")
    ids = [cell.get("id") for cell in subject.book.cells]
    if None in ids or len(set(ids)) != len(ids):
        found.append("a cell has no id, or the id of another")
    for number, cell in subject.code:
        if extra := sorted(set(cell.metadata) - {"tags", "jupyter"}):
            found.append(f"cell {number} has the metadata {', '.join(extra)}")
    return found


def short_cells(subject: Subject) -> list[str]:
    """At most 20 lines a code cell, and a median of at most 8; the loop is given whole."""
    cells = [(number, cell) for number, cell in subject.code if not is_agents(cell)]
    lengths = {number: len(cell.source.splitlines()) for number, cell in cells}
    found = [
        f"cell {number} has {n} lines, more than 20" for number, n in lengths.items() if n > 20
    ]
    if lengths and (median := statistics.median(lengths.values())) > 8:
        found.append(f"the median code cell has {median:g} lines, more than 8")
    return found


def no_hazards(subject: Subject) -> list[str]:
    """Nothing that a comparison of outputs trips over, and nothing that needs a network."""
    return [
        f"cell {number}: {why}"
        for number, cell in subject.code
        for pattern, why in HAZARDS.items()
        if re.search(pattern, cell.source, flags=re.MULTILINE)
    ]


def no_attachments(subject: Subject) -> list[str]:
    """No attachments: GitHub shows none."""
    cells = enumerate(subject.book.cells, start=1)
    return [f"cell {i} has attachments" for i, cell in cells if cell.get("attachments")]


def small(subject: Subject) -> list[str]:
    """Under 300 KB, which GitHub still renders."""
    size = len(nbformat.writes(subject.book).encode())
    return [f"it has {size:,} bytes; {SIZE:,} are allowed"] if size >= SIZE else []


def linted(subject: Subject) -> list[str]:
    """Clean for ruff, with the repository's settings, F821 and F811 among them; and formatted."""
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / subject.path.name
        nbformat.write(subject.book, copy)
        check = [*ruff, "check", *options, "--no-respect-gitignore", "--output-format=json"]
        report = subprocess.run([*check, str(copy)], capture_output=True, text=True, check=False)
        form = [*ruff, "format", "--check", "--quiet", *options, str(copy)]
        formatted = subprocess.run(form, capture_output=True, check=False).returncode == 0
    if report.returncode not in (0, 1):
        return [f"ruff could not run: {report.stderr.strip()}"]
    found = [f"cell {e['cell']}: {e['code']} {e['message']}" for e in json.loads(report.stdout)]
    return found if formatted else [*found, "it is not formatted: run `ruff format` on it"]


def pasted(subjects: Iterable[Subject]) -> list[str]:
    """Functions of more than five lines that stand in two places, under whatever names."""
    places = defaultdict(list)
    for subject in subjects:
        for number, cell in subject.code:
            if "@lab.exercise(" in cell.source:
                continue
            for node in ast.walk(parsed(cell.source)):
                if not isinstance(node, ast.FunctionDef):
                    continue
                if (node.end_lineno or 0) - node.lineno + 1 > 5:
                    where = f"{subject.name} cell {number} ({node.name})"
                    places[_shape(node)].append(where)
    return [f"pasted: {', '.join(where)}" for where in places.values() if len(where) > 1]


def _shape(function: ast.FunctionDef) -> str:
    """A function without its docstring, its annotations and the names that it gives."""
    function = ast.parse(ast.unparse(function)).body[0]  # type: ignore[assignment]
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        del function.body[0]
    function.name, function.returns = "_", None
    own = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    own |= {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    numbers: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.annotation = None
            node.arg = numbers.setdefault(node.arg, f"_{len(numbers)}")
        elif isinstance(node, ast.Name) and node.id in own:
            node.id = numbers.setdefault(node.id, f"_{len(numbers)}")
    return ast.dump(function)


def never_pasted(subject: Subject) -> list[str]:
    """No function over five lines stands twice in this notebook."""
    return pasted([subject])


_EVERYWHERE = (
    *(counted, no_widgets, stable_metadata, short_cells),
    *(no_hazards, no_attachments, small, linted, never_pasted),
    *(teaching.set_up, texts.one_heading_tree, texts.links, texts.figures, texts.clean_outputs),
    *(reading.letters, reading.sourced_figures, reading.plain_words),
    *names.RULES,
)
#: Name -> rule.
RULES: dict[str, Rule] = {rule.__name__: rule for rule in (*_EVERYWHERE, *own_file.RULES)}
