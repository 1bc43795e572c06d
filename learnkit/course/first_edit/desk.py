"""The way from a widget to the kernel's main thread, in the queue of its cells.

JupyterLab hands a widget's messages to a thread of their own, where a cell cannot run. A page of
JupyterLab therefore asks the kernel to execute one line, which calls :func:`press`. In other front
ends messages come to the main thread anyway.
"""

from __future__ import annotations

import json
import secrets
import weakref
from typing import Any, Protocol

from learnkit.errors import UsageError

Json = dict[str, Any]


class Acts(Protocol):
    """What has buttons."""

    def act(self, intent: Json) -> None:
        """Do what was asked for on the page."""
        ...


_DESKS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def opened(one: Acts) -> str:
    """Return the name under which :func:`press` finds something for as long as it exists."""
    name = secrets.token_hex(8)
    _DESKS[name] = one
    return name


def press(name: str, intent: str) -> None:
    """Hand on what was asked for on a page."""
    one: Acts | None = _DESKS.get(name)
    if one is None:
        raise UsageError("this kernel knows nothing of that panel: run its cell again")
    one.act(json.loads(intent))
