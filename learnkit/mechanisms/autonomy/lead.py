"""Autonomy: a teammate that has nothing to do looks for work, and ends when there is none.

The lead does not assign tasks. A teammate that is idle looks at its inbox first, then at the board:
it claims a task that is ready and suits its role, and of all that try exactly one succeeds. So
there is no single agent that all others wait for. A teammate that ends gives its tasks back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from learnkit.backends import rules
from learnkit.backends.task import Task
from learnkit.core.frames import REMINDER
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.autonomy.claims import Claims, as_text, suits
from learnkit.mechanisms.autonomy.teammate import TeammateAutonomy
from learnkit.mechanisms.tasks import log_board
from learnkit.mechanisms.teams.teammate import Change, Extension, Teammate, Work

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.base import TeamBase

_HOW = (
    "Teammates find work on their own. Put tasks on the board, tagged with the roles that they "
    "suit, and idle teammates claim them. You do not need to assign them."
)


class Autonomy(Mechanism, Extension):
    """The lead's side of autonomy; a teammate gets its own when it is started.

    Changes of the board are logged as :class:`learnkit.Tasks` logs them.

    Args:
        team: whose lead it serves.
        board: where the tasks are.
        poll: seconds after which an idle teammate looks at the board again.
        idle: seconds after which a teammate that has found nothing shuts down.

    Raises:
        UsageError: for times that cannot be, or a team that has autonomy already.
    """

    def __init__(
        self, team: TeamBase, board: BoardBackend, *, poll: float = 5.0, idle: float = 60.0
    ) -> None:
        if not (poll > 0 and idle >= 0):
            raise UsageError(f"poll is {poll} s and idle {idle} s; give numbers above 0")
        if any(isinstance(one, Autonomy) for one in team.extensions):
            raise UsageError("this team has its autonomy already")
        self.team, self.board = team, board
        self.claims = Claims(team, board)
        self._reminded: set[tuple[str, int]] = set()
        team.poll, team.patience = poll, idle
        team.extensions.append(self)

    # The lead

    def system(self, agent: Agent) -> str | None:
        """How work is shared. Tasks that members of an earlier process held are free again."""
        log_board(self.board, agent)
        there = {one.name for one in self.team.members if one.status != "shutdown"}
        for entry in self.team.roster.members():
            elsewhere = "incarnation" in entry  # in a process of its own, perhaps alive
            if entry["name"] not in there and not elsewhere:
                self.claims.give_back(entry["name"], agent)
        return _HOW

    @tool(internal=True)
    def idle(self) -> str:
        """Report that you have nothing to do. A lead just ends its turn: messages wake it."""
        return "End your turn. While teammates work, their messages wake you."

    @tool(internal=True)
    def claim_task(self, task_id: int) -> str:
        """Claim a task on the board. If several agents try, exactly one succeeds.

        Args:
            task_id: Id of the task.
        """
        return as_text(self.claims.claim(self.team.lead, task_id))

    # The team

    def member(self, teammate: Teammate) -> Sequence[Mechanism]:
        """A teammate's side."""
        return [TeammateAutonomy(self.claims, teammate)]

    def changed(self, teammate: Teammate, what: Change) -> None:
        """A teammate that has shut down, or found nothing for too long, gives its tasks back."""
        if what in ("shutdown", "unused"):
            self.claims.give_back(teammate.name, teammate.agent)

    def work(self, teammate: Teammate, *, late: bool = False) -> Work | None:
        """A task that suits an idle teammate, if it holds none; late, a reminder of what it holds.

        It is reminded of each task once: what it still holds when it shuts down is given back.
        """
        if held := self.claims.held(teammate.name):
            new = [task for task in held if (teammate.name, task.id) not in self._reminded]
            return partial(self._remind, teammate, new) if late and new else None
        ready = [task for task in self.board.ready() if suits(task, teammate.role)]
        return partial(self._claim_first, teammate, ready) if ready else None

    def has_work_for(self, name: str, role: str, incarnation: str) -> bool:
        """Whether a task suits a teammate of another process that holds none."""
        if any(rules.holds(task, name, incarnation) for task in self.board.tasks()):
            return False
        return any(suits(task, role) for task in self.board.ready())

    def _claim_first(self, teammate: Teammate, tasks: Sequence[Task]) -> str | None:
        """Claim the first of the tasks that is still there; None if there is none."""
        for task in tasks:
            try:
                return as_text(self.claims.claim_for(teammate, task.id))
            except ToolError:
                continue  # another teammate was faster
        return None

    def _remind(self, teammate: Teammate, tasks: Sequence[Task]) -> str:
        self._reminded.update((teammate.name, task.id) for task in tasks)
        still = ", ".join(f"#{task.id}" for task in tasks)
        text = f"You still hold {still}. Complete it, or it will be given back."
        return f"<{REMINDER}>{text}</{REMINDER}>"

    def wait(self) -> None:
        """Wait until every teammate has shut down.

        Raises:
            BaseException: the exception that ended a teammate's thread.
        """
        for teammate in self.team.members:
            if teammate.worker is not None:
                teammate.worker.join()
