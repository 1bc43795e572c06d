"""Planting a fault: one line of a module is replaced for a while.

The code of the module's own functions is swapped, so everything that refers to them has the fault,
and no file changes. The original code is restored at the end, also after an exception. Only one
fault can be planted at a time.
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

#: Held while a fault is planted, because a second one could restore the code of the first.
_PLANTED = threading.Lock()


@contextmanager
def planted(module: ModuleType | str, old: str, new: str) -> Iterator[None]:
    """Replace one line of a module while the block runs.

    Args:
        module: the module, or its name.
        old: the whole line without its indentation; no other line of the module may be the same.
        new: the one line to put in its place.

    Raises:
        UsageError: if the line is missing or ambiguous, or the new one is not Python, changes
            nothing, or changes more than a function's code; or if another fault is planted.
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
    """The module's code as it is, and with the new line."""
    source, file = inspect.getsource(module), str(module.__file__)
    lines = source.split("\n")
    found = [number for number, line in enumerate(lines) if line.strip() == old.strip()]
    if len(found) != 1 or "\n" in new:
        raise UsageError(
            f"{old!r} occurs {len(found)} times in {module.__name__}; give a line that occurs "
            "once, and one line to put in its place"
        )
    line = lines[found[0]]
    lines[found[0]] = line[: len(line) - len(line.lstrip())] + new.strip()
    try:
        changed = compile("\n".join(lines), file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise UsageError(f"{new!r} is not Python in the place of {old!r}: {error}") from None
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
                f"no function of {module.__name__} has the code of {before.co_qualname}; either it "
                "runs only at import, or the file has changed: then restart the kernel"
            )
        swaps += [(one, after) for one in found]
    return swaps


def _changed(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]]:
    """The code of the functions that differ; the code that runs at import must be the same.

    That includes the variables of the enclosing function that a function is defined with.

    Raises:
        UsageError: if it is not.
    """
    if _body(old) != _body(new):
        raise UsageError(
            f"{old.co_qualname} would have to be defined again; give a line inside a function, and "
            "a new one that uses the same variables of the enclosing function"
        )
    found = []
    for before, after in zip(_inner(old), _inner(new), strict=True):
        if before.co_flags & inspect.CO_OPTIMIZED:
            found += [(before, after)] if _position_free(before) != _position_free(after) else []
        else:  # the body of a class
            found += _changed(before, after)
    return found


def _inner(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _position_free(code: CodeType) -> CodeType:
    """The code without its positions, so that one more space is no change."""
    consts = (_position_free(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(consts))


def _body(code: CodeType) -> tuple[Any, ...]:
    """The body of a module or a class, without the functions in it."""
    consts = [
        one.co_name if isinstance(one, CodeType) else repr(one)
        for one in code.co_consts
        if not _lists_attributes(code, one)
    ]
    return code.co_code, code.co_names, consts


def _lists_attributes(code: CodeType, const: Any) -> bool:
    """Whether a class lists the attributes that its methods set; only Python 3.13 and later do."""
    names = isinstance(const, tuple) and all(isinstance(one, str) for one in const)
    return names and "__static_attributes__" in code.co_names


def _functions(names: Any, module: str, seen: set[int]) -> Iterator[FunctionType]:
    """The functions that a module defines, including those in classes and under decorators."""
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
    # A property has up to three functions, a decorated function the one that it wraps.
    for name in ("fget", "fset", "fdel", "func", "__func__", "__wrapped__"):
        inner = inspect.getattr_static(value, name, None)
        if isinstance(value, property) or inner is not None:
            yield from _written(getattr(value, name, None), module, seen)
