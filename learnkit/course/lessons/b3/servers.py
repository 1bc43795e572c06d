"""Servers of lesson b3, for a while: each experiment starts with the agent's own tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from learnkit.course.lessons.verdicts import with_settings


@contextmanager
def connected(agent: Any, servers: Mapping[str, Sequence[str]], **own: Any) -> Iterator[None]:
    """Let the module's next agent connect these servers, in a block; then they end.

    ``own`` has other values for the module, such as who answers for the user.
    """
    with with_settings(agent, SERVERS=servers, CONNECTED={}, TOOLS=dict(agent.TOOLS), **own):
        try:
            yield
        finally:
            if started := [one.process for one in agent.CONNECTED.values()]:
                agent.end(*started)  # without any it ends all commands
