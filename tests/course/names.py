"""The rule about running a cell again: the names that it reads must be what they were."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from dataclasses import dataclass, field

from .subject import Rule, Subject, parsed


@dataclass(slots=True)
class Names:
    """The names of a code cell.

    Attributes:
        number: of the cell, from 1.
        reads: what it takes from the cells before it.
        binds: what it assigns, imports or defines -> the statement that does, as text.
        bodies: function or class -> the names that its code takes from the notebook.
    """

    number: int
    reads: set[str] = field(default_factory=set)
    binds: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, set[str]] = field(default_factory=dict)


def names_of(number: int, source: str) -> Names:
    """The names of a code cell, a statement after the other."""
    found = Names(number)
    for statement in parsed(source).body:
        top = scopes(ast.unparse(statement))
        symbols = top.get_symbols()
        bound = {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}
        reads = {one.get_name() for one in symbols if one.is_referenced()}
        inside = set[str]().union(*map(_globals, top.get_children()))
        defines = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        if not defines:
            reads |= inside
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
            reads -= bound  # the variable of a loop, or of a with
        found.reads |= _followed(reads, found.bodies) - found.binds.keys() - set(dir(builtins))
        imported = isinstance(statement, ast.Import | ast.ImportFrom)
        for name in bound:
            found.binds[name] = f"import {name}" if imported else ast.unparse(statement)
            found.bodies.pop(name, None)
        if defines:
            found.bodies[statement.name] = inside
    return found


def _followed(names: set[str], bodies: dict[str, set[str]]) -> set[str]:
    """Names, and those that the code of the functions among them takes from the notebook."""
    while more := set[str]().union(*(bodies[one] for one in names & bodies.keys())) - names:
        names = names | more
    return names


def _globals(table: symtable.SymbolTable) -> set[str]:
    """The names that the code of a function or class takes from the notebook, at any depth."""
    own = {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    return own.union(*map(_globals, table.get_children()))


def lasting_names(subject: Subject) -> list[str]:
    """No cell reads a name that a later cell gives another value: after Run All, it would show
    something else, or fail.
    """
    cells = [names_of(number, cell.source) for number, cell in subject.code]
    return [found for place in range(len(cells)) for found in _overwritten(cells, place)]


def _overwritten(cells: list[Names], place: int) -> Iterator[str]:
    cell = cells[place]
    through = {name: "" for name in cell.reads}
    waiting = sorted(cell.reads)
    while waiting:
        name = waiting.pop()
        before = next((one for one in reversed(cells[:place]) if name in one.binds), None)
        if before is None:
            continue  # another cell defines it later, and calls what reads it
        for inner in sorted(before.bodies.get(name, set()) - through.keys()):
            through[inner] = f" through {name}"
            waiting.append(inner)
        again = [*cells[place + 1 :], *([cell] if name in cell.reads else [])]
        for later in again:
            if later.binds.get(name, before.binds[name]) != before.binds[name]:
                yield (
                    f"cell {cell.number} reads {name}{through[name]}, and cell {later.number} "
                    "gives it another value: call one of the two something else"
                )
                break


def scopes(source: str) -> symtable.SymbolTable:
    """Return the table of a source's names, in which comprehensions are scopes of their own.

    From Python 3.12 on the variables of a comprehension are listed among those of the code around
    it, unless it is a generator (PEP 709).
    """
    tree = _Generators().visit(ast.parse(source))
    return symtable.symtable(ast.unparse(tree), "source", "exec")


class _Generators(ast.NodeTransformer):
    """Makes generators of all comprehensions."""

    def visit_ListComp(self, node: ast.ListComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    def visit_SetComp(self, node: ast.SetComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        return ast.GeneratorExp(node.elt, node.generators)

    def visit_DictComp(self, node: ast.DictComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        return ast.GeneratorExp(ast.Tuple([node.key, node.value], ast.Load()), node.generators)


RULES: tuple[Rule, ...] = (lasting_names,)
