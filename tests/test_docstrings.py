"""Whatever a user reaches says what it is, and what each of its parameters is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from typing import Any

import learnkit
from learnkit.core.tools import Tool

#: The modules whose every public name a user reaches, beside the names of ``lk.*``.
_PUBLIC = re.compile(r"learnkit\.(testing(\..*)?|.*\binterface|course\.lab)")

#: The section of a docstring that lists parameters: all lines that are indented deeper.
_SECTION = re.compile(r"^( *)(?:Args|Attributes):\n((?:\1 +\S.*\n?| *\n)*)", re.M)


def public() -> Iterator[tuple[str, Any, str]]:
    """Full name, callable and documentation of what a user reaches, each once."""
    values = [getattr(home, name) for home in (learnkit, learnkit.views) for name in home.__all__]
    for found in pkgutil.walk_packages(learnkit.__path__, "learnkit."):
        if _PUBLIC.fullmatch(found.name):
            module = importlib.import_module(found.name)
            names = (name for name in vars(module) if not name.startswith("_"))
            values += [
                value
                for value in map(vars(module).get, names)
                if getattr(value, "__module__", None) == found.name
            ]
    seen = {}
    for value in values:
        if inspect.isfunction(value):
            name = f"{value.__module__}:{value.__qualname__}"
            seen[name] = (name, value, inspect.getdoc(value) or "")
        elif inspect.isclass(value):
            for base in value.__mro__:
                if base.__module__.startswith("learnkit."):
                    seen |= {each[0]: each for each in methods(base)}
    yield from seen.values()


def methods(cls: type) -> Iterator[tuple[str, Any, str]]:
    """The same of a class; a method that a base class documents need not repeat it."""
    for name, value in vars(cls).items():
        function = getattr(value, "__func__", value)  # of a class or static method
        if name.startswith("_") or isinstance(value, Tool) or not inspect.isfunction(function):
            continue
        bases = [vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)]
        documented = [function.__doc__, *(getattr(base, "__doc__", None) for base in bases)]
        yield (
            f"{cls.__module__}:{cls.__name__}.{name}",
            function,
            "\n".join(filter(None, documented)),
        )
    constructor = vars(cls).get("__init__")
    if inspect.isfunction(constructor) and _written_in(constructor, cls.__module__):
        doc = "\n".join(filter(None, [cls.__doc__, constructor.__doc__]))
        yield f"{cls.__module__}:{cls.__name__}.__init__", constructor, doc


def _written_in(function: Any, module: str) -> bool:
    """Whether a function is in a module's text, and not generated, as by a dataclass."""
    return bool(function.__code__.co_filename == sys.modules[module].__file__)


def missing(function: Any, doc: str) -> list[str]:
    """The parameters that a documentation leaves out."""
    if re.search(r"^\s*See :\w+:`", doc):
        return []
    parameters = [
        parameter.removeprefix("*")
        for parameter in inspect.signature(function).parameters
        if parameter not in ("self", "cls") and not parameter.startswith("_")
    ]
    said = "\n".join(found[2] for found in _SECTION.finditer(doc))
    entry = r"^ +(?:\w+, )*\**{}(?:, \w+)*:"
    return [one for one in parameters if not re.search(entry.format(one), said, re.M)]


def promised() -> set[tuple[str, ...]]:
    """Name and parameters of the methods that a protocol documents, for all that follow it."""
    return {
        (name.rpartition(".")[2], *inspect.signature(function).parameters)
        for name, function, doc in public()
        if not missing(function, doc) and _is_protocol(name)
    }


def _is_protocol(name: str) -> bool:
    module, _, rest = name.partition(":")
    owner = getattr(sys.modules[module], rest.partition(".")[0])
    return getattr(owner, "_is_protocol", False)


def test_parameters_are_documented() -> None:
    once = promised()
    found = {
        name: left_out
        for name, function, doc in public()
        if (left_out := missing(function, doc))
        and (name.rpartition(".")[2], *inspect.signature(function).parameters) not in once
    }
    assert found == {}


def test_a_public_callable_has_a_first_sentence() -> None:
    none = re.compile(r"\s*(\w+:\n|\Z)")  # a section comes first, or nothing at all
    assert [name for name, _, doc in public() if none.match(doc)] == []


def test_a_parameter_that_is_left_out_is_found() -> None:
    def good(path: str, *, size: int) -> None: ...

    doc = "Cut.\n\nArgs:\n    path: of the file.\n    {}: in bytes.\n"
    assert missing(good, doc.format("size")) == []
    assert missing(good, doc.format("length")) == ["size"]
    assert missing(good, "Cut.") == ["path", "size"]
    elsewhere = "\nReturns:\n    size: in bytes.\n"
    assert missing(good, doc.format("see size") + elsewhere) == ["size"]
