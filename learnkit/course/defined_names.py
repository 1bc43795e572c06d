"""Find the names that code defines at its top level, for the cells below it."""

from __future__ import annotations

import symtable


def defined(source: str) -> set[str]:
    """Return the names that are assigned, imported, or defined by ``def`` or ``class``.

    Args:
        source: Python source, such as a cell's.

    Raises:
        SyntaxError: if it is not Python.
    """
    symbols = symtable.symtable(source, "source", "exec").get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}
