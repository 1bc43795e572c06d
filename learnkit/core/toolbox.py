"""Toolbox: the mechanism that only offers tools, for those that need no hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool
from learnkit.errors import UsageError


class Toolbox(Mechanism):
    """Offers tools to an agent.

    Args:
        tools: made with ``@tool``; a plain function is made one.

    Raises:
        UsageError: for two tools of one name.
    """

    def __init__(self, *tools: Tool | Callable[..., Any]) -> None:
        self._tools = tuple(one if isinstance(one, Tool) else Tool(one) for one in tools)
        names = [one.name for one in self._tools]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"two tools are called {doubled[0]!r}; rename one with @tool(name=…)")

    @property
    def tools(self) -> Sequence[Tool]:
        """In the order given."""
        return self._tools
