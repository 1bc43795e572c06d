"""Toolbox: the mechanism that only offers tools, for those that need no hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import Tool


class Toolbox(Mechanism):
    """Offers tools to an agent.

    Args:
        tools: made with ``@tool``; a plain function is made one.
    """

    def __init__(self, *tools: Tool | Callable[..., Any]) -> None:
        self._tools = tuple(one if isinstance(one, Tool) else Tool(one) for one in tools)

    @property
    def tools(self) -> Sequence[Tool]:
        """In the order given."""
        return self._tools
