"""A call of a tool without an agent, for the cells of lesson 2 that compare results."""

from __future__ import annotations

from typing import Any

import learnkit as lk


def result(tool: Any, **arguments: Any) -> str:
    """Call a tool as the harness would, and return the text that the model would read."""
    try:
        return str(tool.run(None, arguments))
    except lk.ToolError as error:
        return str(error)
