"""Find public functions, methods and classes that no test mentions.

    python find_untested.py SOURCE TESTS [--all]

SOURCE and TESTS are folders or files. Reads the code, does not run it, so it says where to look
first and not what is covered: a name that a test mentions may still be tested badly (measure with
coverage), and one that is reached only through others is listed although it runs. --all also
lists what is tested. Exits 1 if something is untested.
"""

from __future__ import annotations

import argparse
import ast
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PASSED_OVER = {".git", ".venv", "venv", "build", "dist", "node_modules", "__pycache__"}


@dataclass(frozen=True)
class Symbol:
    """Something public in the source.

    Attributes:
        path: its file.
        line: where it begins.
        name: with its class, as in ``Cart.total``.
        branches: places where its flow forks, a measure of how much there is to test.
    """

    path: Path
    line: int
    name: str
    branches: int


def python_files(place: Path) -> list[Path]:
    """The Python files of a folder, or the file itself."""
    if place.is_file():
        return [place]
    files = place.rglob("*.py")
    return sorted(f for f in files if PASSED_OVER.isdisjoint(f.relative_to(place).parts))


def is_test(path: Path) -> bool:
    """Whether a file is a test, so that tests beside the code are not taken for code."""
    return path.name.startswith(("test_", "conftest")) or path.name.endswith("_test.py")


def public(path: Path) -> Iterator[Symbol]:
    """The public functions, methods and classes without methods of their own."""

    def visit(body: list[ast.stmt], prefix: str) -> Iterator[Symbol]:
        for node in body:
            if isinstance(node, (ast.If, ast.Try)):  # definitions for one platform or version
                yield from visit([*node.body, *node.orelse], prefix)
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if node.name.startswith("_") or _is_declaration(node):
                continue
            if isinstance(node, ast.ClassDef):
                inner = list(visit(node.body, f"{prefix}{node.name}."))
                yield from inner
                if inner:
                    continue
            yield Symbol(path, node.lineno, prefix + node.name, _branches(node))

    yield from visit(_parsed(path).body, "")


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes(), str(path))


def _is_declaration(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether there is nothing to run: an overload or an abstract method."""
    marks = {name for one in node.decorator_list for name in _names(one)}
    return bool(marks & {"overload", "abstractmethod"})


def _branches(node: ast.AST) -> int:
    forks = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.match_case)
    forked = sum(isinstance(one, forks) for one in ast.walk(node))
    return forked + sum(len(n.values) - 1 for n in ast.walk(node) if isinstance(n, ast.BoolOp))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield from node.name.split(".")
        elif isinstance(node, ast.Constant) and str(node.value).isidentifier():
            yield str(node.value)  # getattr, or a table of names in parametrize


def find(source: Path, tests: Path) -> tuple[list[Symbol], list[Symbol]]:
    """The symbols that no test mentions, and those that one does."""
    test_files = python_files(tests)
    mentioned = {name for path in test_files for name in _names(_parsed(path))}
    files = [one for one in python_files(source) if one not in test_files and not is_test(one)]
    found = [symbol for path in files for symbol in public(path)]
    untested = [one for one in found if one.name.rpartition(".")[2] not in mentioned]
    return untested, [one for one in found if one not in untested]


def main() -> int:
    """List what is untested, what forks most first."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("source", type=Path)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--all", action="store_true", help="also list what is tested")
    arguments = parser.parse_args()
    try:
        for place in (arguments.source, arguments.tests):
            if not place.exists():
                raise FileNotFoundError(f"there is no {place}")
        untested, tested = find(arguments.source, arguments.tests)
    except (OSError, SyntaxError, ValueError) as error:
        print(f"cannot look for tests: {error}", file=sys.stderr)
        return 2
    for symbol in sorted(untested, key=lambda one: (-one.branches, str(one.path), one.line)):
        print(f"untested  {symbol.path}:{symbol.line}  {symbol.name}  ({symbol.branches} branches)")
    if arguments.all:
        for symbol in tested:
            print(f"tested    {symbol.path}:{symbol.line}  {symbol.name}")
    print(f"{len(untested)} of {len(untested) + len(tested)} public symbols are in no test")
    return 1 if untested else 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # with `| head`, end quietly as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
