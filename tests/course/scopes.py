"""The names of a source and their scopes, on each version of Python."""

from __future__ import annotations

import ast
import symtable


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
