"""Planting a fault: one line of a module says something else for a while.

The code of the module's own functions is swapped, so that everything that refers to them has the
fault, nothing is copied, and no file changes. What was swapped is put back at the end, also after
an exception, and only one fault is planted at a time.
"""

from __future__ import annotations

import importlib
import inspect
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from learnkit.errors import UsageError

#: Held while a fault is planted: a second one could restore what the first has put there.
_PLANTED = threading.Lock()


@contextmanager
def planted(module: ModuleType | str, old: str, new: str) -> Iterator[None]:
    """Have one line of a module say something else while the block runs.

    Args:
        module: the module, or its name.
        old: the whole line without its indentation; no other line of the module is the same.
        new: what stands there instead, one line.

    Raises:
        UsageError: if the line is not there or ambiguous, the new one is no Python, changes
            nothing, or changes what is no function's code; or while another fault is planted.
    """
    if isinstance(module, str):
        module = importlib.import_module(module)
    if not _PLANTED.acquire(blocking=False):
        raise UsageError("another fault is planted; leave its block first")
    swapped: list[tuple[FunctionType, CodeType]] = []
    try:
        for function, code in _swaps(module, *_compiled(module, old, new)):
            swapped.append((function, function.__code__))
            function.__code__ = code
        yield
    finally:
        for function, code in swapped:
            function.__code__ = code
        _PLANTED.release()


def _compiled(module: ModuleType, old: str, new: str) -> tuple[CodeType, CodeType]:
    """The module's code as it is, and with the other line."""
    source, file = inspect.getsource(module), str(module.__file__)
    lines = source.split("\n")
    places = [place for place, line in enumerate(lines) if line.strip() == old.strip()]
    if len(places) != 1 or "\n" in new:
        raise UsageError(
            f"{old!r} stands {len(places)} times in {module.__name__}; give one line that stands "
            "there once, and one line in its place"
        )
    line = lines[places[0]]
    lines[places[0]] = line[: len(line) - len(line.lstrip())] + new.strip()
    try:
        changed = compile("\n".join(lines), file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise UsageError(f"{new!r} is no Python in the place of {old!r}: {error}") from None
    return compile(source, file, "exec", dont_inherit=True), changed


def _swaps(module: ModuleType, old: CodeType, new: CodeType) -> list[tuple[FunctionType, CodeType]]:
    """Each function of the module whose code differs, with its new code."""
    changed = _changed(old, new)
    if not changed:
        raise UsageError(f"{module.__name__} has no function that the new line changes")
    live = list(_functions(vars(module), module.__name__, set()))
    swaps = []
    for before, after in changed:
        found = [one for one in live if one.__code__ == before]
        if not found:
            raise UsageError(
                f"no function of {module.__name__} has the code of {before.co_qualname}; it may "
                "run only at import, or the file has changed: restart the kernel then"
            )
        swaps += [(one, after) for one in found]
    return swaps


def _changed(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]]:
    """The code of the functions that differ; what runs at import must be the same.

    That includes which variables from around it a function is given when it is made.

    Raises:
        UsageError: if it is not.
    """
    if _bare(old) != _bare(new):
        raise UsageError(
            f"{old.co_qualname} would have to be made anew; give a line inside of a function, and "
            "one that uses the same variables from around it in its place"
        )
    found = []
    for before, after in zip(_inner(old), _inner(new), strict=True):
        if before.co_flags & inspect.CO_OPTIMIZED:
            found += [(before, after)] if _placeless(before) != _placeless(after) else []
        else:  # the body of a class
            found += _changed(before, after)
    return found


def _inner(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _placeless(code: CodeType) -> CodeType:
    """The code without its columns: a space more is no change."""
    consts = (_placeless(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(consts))


def _bare(code: CodeType) -> tuple[Any, ...]:
    """What a module's or a class's own body does, without the functions in it."""
    consts = [
        one.co_name if isinstance(one, CodeType) else repr(one)
        for one in code.co_consts
        if not _lists_attributes(code, one)
    ]
    return code.co_code, code.co_names, consts


def _lists_attributes(code: CodeType, const: Any) -> bool:
    """From Python 3.13 on a class notes the attributes that its methods set; nobody reads that."""
    names = isinstance(const, tuple) and all(isinstance(one, str) for one in const)
    return names and "__static_attributes__" in code.co_names


def _functions(names: Any, module: str, seen: set[int]) -> Iterator[FunctionType]:
    """The functions that were written in a module, in classes and behind decorators too."""
    for value in list(names.values()):
        yield from _written(value, module, seen)


def _written(value: Any, module: str, seen: set[int]) -> Iterator[FunctionType]:
    if value is None or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, type):
        if value.__module__ == module:
            yield from _functions(vars(value), module, seen)
        return
    if isinstance(value, FunctionType) and value.__module__ == module:
        yield value
    # A property has up to three functions, a wrapper the one that it was made from.
    for name in ("fget", "fset", "fdel", "func", "__func__", "__wrapped__"):
        inner = inspect.getattr_static(value, name, None)
        if isinstance(value, property) or inner is not None:
            yield from _written(getattr(value, name, None), module, seen)
