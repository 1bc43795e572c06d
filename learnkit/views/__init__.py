"""Views: pictures of an event log, live in JupyterLab and static everywhere else.

Each view is loaded when it is first used, and none of them imports a notebook library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learnkit.views.base import View
    from learnkit.views.branches import Branches
    from learnkit.views.compaction import Compaction
    from learnkit.views.contexts import Contexts
    from learnkit.views.dispatch import Dispatch
    from learnkit.views.messages import Messages
    from learnkit.views.protocol import Protocol
    from learnkit.views.schedule import Schedule
    from learnkit.views.skills import Skills
    from learnkit.views.tasks import Tasks
    from learnkit.views.team import Team
    from learnkit.views.timeline import Timeline
    from learnkit.views.todo import Todo
    from learnkit.views.tokens import Tokens
    from learnkit.views.traffic import Traffic
    from learnkit.views.worktrees import Worktrees

#: Public name -> the module here that defines it.
_HOMES = {
    "View": "base",
    "Branches": "branches",
    "Compaction": "compaction",
    "Contexts": "contexts",
    "Dispatch": "dispatch",
    "Messages": "messages",
    "Protocol": "protocol",
    "Schedule": "schedule",
    "Skills": "skills",
    "Tasks": "tasks",
    "Team": "team",
    "Timeline": "timeline",
    "Todo": "todo",
    "Tokens": "tokens",
    "Traffic": "traffic",
    "Worktrees": "worktrees",
}

__all__ = [
    "Branches",
    "Compaction",
    "Contexts",
    "Dispatch",
    "Messages",
    "Protocol",
    "Schedule",
    "Skills",
    "Tasks",
    "Team",
    "Timeline",
    "Todo",
    "Tokens",
    "Traffic",
    "View",
    "Worktrees",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'learnkit.views' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"learnkit.views.{_HOMES[name]}"), name)
    globals()[name] = value  # the next use costs nothing
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
