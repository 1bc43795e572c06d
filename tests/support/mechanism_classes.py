"""The mechanisms that the package defines, lesson by lesson, and what each has."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool

#: Lesson -> the modules and packages below ``learnkit.mechanisms`` that it is about.
HOMES = {
    "s02": ("coding", "permission"),
    **{"s03": ("todo",), "s04": ("subagents",), "s05": ("skills",), "s06": ("compaction",)},
    **{"s07": ("tasks",), "s08": ("background",), "s09": ("teams",), "s10": ("protocols",)},
    **{"s11": ("autonomy",), "s12": ("worktrees",)},
}


def within(home: str) -> list[type[Mechanism]]:
    """The mechanisms that a module or package defines, those of teammates too."""
    package = importlib.import_module(f"learnkit.mechanisms.{home}")
    inside = pkgutil.iter_modules(getattr(package, "__path__", ()), f"{package.__name__}.")
    modules = [package, *(importlib.import_module(entry.name) for entry in inside)]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Mechanism)
        and value.__module__ == module.__name__
    ]


def hooks_of(kind: type[Mechanism]) -> set[str]:
    """The hooks that a mechanism defines; ``tools`` if it offers any."""
    own = {hook for hook in Mechanism.HOOKS if getattr(kind, hook) is not getattr(Mechanism, hook)}
    return own | ({"tools"} if tools_of(kind) else set())


def tools_of(kind: type[Mechanism]) -> list[Tool]:
    """The tools that a class defines with ``@tool``."""
    values = (value for cls in reversed(kind.__mro__) for value in vars(cls).values())
    return [value for value in values if isinstance(value, Tool)]
