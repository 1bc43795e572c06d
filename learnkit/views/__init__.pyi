"""The views, and the modules that define them."""

from .compaction import Compaction as Compaction
from .contexts import Contexts as Contexts
from .dispatch import Dispatch as Dispatch
from .drawing.base import View as View
from .messages import Messages as Messages
from .protocol import Protocol as Protocol
from .schedule import Schedule as Schedule
from .skills import Skills as Skills
from .tasks import Tasks as Tasks
from .team import Team as Team
from .timeline import Timeline as Timeline
from .todo import Todo as Todo
from .tokens import Tokens as Tokens
from .traffic import Traffic as Traffic
from .worktrees import Worktrees as Worktrees

__all__: list[str]
