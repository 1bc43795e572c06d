"""Views: pictures of an event log, live in JupyterLab and static everywhere else.

Each view is loaded when it is first used, and none of them imports a notebook library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learnkit.views.compaction import Compaction as Compaction
    from learnkit.views.contexts import Contexts as Contexts
    from learnkit.views.dispatch import Dispatch as Dispatch
    from learnkit.views.drawing.base import View as View
    from learnkit.views.messages import Messages as Messages
    from learnkit.views.protocol import Protocol as Protocol
    from learnkit.views.schedule import Schedule as Schedule
    from learnkit.views.skills import Skills as Skills
    from learnkit.views.tasks import Tasks as Tasks
    from learnkit.views.team import Team as Team
    from learnkit.views.timeline import Timeline as Timeline
    from learnkit.views.todo import Todo as Todo
    from learnkit.views.tokens import Tokens as Tokens
    from learnkit.views.traffic import Traffic as Traffic
    from learnkit.views.worktrees import Worktrees as Worktrees

#: Public name -> the module here that defines it.
_HOMES = {
    name: name.lower()
    for name in (
        *("Compaction", "Contexts", "Dispatch", "Messages", "Protocol", "Schedule"),
        *("Skills", "Tasks", "Team", "Timeline", "Todo", "Tokens", "Traffic", "Worktrees"),
    )
} | {"View": "drawing.base"}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'learnkit.views' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"learnkit.views.{_HOMES[name]}"), name)
    globals()[name] = value  # the next use costs nothing
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
