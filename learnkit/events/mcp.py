"""The events of MCP servers."""

from __future__ import annotations

from learnkit.events.declaration import event
from learnkit.events.text import count, listed


def _connected(server: McpConnected) -> str:
    left = f"; left out: {listed([*server.problems])}" if server.problems else ""
    later = f", {server.deferred} of them until they are searched for" if server.deferred else ""
    return f"The MCP server {server.server} offers {count(server.tools, 'tool')}{later}{left}."


@event("mcp.connected", sentence=_connected)
class McpConnected:
    """A run begins with the tools of a server; ``problems`` names those that cannot be offered."""

    server: str
    tools: int = 0
    deferred: int = 0
    problems: tuple[str, ...] = ()


@event("mcp.failed", sentence="The MCP server {server} fails: {error}.")
class McpFailed:
    """A server does not start, or it has ended, or it does not answer in time."""

    server: str
    error: str
