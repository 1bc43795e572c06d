"""Claims: who holds which task of the board, and how it is taken and given back.

The tools of the lead, those of a teammate and the search for work all use this service, and do not
know each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnkit.backends import rules
from learnkit.backends.task import Task
from learnkit.core.frames import AUTO_CLAIMED, defused
from learnkit.errors import ToolError
from learnkit.mechanisms.tasks import logged

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.base import TeamBase
    from learnkit.mechanisms.teams.teammate import Teammate


class Claims:
    """The tasks that the members of a team hold."""

    def __init__(self, team: TeamBase, board: BoardBackend) -> None:
        self.team, self.board = team, board

    def held(self, name: str) -> list[Task]:
        """Return the tasks that a member has in progress; those of an earlier run do not count."""
        return [one for one in self.board.tasks() if rules.holds(one, name, self.team.incarnation)]

    def claim(self, agent: Agent, id: int) -> Task:
        """Claim a task for an agent: of all that try, exactly one succeeds."""
        with logged(self.board, agent):
            return self.board.claim(id, agent.name)

    def claim_for(self, teammate: Teammate, id: int) -> Task:
        """Claim a task for a teammate; a new assignment begins with it."""
        if held := self.held(teammate.name):
            raise ToolError(
                f"you already hold task {held[0].id}; complete it or give it back first"
            )
        wanted = next((task for task in self.board.tasks() if task.id == id), None)
        if wanted is not None and not suits(wanted, teammate.role):
            raise ToolError(
                f"task {id} is for {', '.join(wanted.tags)}; your role is {teammate.role}"
            )
        task = self.claim(teammate.agent, id)
        self.team.assigned(teammate)
        return task

    def give_back(self, name: str, by: Agent) -> None:
        """Make the tasks that a member holds pending and free again."""
        with logged(self.board, by):
            self.board.release(name, self.team.incarnation)


def suits(task: Task, role: str) -> bool:
    """Whether a task is for a role: it has no tags, or the role is among them."""
    return not task.tags or role.casefold() in (tag.casefold() for tag in task.tags)


def as_text(task: Task) -> str:
    """Return a claimed task as text for the model, in a frame that its own text cannot end."""
    text = f"Task #{task.id}: {task.subject}\n{task.description}".strip()
    return f"<{AUTO_CLAIMED}>{defused(text)}</{AUTO_CLAIMED}>"
