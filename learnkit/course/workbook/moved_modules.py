"""Modules that have moved, and the rewriting of a learner's imports.

Learners' copies of the lessons may be older than the package. The table ``moved_modules.yaml`` is
the only place with the old names; with it, what learners have written keeps working.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import TypeAdapter

from learnkit.course import data_file

#: Old dotted name -> new dotted name.
MODULES: Mapping[str, str] = data_file.read(
    Path(__file__).with_suffix(".yaml"), TypeAdapter(dict[str, str])
)

#: A line for IPython, not for Python: a magic or a shell command.
_MAGIC = re.compile(r"^(\s*)(?:[%!?]|\w+\s*=\s*[%!]).*$", re.MULTILINE)

#: The first line of a cell in another language, such as ``%%bash``.
_OTHER = re.compile(r"\s*%%(?!time|capture)")


def rewrite(source: str, modules: Mapping[str, str]) -> str:
    """Return code in which every import, and every use of an imported module, has the new name.

    Args:
        source: a cell's source; anything but Python, such as another language, is not changed.
        modules: old name -> new name; submodules of an old name move with it.
    """
    tree = _parsed(source) if modules else None
    if tree is None:
        return source
    text = source.encode()
    lines = text.splitlines(keepends=True)
    for node in sorted(_named(tree, modules), key=lambda one: (one.lineno, one.col_offset))[::-1]:
        before = lines[node.lineno - 1][: node.col_offset]
        begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
        end = sum(map(len, lines[: (node.end_lineno or 0) - 1])) + (node.end_col_offset or 0)
        new = _renamed(node, text[begin:end].decode(), before.decode(), modules)
        text = text[:begin] + new.encode() + text[end:]
    return text.decode()


def _parsed(source: str) -> ast.Module | None:
    """The tree of a cell without its lines for IPython; None if the cell is not Python."""
    if _OTHER.match(source):
        return None
    for text in (source, _MAGIC.sub(lambda line: f"{line[1]}pass", source)):
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse(text)
    return None


_Node = ast.ImportFrom | ast.alias | ast.Attribute


def _named(tree: ast.AST, modules: Mapping[str, str]) -> Iterator[_Node]:
    """The nodes that name a moved module; none of them contains another one."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.ImportFrom):
            package = node.module or ""
            names = [package, *(f"{package}.{one.name}" for one in node.names)]
            if not node.level and any(_moved(name, modules) for name in names):
                yield node
        elif (isinstance(node, ast.alias) and _moved(node.name, modules)) or (
            isinstance(node, ast.Attribute) and _dotted(node) in modules
        ):
            yield node
        else:
            todo.extend(ast.iter_child_nodes(node))


def _renamed(node: _Node, source: str, before: str, modules: Mapping[str, str]) -> str:
    """What replaces a node's source; ``before`` is what its line has before it."""
    if isinstance(node, ast.Attribute):
        return modules[_dotted(node)]
    if isinstance(node, ast.alias):
        return _as(_moved(node.name, modules) or node.name, node.asname)
    package = node.module or ""
    home = _moved(package, modules) or package
    if not any(f"{package}.{one.name}" in modules for one in node.names):
        return re.sub(r"^from(\s+)[\w.]+", rf"from\1{home}", source)
    wanted: dict[str, list[str]] = {}
    for one in node.names:
        new = modules.get(f"{package}.{one.name}", f"{home}.{one.name}")
        where, _, last = new.rpartition(".")
        bound = one.asname or one.name
        wanted.setdefault(where, []).append(_as(last, None if bound == last else bound))
    between = "; " if before.strip() else f"\n{before}"
    return between.join(f"from {where} import {', '.join(n)}" for where, n in wanted.items())


def _moved(name: str, modules: Mapping[str, str]) -> str | None:
    """The new name of a module, by the longest row that is about it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if new := modules.get(".".join(parts[:length])):
            return ".".join([new, *parts[length:]])
    return None


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` of an expression that is made of names only; else empty."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""


def _as(name: str, bound: str | None) -> str:
    return f"{name} as {bound}" if bound else name
