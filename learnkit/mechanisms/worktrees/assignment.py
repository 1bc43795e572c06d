"""Where a teammate works: its tools, in the worktree of the task that it holds.

Also what comes of it: the commits of all branches, in the log, so that they can be drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.backends import rules
from learnkit.core.frames import WORKTREE, defused
from learnkit.core.interface import AgentLike, Call, Result
from learnkit.core.mechanism import Mechanism
from learnkit.errors import ToolError
from learnkit.events.worktrees import CommitData, WorktreeCommits
from learnkit.mechanisms.teams.teammate import Change, Extension, Teammate
from learnkit.mechanisms.worktrees.registry import WorktreeRegistry
from learnkit.runtime.git import Git
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.core.agent import Agent

#: Commits that are logged, the newest ones.
COMMITS = 30
#: Files of a commit that are logged.
FILES = 12


class History:
    """The commits of a repository, logged whenever they have changed."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._logged: list[CommitData] = []
        self._begun = False  # whether there is a commit
        self._asked, self._latest = itertools.count(1), 0

    def log(self, agent: AgentLike) -> None:
        """Emit ``worktree.commits`` if the commits have changed."""
        number = next(self._asked)
        commits = self.commits()  # git is slow, so no other thread waits for it
        with agent.events.ordered():
            if number > self._latest and commits != self._logged:
                self._logged = commits
                agent.emit(WorktreeCommits(commits=tuple(commits)))
            self._latest = max(number, self._latest)

    def commits(self) -> list[CommitData]:
        """The newest commits of all branches."""
        if not self._begun:
            self._begun = self._git.succeeds("rev-parse", "--verify", "--quiet", "HEAD")
            if not self._begun:
                return []
        found = []
        shown = "--format=%x00%h%x09%p%x09%D%x09%s"
        text = self._git.run("log", "--all", "--topo-order", f"-{COMMITS}", "--name-only", shown)
        for commit in text.split("\0")[1:]:
            head, *files = commit.rstrip("\n").split("\n")
            id, parents, refs, subject = head.split("\t", 3)
            names = [one.removeprefix("HEAD -> ") for one in refs.split(", ") if one]
            found.append(
                CommitData(
                    id=id,
                    parents=tuple(parents.split()),
                    refs=tuple(names),
                    subject=subject,
                    files=tuple(filter(None, files))[:FILES],
                )
            )
        return found


class WorktreeAssignments(Extension):
    """Lets the teammates of a team work in the worktrees of their tasks."""

    def __init__(
        self,
        registry: WorktreeRegistry,
        board: BoardBackend | None,
        history: History,
        incarnation: str = "",
    ) -> None:
        self._registry, self._board, self._history = registry, board, history
        self._incarnation = incarnation
        self._watches: dict[str, _CommitWatch] = {}
        self._homes: dict[str, list[tuple[Any, Workspace]]] = {}

    def member(self, teammate: Teammate) -> Sequence[Mechanism]:
        """A teammate needs no tools for it; what it commits is logged, and pushed."""
        self._watches[teammate.name] = watch = _CommitWatch(self._history, self._registry)
        return [watch]

    def changed(self, teammate: Teammate, what: Change) -> None:
        """Move its tools into the worktree of its task, or back to their own workspace.

        A teammate that has shut down has no assignment any more.
        """
        if what == "shutdown":
            self._homes.pop(teammate.name, None)
        if what != "assigned":
            return
        mechanisms: Sequence[Any] = teammate.agent.mechanisms
        if teammate.name not in self._homes:
            found = [one for one in mechanisms if isinstance(_workspace(one), Workspace)]
            self._homes[teammate.name] = [(one, one.workspace) for one in found]
        assigned = self._assigned_to(teammate.name)
        for mechanism, home in self._homes[teammate.name]:
            mechanism.workspace = (
                home if assigned is None else Workspace(assigned, masked=home.is_masked)
            )

    def _assigned_to(self, name: str) -> Path | None:
        """The worktree of the task that a teammate holds, if it is there."""
        watch = self._watches[name]
        watch.name = watch.problem = ""
        for task in self._board.tasks() if self._board is not None else []:
            if not task.worktree or not rules.holds(task, name, self._incarnation):
                continue
            try:
                if self._incarnation:  # the lead has made it in its own clone
                    self._registry.join(task.worktree, task.id)
            except ToolError as error:
                watch.problem = f"the worktree {task.worktree} of your task is not there: {error}"
                return None
            if self._registry.exists(task.worktree):
                watch.name = task.worktree
                return self._registry.path(task.worktree)
        return None


class _CommitWatch(Mechanism):
    """Logs the commits that a teammate has made, and pushes them if there is a common remote.

    Attributes:
        name: of the worktree of the teammate's task; empty for none.
        problem: why it cannot work there; what writes is refused then.
    """

    def __init__(self, history: History, registry: WorktreeRegistry) -> None:
        self.name = self.problem = ""
        self._history, self._registry = history, registry

    def refuse(self, agent: Agent, call: Call) -> str | None:
        """Nothing is written elsewhere when the worktree of the task could not be fetched."""
        tool = agent.tools[call.name]
        return None if tool.read_only or tool.internal else self.problem or None

    def after_tool(self, agent: Agent, call: Call, result: Result) -> str | None:
        """Push new commits, before the next call can say that the task is completed."""
        if not self.name:
            return None
        try:
            self._registry.publish(self.name)
        except ToolError as error:
            return (
                f"<{WORKTREE}>Your commits could not be pushed: {defused(str(error))}</{WORKTREE}>"
            )
        return None

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """Look for new ones."""
        self._history.log(agent)
        return None


def _workspace(mechanism: Any) -> Any:
    return getattr(mechanism, "workspace", None)
