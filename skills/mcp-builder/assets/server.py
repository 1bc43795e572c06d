"""An MCP server over stdio: copy it, and replace the example tool. It needs `pip install mcp`.

stdout belongs to the protocol: log to stderr, never with a bare ``print``.
"""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

server = MCPServer("words", instructions="Tools for looking at texts.")


@server.tool()
def count_words(text: Annotated[str, Field(description="Any text, of at most 1 MB.")]) -> str:
    """Count the words of a text. Returns the number in words. Use it; don't count yourself."""
    if len(text) > 1_000_000:
        raise ValueError("the text is longer than 1 MB: send a part of it")
    return f"{len(text.split())} words"


if __name__ == "__main__":
    server.run()
