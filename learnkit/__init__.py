"""learnkit: build a coding-agent harness, one mechanism at a time.

``import learnkit`` loads nothing else: each public name is imported when it is first used
(PEP 562), so a script pays only for the parts it touches.
"""

from __future__ import annotations

import gc
import importlib
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0.dev0"

#: Module -> the public names that it defines. What is public is written here and nowhere else; the
#: imports below tell the same to a type checker, and a test compares the two.
_PUBLIC = {
    "backends.connect": "open_backend",
    "backends.files.board": "TaskBoard",
    "backends.files.mailbox": "Mailbox",
    "clients.connect": "connect scripted",
    "clients.local": "local",
    "clients.scripted": "fail reply say use",
    "clients.server": "MessagesServer",
    "core.agent": "Agent Outcome",
    "core.catalog": "Price",
    "events.declaration": "event",
    "events.log": "Event EventLog",
    "core.interface": "Call Result",
    "core.mechanism": "Mechanism",
    "core.token_count": "estimate_tokens",
    "core.toolbox": "Toolbox",
    "core.tools": "Tool tool",
    "core.usage": "Usage",
    "course.lab": "lesson",
    "course.workbook.start_page": "contents",
    "errors": "LearnkitError ToolError UsageError",
    "harness": "full_agent",
    "mechanisms.autonomy": "Autonomy",
    "mechanisms.background": "Background",
    "mechanisms.checkpoints": "Checkpoints",
    "mechanisms.coding": "CodingTools",
    "mechanisms.compaction.mechanism": "Compaction",
    "mechanisms.goal": "Goal",
    "mechanisms.hooks": "UserHooks",
    "mechanisms.instructions": "Instructions",
    "mechanisms.mcp": "Mcp",
    "mechanisms.memory": "Memory",
    "mechanisms.permission": "Permission",
    "mechanisms.prompt_files": "PromptFiles",
    "mechanisms.protocols": "Protocols",
    "mechanisms.rules": "Rules",
    "mechanisms.settings": "Settings",
    "mechanisms.skills.mechanism": "Skills",
    "mechanisms.skills.skill": "Skill",
    "mechanisms.subagents": "Subagents",
    "mechanisms.tasks": "Tasks",
    "mechanisms.teams.lead": "Team",
    "mechanisms.todo": "Todo",
    "mechanisms.worktrees.mechanism": "Worktrees",
    "runtime.clock": "SystemClock",
    "runtime.shell": "BwrapShell LocalShell ShellResult",
    "runtime.virtual_clock": "VirtualClock",
    "sessions.read": "open_session",
    "widget.explore": "Answer drag explore pick",
    "widget.share": "share",
}
_HOMES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted(["views", *_HOMES])

if TYPE_CHECKING:
    from learnkit import views as views
    from learnkit.backends.connect import open_backend as open_backend
    from learnkit.backends.files.board import TaskBoard as TaskBoard
    from learnkit.backends.files.mailbox import Mailbox as Mailbox
    from learnkit.clients.connect import connect as connect
    from learnkit.clients.connect import scripted as scripted
    from learnkit.clients.local import local as local
    from learnkit.clients.scripted import fail as fail
    from learnkit.clients.scripted import reply as reply
    from learnkit.clients.scripted import say as say
    from learnkit.clients.scripted import use as use
    from learnkit.clients.server import MessagesServer as MessagesServer
    from learnkit.core.agent import Agent as Agent
    from learnkit.core.agent import Outcome as Outcome
    from learnkit.core.catalog import Price as Price
    from learnkit.core.interface import Call as Call
    from learnkit.core.interface import Result as Result
    from learnkit.core.mechanism import Mechanism as Mechanism
    from learnkit.core.token_count import estimate_tokens as estimate_tokens
    from learnkit.core.toolbox import Toolbox as Toolbox
    from learnkit.core.tools import Tool as Tool
    from learnkit.core.tools import tool as tool
    from learnkit.core.usage import Usage as Usage
    from learnkit.course.lab import lesson as lesson
    from learnkit.course.workbook.start_page import contents as contents
    from learnkit.errors import LearnkitError as LearnkitError
    from learnkit.errors import ToolError as ToolError
    from learnkit.errors import UsageError as UsageError
    from learnkit.events.declaration import event as event
    from learnkit.events.log import Event as Event
    from learnkit.events.log import EventLog as EventLog
    from learnkit.harness import full_agent as full_agent
    from learnkit.mechanisms.autonomy import Autonomy as Autonomy
    from learnkit.mechanisms.background import Background as Background
    from learnkit.mechanisms.checkpoints import Checkpoints as Checkpoints
    from learnkit.mechanisms.coding import CodingTools as CodingTools
    from learnkit.mechanisms.compaction.mechanism import Compaction as Compaction
    from learnkit.mechanisms.goal import Goal as Goal
    from learnkit.mechanisms.hooks import UserHooks as UserHooks
    from learnkit.mechanisms.instructions import Instructions as Instructions
    from learnkit.mechanisms.mcp import Mcp as Mcp
    from learnkit.mechanisms.memory import Memory as Memory
    from learnkit.mechanisms.permission import Permission as Permission
    from learnkit.mechanisms.prompt_files import PromptFiles as PromptFiles
    from learnkit.mechanisms.protocols import Protocols as Protocols
    from learnkit.mechanisms.rules import Rules as Rules
    from learnkit.mechanisms.settings import Settings as Settings
    from learnkit.mechanisms.skills.mechanism import Skills as Skills
    from learnkit.mechanisms.skills.skill import Skill as Skill
    from learnkit.mechanisms.subagents import Subagents as Subagents
    from learnkit.mechanisms.tasks import Tasks as Tasks
    from learnkit.mechanisms.teams.lead import Team as Team
    from learnkit.mechanisms.todo import Todo as Todo
    from learnkit.mechanisms.worktrees.mechanism import Worktrees as Worktrees
    from learnkit.runtime.clock import SystemClock as SystemClock
    from learnkit.runtime.shell import BwrapShell as BwrapShell
    from learnkit.runtime.shell import LocalShell as LocalShell
    from learnkit.runtime.shell import ShellResult as ShellResult
    from learnkit.runtime.virtual_clock import VirtualClock as VirtualClock
    from learnkit.sessions.read import open_session as open_session
    from learnkit.widget.explore import Answer as Answer
    from learnkit.widget.explore import drag as drag
    from learnkit.widget.explore import explore as explore
    from learnkit.widget.explore import pick as pick
    from learnkit.widget.share import share as share


def __getattr__(name: str) -> Any:
    if name == "views":
        value: Any = _load(name)
    elif name in _HOMES:
        value = getattr(_load(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'learnkit' has no attribute {name!r}")
    globals()[name] = value  # the next use costs nothing
    return value


def _load(module: str) -> Any:
    """Import a module. The SDK makes thousands of classes, and to look through them for garbage
    again and again would take a third of its second."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(f"learnkit.{module}")
    finally:
        if collects:
            gc.enable()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
