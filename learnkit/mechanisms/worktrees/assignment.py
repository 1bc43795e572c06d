"""Where a teammate works: its tools, in the worktree of the task that it holds.

Also what comes of it: the commits of all branches, in the log, so that they can be drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from learnkit.core.interface import AgentLike, Call
from learnkit.core.mechanism import Mechanism
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
    """The commits of a repository, logged whenever they have changed.

    Args:
        git: the repository.
    """

    def __init__(self, git: Git) -> None:
        self._git = git
        self._logged: list[dict[str, Any]] = []
        self._begun = False  # whether there is a commit
        self._asked, self._latest = itertools.count(1), 0

    def log(self, agent: AgentLike) -> None:
        """Emit ``worktree.commits`` if the commits have changed.

        Args:
            agent: in whose lane.
        """
        number = next(self._asked)
        commits = self.commits()  # git is slow, so no other thread waits for it
        with agent.events.ordered():
            if number > self._latest and commits != self._logged:
                self._logged = commits
                agent.emit("worktree.commits", commits=commits)
            self._latest = max(number, self._latest)

    def commits(self) -> list[dict[str, Any]]:
        """The newest commits of all branches.

        Returns:
            Of each its id, its parents, the names that point to it, its subject, and the files that
            it changes (a merge has none of its own).
        """
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
            one = {"id": id, "parents": parents.split(), "refs": names, "subject": subject}
            found.append({**one, "files": list(filter(None, files))[:FILES]})
        return found


class WorktreeAssignments(Extension):
    """Lets the teammates of a team work in the worktrees of their tasks.

    Args:
        registry: the worktrees.
        board: where a task names its worktree; without a board no task has one.
        history: logs what teammates commit.
    """

    def __init__(
        self, registry: WorktreeRegistry, board: BoardBackend | None, history: History
    ) -> None:
        self._registry, self._board, self._history = registry, board, history
        self._homes: dict[str, list[tuple[Any, Workspace]]] = {}

    def member(self, mate: Teammate) -> Sequence[Mechanism]:
        """A teammate needs no tools for it; what it commits is logged."""
        return [_CommitWatch(self._history)]

    def changed(self, mate: Teammate, what: Change) -> None:
        """Move its tools into the worktree of its task, or back to their own workspace.

        A teammate that has shut down has no assignment any more.
        """
        if what == "shutdown":
            self._homes.pop(mate.name, None)
        if what != "assigned":
            return
        mechanisms: Sequence[Any] = mate.agent.mechanisms
        if mate.name not in self._homes:
            found = [one for one in mechanisms if isinstance(_workspace(one), Workspace)]
            self._homes[mate.name] = [(one, one.workspace) for one in found]
        assigned = self._assigned_to(mate.name)
        for mechanism, home in self._homes[mate.name]:
            mechanism.workspace = home if assigned is None else assigned

    def _assigned_to(self, name: str) -> Workspace | None:
        """The worktree of the task that a teammate holds, if it is there."""
        for task in self._board.tasks() if self._board is not None else []:
            mine = task.status == "in_progress" and task.owner == name
            if mine and task.worktree and self._registry.exists(task.worktree):
                return Workspace(self._registry.path(task.worktree))
        return None


class _CommitWatch(Mechanism):
    """Logs the commits that a teammate has made."""

    def __init__(self, history: History) -> None:
        self._history = history

    def after_tools(self, agent: Agent, calls: Sequence[Call]) -> str | None:
        """Look for new ones."""
        self._history.log(agent)
        return None


def _workspace(mechanism: Any) -> Any:
    return getattr(mechanism, "workspace", None)
