"""The public names of learnkit, and the modules that define them.

Type checkers read this file, and so does ``__init__.py``: what is public is written here and
nowhere else.
"""

from . import views as views
from .backends.connect import open_backend as open_backend
from .backends.files.board import TaskBoard as TaskBoard
from .backends.files.mailbox import Mailbox as Mailbox
from .clients.connect import connect as connect
from .clients.connect import scripted as scripted
from .clients.local import local as local
from .clients.scripted import Reply as Reply
from .clients.scripted import fail as fail
from .clients.scripted import reply as reply
from .clients.scripted import say as say
from .clients.scripted import use as use
from .clients.server import MessagesServer as MessagesServer
from .core.agent import Agent as Agent
from .core.agent import Outcome as Outcome
from .core.catalog import Price as Price
from .core.interface import Call as Call
from .core.interface import Result as Result
from .core.mechanism import Mechanism as Mechanism
from .core.token_count import estimate_tokens as estimate_tokens
from .core.toolbox import Toolbox as Toolbox
from .core.tools import Tool as Tool
from .core.tools import tool as tool
from .core.usage import Usage as Usage
from .course.lab import lesson as lesson
from .course.workbook.start_page import contents as contents
from .errors import LearnkitError as LearnkitError
from .errors import ToolError as ToolError
from .errors import UsageError as UsageError
from .events.declaration import event as event
from .events.log import Event as Event
from .events.log import EventLog as EventLog
from .harness import full_agent as full_agent
from .mechanisms.autonomy import Autonomy as Autonomy
from .mechanisms.background import Background as Background
from .mechanisms.checkpoints import Checkpoints as Checkpoints
from .mechanisms.coding import CodingTools as CodingTools
from .mechanisms.compaction.mechanism import Compaction as Compaction
from .mechanisms.goal import Goal as Goal
from .mechanisms.hooks import UserHooks as UserHooks
from .mechanisms.instructions import Instructions as Instructions
from .mechanisms.mcp import Mcp as Mcp
from .mechanisms.memory import Memory as Memory
from .mechanisms.permission import Permission as Permission
from .mechanisms.prompt_files import PromptFiles as PromptFiles
from .mechanisms.protocols import Protocols as Protocols
from .mechanisms.rules import Rules as Rules
from .mechanisms.settings import Settings as Settings
from .mechanisms.skills.mechanism import Skills as Skills
from .mechanisms.skills.skill import Skill as Skill
from .mechanisms.subagents import Subagents as Subagents
from .mechanisms.tasks import Tasks as Tasks
from .mechanisms.teams.lead import Team as Team
from .mechanisms.todo import Todo as Todo
from .mechanisms.worktrees.mechanism import Worktrees as Worktrees
from .runtime.clock import SystemClock as SystemClock
from .runtime.shell import BwrapShell as BwrapShell
from .runtime.shell import LocalShell as LocalShell
from .runtime.shell import ShellResult as ShellResult
from .runtime.virtual_clock import VirtualClock as VirtualClock
from .sessions.read import open_session as open_session
from .widget.explore import Answer as Answer
from .widget.explore import drag as drag
from .widget.explore import explore as explore
from .widget.explore import pick as pick
from .widget.share import share as share

__version__: str
__all__: list[str]
