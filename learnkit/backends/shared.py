"""A JSON value that several processes share: a file, or a row in a database.

What is small and changes seldom, the requests and the members of a team, is one such value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from learnkit.errors import UsageError

#: Version of the values and files that a backend writes. What has none has version 1.
VERSION = 1

#: Numbers of tasks, messages and requests stay below.
MAX_ID = 10**9

T = TypeVar("T")


class Shared(Protocol):
    """One value."""

    def read(self, default: Any = None) -> Any:
        """Return the value as it is, or ``default`` if none was stored."""

    def update(
        self, act: Callable[[Any], T], default: Any = None, *, repeatable: bool = False
    ) -> T:
        """Let a function change the value in place, with no other change between.

        It returns what the function returns, which JSON can hold. Nothing changes when it raises.
        Only what is ``repeatable`` may happen twice, if a connection breaks.
        """

    def damaged(self, problem: str) -> UsageError:
        """Return the error for what is stored: it says where that is."""


def following(stored: Any, highest: int) -> int:
    """Return the number that comes next, from what a counter says and from what is in use."""
    sound = type(stored) is int and 0 < stored < MAX_ID
    return max(stored if sound else 1, highest + 1)
