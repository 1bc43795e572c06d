"""A connection to one MCP server, by the official SDK."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

from learnkit.errors import ToolError, extra

with extra("mcp"):
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.client.stdio import stdio_client

#: The most tools of one server that are looked at.
TOOLS = 1_000


class Connection:
    """One server, on the servers' thread: a task holds the connection, calls come from others."""

    def __init__(self, server: str | Sequence[str], limit: float) -> None:
        self._server, self._limit = server, limit
        self._client: Any = None
        self._task: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()

    async def listed(self) -> list[Any]:
        """All tools, page by page."""
        client = await self._connected()
        found: list[Any] = []
        cursor = None
        while len(found) < TOOLS:
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or not page.tools:
                break
        return found

    async def called(self, name: str, input: Any) -> Any:
        """The result of a call; a connection that has failed is not used again."""
        client = await self._connected()
        try:
            async with asyncio.timeout(self._limit):
                return await client.call_tool(name, input)
        except TimeoutError:
            raise ToolError(f"no answer in {self._limit:g} s") from None
        except MCPError as error:
            if "closed" in str(error).lower():
                await self.end()
            raise
        except Exception:
            await self.end()
            raise

    async def end(self) -> None:
        """Leave the server; one that we started ends."""
        task, self._task, self._client = self._task, None, None
        if task is not None:
            self._leave.set()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(asyncio.shield(task), 8)

    async def _connected(self) -> Any:
        if self._client is None:
            self._leave = asyncio.Event()
            ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._held(ready, self._leave))
            async with asyncio.timeout(self._limit):
                self._client = await ready
        return self._client

    async def _held(self, ready: asyncio.Future[Any], leave: asyncio.Event) -> None:
        """Hold the connection until it is to be left, in the one task that may close it."""
        try:
            with open("/dev/null", "w") as nowhere:  # noqa: PTH123 (what a server says to nobody)
                target: Any = self._server
                if not isinstance(target, str):
                    command, *arguments = target
                    started = StdioServerParameters(command=command, args=arguments)
                    target = stdio_client(started, errlog=nowhere)
                async with Client(target, read_timeout_seconds=self._limit, cache=None) as client:
                    ready.set_result(client)
                    await leave.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
