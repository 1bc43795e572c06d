"""A notebook as the rules see it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from learnkit.course import files
from learnkit.course.content import Lesson, load
from learnkit.course.content.sources import MAGIC


@dataclass(frozen=True, slots=True)
class Subject:
    """A notebook, and what belongs to it.

    Attributes:
        path: the file.
        book: what is in it.
        lesson: the texts that it shows.
        home: the folder that its links start from.
    """

    path: Path
    book: Any
    lesson: Lesson
    home: Path

    @classmethod
    def read(cls, path: Path) -> Subject:
        """The notebook at a path, with its lesson's texts."""
        return cls(path, nbformat.read(path, as_version=4), load(files.name(path)), path.parent)

    @property
    def name(self) -> str:
        """``s01`` to ``s12``, ``b1`` to ``b4``."""
        return files.name(self.path)

    @property
    def is_part_two(self) -> bool:
        """Whether it belongs to part two, whose notebooks are shorter."""
        return self.name.startswith("b")

    @property
    def code(self) -> list[tuple[int, Any]]:
        """The code cells, with the number of each among all cells, from 1."""
        return [(i, c) for i, c in enumerate(self.book.cells, start=1) if c.cell_type == "code"]

    @property
    def prose(self) -> list[tuple[int, str]]:
        """The Markdown cells' texts, likewise numbered."""
        cells = enumerate(self.book.cells, start=1)
        return [(i, cell.source) for i, cell in cells if cell.cell_type == "markdown"]

    @property
    def builds(self) -> bool:
        """Whether it has parts of ``agent.py``, so that the rules of ``own_file`` hold for it."""
        return any(is_agents(cell) for _, cell in self.code)

    @property
    def outputs(self) -> Iterator[tuple[int, Any]]:
        """Every output, with the number of its cell."""
        return ((number, output) for number, cell in self.code for output in cell.outputs)


#: What a rule is: it returns what it finds wrong, a line each.
Rule = Callable[[Subject], list[str]]


def tags(cell: Any) -> list[str]:
    """A cell's tags."""
    return list(cell.metadata.get("tags", []))


def is_agents(cell: Any) -> bool:
    """Whether a code cell is a part of ``agent.py``."""
    return bool(cell.source.startswith(MAGIC))


@cache
def parsed(source: str) -> ast.Module:
    """A cell's syntax tree; of a cell that is none, an empty one (ruff complains about it).

    What goes into ``agent.py`` is no name of the notebook.
    """
    if source.startswith(MAGIC):
        return ast.Module([], [])
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.Module([], [])


def lab_calls(source: str, method: str) -> list[ast.Call]:
    """The calls ``lab.<method>(...)`` in a source."""
    if method not in source:
        return []
    return [
        node
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"lab.{method}"
    ]


def constant(call: ast.Call) -> object:
    """A call's first argument, if it is a constant."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) else None


def unfenced(text: str) -> str:
    """Markdown without its fenced and inline code."""
    text = re.sub(r"^(```+|~~~+).*?^\1[`~]*\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def headings(text: str) -> list[tuple[int, str]]:
    """Level and title of each Markdown heading."""
    bare = re.sub(r"^(```+|~~~+).*?^\1[`~]*\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"^(#{1,6}) +(.+?)(?: +#+)?\s*$", bare, flags=re.MULTILINE)
    return [(len(marks), title) for marks, title in found]


def shown(output: Any) -> dict[str, str]:
    """An output's texts, by MIME type; streams and errors are ``text/plain``."""
    if output.output_type == "stream":
        return {"text/plain": output.text}
    if output.output_type == "error":
        return {"text/plain": "\n".join([output.ename, output.evalue, *output.traceback])}
    return {
        kind: data if isinstance(data, str) else str(data) for kind, data in output.data.items()
    }
