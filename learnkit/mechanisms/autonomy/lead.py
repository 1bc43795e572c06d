"""Autonomy: a teammate that has nothing to do looks for work, and ends when there is none.

No lead hands the tasks out. Whoever is idle looks at its mail first, then at the board: it claims a
task that is ready and suits it, and of all who try exactly one succeeds. So there is no single
point that could be slow or dead. One that ends gives back what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from learnkit.backends.files.task import Task
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.autonomy.teammate import Seeker, suits, told
from learnkit.mechanisms.tasks import Board, Person, log_board, logged
from learnkit.mechanisms.teams.teammate import Extension, Teammate

if TYPE_CHECKING:
    from learnkit.core.agent import Agent
    from learnkit.core.events import EventLog
    from learnkit.mechanisms.teams.lead import Team

_HOW = (
    "Teammates find work by themselves: put tasks on the board, with tags for the roles that they "
    "suit, and who is idle claims one. You need not hand them out."
)


def additions(board: Board, events: EventLog) -> Callable[[dict[str, Any]], None]:
    """What a view does when somebody adds a task in it: put it on the board, and log that.

    Example: ``lk.views.Team(log, buttons=…, on_intent=additions(board, log))``.

    Args:
        board: to change.
        events: the log of the view.
    """

    def added(intent: dict[str, Any]) -> None:
        tag = str(intent.get("add", ""))
        with logged(board, Person(events)):
            board.create(f"yours, for {tag or 'anyone'}", tags=[tag] if tag else [])

    return added


class Market(Board, Protocol):
    """A board from which tasks can be claimed; :class:`learnkit.TaskBoard` is one."""

    def ready(self) -> list[Task]: ...
    def claim(self, id: int, owner: str) -> Task: ...


class Autonomy(Mechanism, Extension):
    """The lead's side of autonomy; a teammate gets its own with its first prompt.

    Changes of the board are logged as :class:`learnkit.Tasks` logs them.

    Args:
        team: whose lead it serves.
        board: where the tasks are.
        poll: seconds between two looks of one that is idle.
        idle: seconds after which one that has found nothing shuts down.

    Raises:
        UsageError: for times that cannot be, or a team that has autonomy already.
    """

    def __init__(self, team: Team, board: Market, *, poll: float = 5.0, idle: float = 60.0) -> None:
        if not (poll > 0 and idle >= 0):
            raise UsageError(f"poll is {poll} s and idle {idle} s; give numbers above 0")
        if any(isinstance(one, Autonomy) for one in team.extensions):
            raise UsageError("this team has its autonomy already")
        self.team, self.board = team, board
        self._reminded: set[tuple[str, int]] = set()
        team.poll, team.patience = poll, idle
        team.extensions.append(self)

    # The lead

    def system(self, agent: Agent) -> str | None:
        """How work is shared out. What members of an earlier process held is free again."""
        log_board(self.board, agent)
        there = {one.name for one in self.team.members if one.status != "shutdown"}
        for entry in self.team.roster.members():
            if entry["name"] not in there:
                self._give_back(entry["name"], agent)
        return _HOW

    @tool
    def idle(self, agent: Agent | None) -> str:
        """Say that you have nothing to do. A lead just ends its turn: mail will wake it."""
        return "End your turn; as long as teammates work, their mail wakes you."

    @tool
    def claim_task(self, agent: Agent | None, task_id: int) -> str:
        """Take a task from the board; exactly one of all who try gets it.

        Args:
            task_id: its number.
        """
        return told(self._claim(self.team.lead, task_id))

    # The team

    def member(self, mate: Teammate) -> Sequence[Mechanism]:
        """A teammate's side."""
        return [Seeker(self, mate)]

    def changed(self, mate: Teammate) -> None:
        """One that has ended gives its tasks back."""
        if mate.status == "shutdown":
            self._give_back(mate.name, mate.agent)

    def work(self, mate: Teammate) -> str | None:
        """A task for one that is idle and holds none, already claimed."""
        if self.held(mate.name):
            return None
        for task in self.board.ready():
            if suits(task, mate.role):
                try:
                    return told(self.claim_for(mate, task.id))
                except ToolError:
                    continue  # somebody else was faster
        return None

    def last(self, mate: Teammate) -> str | None:
        """A word to one that would end with a task in its hands; once for each task."""
        new = [task for task in self.held(mate.name) if (mate.name, task.id) not in self._reminded]
        self._reminded.update((mate.name, task.id) for task in new)
        if not new:
            return None
        still = ", ".join(f"#{task.id}" for task in new)
        return f"<reminder>You still hold {still}. Complete it, or it goes back.</reminder>"

    def has_work(self, mate: Teammate) -> bool:
        """Whether it could claim a task."""
        if self.held(mate.name):
            return False
        return any(suits(task, mate.role) for task in self.board.ready())

    def claim_for(self, mate: Teammate, id: int) -> Task:
        """Claim a task for a teammate; a new assignment begins with it.

        Raises:
            ToolError: if it is not ready, does not suit, or the teammate holds another one.
        """
        if held := self.held(mate.name):
            raise ToolError(f"you hold task {held[0].id}; complete it, or give it back, first")
        wanted = next((task for task in self.board.tasks() if task.id == id), None)
        if wanted is not None and not suits(wanted, mate.role):
            raise ToolError(f"task {id} is for {', '.join(wanted.tags)}; you are {mate.role}")
        task = self._claim(mate.agent, id)
        self.team.assigned(mate)
        return task

    def wait(self) -> None:
        """Wait until every teammate has ended: for want of work, or otherwise.

        Raises:
            BaseException: the exception that ended a teammate's thread.
        """
        for mate in self.team.members:
            if mate.worker is not None:
                mate.worker.join()

    def _claim(self, agent: Agent, id: int) -> Task:
        with logged(self.board, agent):
            return self.board.claim(id, agent.name)

    def held(self, name: str) -> list[Task]:
        """The tasks that somebody is at."""
        return [
            task
            for task in self.board.tasks()
            if task.status == "in_progress" and task.owner == name
        ]

    def _give_back(self, name: str, by: Agent) -> None:
        with logged(self.board, by):
            for task in self.held(name):
                self.board.update(task.id, "pending")
