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
from learnkit.core.content import Block, spoken
from learnkit.core.frames import AUTO_CLAIMED, IDENTITY, REMINDER, defused
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.tools import tool
from learnkit.errors import ToolError, UsageError
from learnkit.mechanisms.tasks import log_board, logged
from learnkit.mechanisms.teams.teammate import Change, Extension, TeamBase, Teammate, Work

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.core.agent import Agent

_LEAD = (
    "Teammates find work on their own. Put tasks on the board, tagged with the roles that they "
    "suit, and idle teammates claim them. You do not need to assign them."
)
_MEMBER = (
    "When your work is done, end your turn or call idle. The next task arrives as <auto-claimed> "
    "and is already yours. When it is done, set it to completed, with the outcome in "
    "result_summary."
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
                self._give_back(entry["name"], agent)
        return _LEAD

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
        return as_text(self._claim(self.team.lead, task_id))

    # The team

    def member(self, teammate: Teammate) -> Sequence[Mechanism]:
        """A teammate's side."""
        return [TeammateAutonomy(self, teammate)]

    def changed(self, teammate: Teammate, what: Change) -> None:
        """A teammate that has shut down, or found nothing for too long, gives its tasks back."""
        if what in ("shutdown", "unused"):
            self._give_back(teammate.name, teammate.agent)

    def work(self, teammate: Teammate, *, late: bool = False) -> Work | None:
        """A task that suits an idle teammate, if it holds none; late, a reminder of what it holds.

        It is reminded of each task once: what it still holds when it shuts down is given back.
        """
        if held := self._held(teammate.name):
            new = [task for task in held if (teammate.name, task.id) not in self._reminded]
            return partial(self._remind, teammate, new) if late and new else None
        ready = [task for task in self.board.ready() if suits(task, teammate.role)]
        return partial(self._claim_first, teammate, ready) if ready else None

    def has_work_for(self, name: str, role: str, incarnation: str) -> bool:
        """Whether a task suits a teammate of another process that holds none."""
        if any(rules.holds(task, name, incarnation) for task in self.board.tasks()):
            return False
        return any(suits(task, role) for task in self.board.ready())

    def claim_for(self, teammate: Teammate, id: int) -> Task:
        """Claim a task for a teammate; a new assignment begins with it.

        Args:
            teammate: who works on it from now on.
            id: of the task.

        Raises:
            ToolError: if it holds another task, the task is for other roles, or cannot be claimed.
        """
        if held := self._held(teammate.name):
            raise ToolError(
                f"you already hold task {held[0].id}; complete it or give it back first"
            )
        wanted = next((task for task in self.board.tasks() if task.id == id), None)
        if wanted is not None and not suits(wanted, teammate.role):
            raise ToolError(
                f"task {id} is for {', '.join(wanted.tags)}; your role is {teammate.role}"
            )
        task = self._claim(teammate.agent, id)
        self.team.assigned(teammate)
        return task

    def _held(self, name: str) -> list[Task]:
        """The tasks that a member has in progress; those of an earlier run do not count."""
        return [one for one in self.board.tasks() if rules.holds(one, name, self.team.incarnation)]

    def _claim(self, agent: Agent, id: int) -> Task:
        """Claim a task for an agent: of all that try, exactly one succeeds."""
        with logged(self.board, agent):
            return self.board.claim(id, agent.name)

    def _give_back(self, name: str, by: Agent) -> None:
        """Make the tasks that a member holds pending and free again."""
        with logged(self.board, by):
            self.board.release(name, self.team.incarnation)

    def _claim_first(self, teammate: Teammate, tasks: Sequence[Task]) -> str | None:
        """Claim the first of the tasks that is still there; None if there is none."""
        for task in tasks:
            try:
                return as_text(self.claim_for(teammate, task.id))
            except ToolError:
                continue  # another teammate was faster
        return None

    def _remind(self, teammate: Teammate, tasks: Sequence[Task]) -> str:
        self._reminded.update((teammate.name, task.id) for task in tasks)
        still = ", ".join(f"#{task.id}" for task in tasks)
        text = f"You still hold {still}. Complete it, or it will be given back."
        return f"<{REMINDER}>{text}</{REMINDER}>"


class TeammateAutonomy(Mechanism):
    """A teammate's side: it offers ``idle`` and ``claim_task``, and restores a lost identity."""

    def __init__(self, autonomy: Autonomy, teammate: Teammate) -> None:
        self._autonomy, self._mate = autonomy, teammate
        self._idle = False
        self._seen = 0  # events that were examined

    @property
    def identity(self) -> str:
        """Who the teammate is, as its messages say it after a compaction."""
        name, role, team = self._mate.name, self._mate.role, self._autonomy.team.name
        about = defused(f"You are {name!r}, role: {role}, team: {team}")
        return f"<{IDENTITY}>{about}</{IDENTITY}>"

    def system(self, agent: Agent) -> str | None:
        """Where work comes from."""
        return _MEMBER

    def carry(self, agent: Agent) -> str | None:
        """Its identity. (The system prompt has it too, but a summary may mix names up.)"""
        return self.identity

    def before_model(self, agent: Agent) -> None:
        """Restore the identity when the messages were rewritten without it."""
        new, self._seen = agent.events[self._seen :], len(agent.events)
        rewritten = any(e.type == "messages.rewritten" and e.lane == agent.name for e in new)
        if rewritten and agent.messages and self.identity not in str(agent.messages):
            first = agent.messages[0]
            content = first["content"]
            blocks: list[Block] = (
                [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            )
            blocks.append({"type": "text", "text": self.identity})
            agent.rewrite([{**first, "content": blocks}, *agent.messages[1:]], "identity")

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """After a call of idle: rest, and return with what there is to do."""
        if not self._idle:
            return None
        self._idle = False
        if any(one.waits_for(agent) for one in agent.mechanisms) and (more := agent.await_more()):
            return more  # it was not idle: it had jobs to wait for
        if text := self._mate.rest(spoken(agent.messages[-1]["content"])):
            return text
        self._mate.stop.set()
        return None

    @tool(internal=True)
    def idle(self) -> str:
        """Report that you have nothing to do. A message or a task wakes you, or you shut down."""
        self._idle = True
        return "You are idle now."

    @tool(internal=True)
    def claim_task(self, task_id: int) -> str:
        """Claim a task on the board. If several agents try, exactly one succeeds.

        Args:
            task_id: Id of the task.
        """
        return as_text(self._autonomy.claim_for(self._mate, task_id))


def suits(task: Task, role: str) -> bool:
    """Whether a task is for a role: it has no tags, or the role is among them."""
    return not task.tags or role.casefold() in (tag.casefold() for tag in task.tags)


def as_text(task: Task) -> str:
    """Return a claimed task as text for the model, in a frame that its own text cannot end."""
    text = f"Task #{task.id}: {task.subject}\n{task.description}".strip()
    return f"<{AUTO_CLAIMED}>{defused(text)}</{AUTO_CLAIMED}>"
