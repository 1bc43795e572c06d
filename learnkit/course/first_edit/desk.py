"""The way from a widget to the kernel's main thread, in the queue of its cells.

JupyterLab hands a widget's messages to a thread of their own, where a cell cannot run. A page of
JupyterLab therefore asks the kernel to execute one line, which calls :func:`press`. In other front
ends messages come to the main thread anyway.
"""

from __future__ import annotations

import json
import secrets
import weakref
from typing import Any

from learnkit.errors import UsageError

_DESKS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def opened(one: Any) -> str:
    """Return the name under which :func:`press` finds what has buttons, while it exists."""
    name = secrets.token_hex(8)
    _DESKS[name] = one
    return name


def press(name: str, intent: str) -> None:
    """Hand on what was asked for on a page."""
    if (one := _DESKS.get(name)) is None:
        raise UsageError("this kernel knows nothing of that panel: run its cell again")
    one.act(json.loads(intent))
