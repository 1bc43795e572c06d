"""learnkit: build a coding-agent harness, one mechanism at a time.

``import learnkit`` loads nothing else: each public name is imported when it is first used
(PEP 562), so a script pays only for the parts it touches.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from learnkit import charts as charts
    from learnkit import models as models
    from learnkit import views as views
    from learnkit.agent import Agent, Outcome
    from learnkit.autonomy import Autonomy
    from learnkit.background import Background
    from learnkit.board import TaskBoard
    from learnkit.client.modes import connect, scripted
    from learnkit.client.scripted import fail, reply, say, use
    from learnkit.clock import SystemClock, VirtualClock
    from learnkit.coding import CodingTools
    from learnkit.compaction import Compaction, micro_compact
    from learnkit.errors import LearnkitError, ToolError, UsageError
    from learnkit.events import Event, EventLog
    from learnkit.forking import fork
    from learnkit.harness import full_agent
    from learnkit.lab import lesson
    from learnkit.mailbox import Mailbox
    from learnkit.mechanism import Call, Mechanism
    from learnkit.pages import share
    from learnkit.permission import Permission
    from learnkit.protocols import Protocols
    from learnkit.shell import BwrapShell, LocalShell, ShellResult
    from learnkit.skillfile import Skill
    from learnkit.skills import Skills
    from learnkit.startpage import contents
    from learnkit.subagents import Subagents
    from learnkit.tasks import Tasks
    from learnkit.team import Team
    from learnkit.todo import Todo
    from learnkit.tokens import estimate_tokens
    from learnkit.tools import Tool, Toolbox, tool
    from learnkit.worktrees import Worktrees

#: Public name -> the module that defines it.
_HOMES = {
    "Agent": "agent",
    "Call": "mechanism",
    "Mechanism": "mechanism",
    "Outcome": "agent",
    "connect": "client.modes",
    "fail": "client.scripted",
    "reply": "client.scripted",
    "say": "client.scripted",
    "scripted": "client.modes",
    "use": "client.scripted",
    "Background": "background",
    "contents": "startpage",
    "fork": "forking",
    "share": "pages",
    "Mailbox": "mailbox",
    "Autonomy": "autonomy",
    "Protocols": "protocols",
    "Team": "team",
    "Worktrees": "worktrees",
    "TaskBoard": "board",
    "Tasks": "tasks",
    "SystemClock": "clock",
    "VirtualClock": "clock",
    "LearnkitError": "errors",
    "ToolError": "errors",
    "UsageError": "errors",
    "Event": "events",
    "EventLog": "events",
    "lesson": "lab",
    "Permission": "permission",
    "BwrapShell": "shell",
    "LocalShell": "shell",
    "ShellResult": "shell",
    "Skill": "skillfile",
    "Skills": "skills",
    "estimate_tokens": "tokens",
    "full_agent": "harness",
    "CodingTools": "coding",
    "Tool": "tools",
    "Toolbox": "tools",
    "tool": "tools",
    "Todo": "todo",
    "Subagents": "subagents",
    "Compaction": "compaction",
    "micro_compact": "compaction",
    "charts": "",
    "models": "",
    "views": "",
}

__all__ = [
    "Agent",
    "Autonomy",
    "Background",
    "BwrapShell",
    "Call",
    "CodingTools",
    "Compaction",
    "Event",
    "EventLog",
    "LearnkitError",
    "LocalShell",
    "Mailbox",
    "Mechanism",
    "Outcome",
    "Permission",
    "Protocols",
    "ShellResult",
    "Skill",
    "Skills",
    "Subagents",
    "SystemClock",
    "TaskBoard",
    "Tasks",
    "Team",
    "Todo",
    "Tool",
    "ToolError",
    "Toolbox",
    "UsageError",
    "VirtualClock",
    "Worktrees",
    "charts",
    "connect",
    "contents",
    "estimate_tokens",
    "fail",
    "fork",
    "full_agent",
    "lesson",
    "micro_compact",
    "models",
    "reply",
    "say",
    "scripted",
    "share",
    "tool",
    "use",
    "views",
]


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module 'learnkit' has no attribute {name!r}") from None
    if home == "":
        value: Any = importlib.import_module(f"learnkit.{name}")
    else:
        value = getattr(importlib.import_module(f"learnkit.{home}"), name)
    globals()[name] = value  # the next use costs nothing
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
