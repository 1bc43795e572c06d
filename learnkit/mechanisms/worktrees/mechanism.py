"""Worktrees: each piece of work gets a folder and a branch of its own, and is merged back.

Clean contexts do not keep two agents from writing to the same file. Tasks say who does what;
worktrees say where. A teammate that claims a task with a worktree works in that folder, under the
name of its workspace, and need not know about it.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from learnkit.core.mechanism import Mechanism, refusals_logged
from learnkit.core.tools import tool
from learnkit.errors import ToolError
from learnkit.events.declaration import part
from learnkit.events.worktrees import (
    WorktreeCreated,
    WorktreeData,
    WorktreeEvent,
    WorktreeFailed,
    WorktreeKept,
    WorktreeMerged,
    WorktreeRemoved,
)
from learnkit.mechanisms.tasks import asking, log_news, logged
from learnkit.mechanisms.worktrees.assignment import History, WorktreeAssignments
from learnkit.mechanisms.worktrees.registry import Worktree, WorktreeRegistry
from learnkit.runtime.job_wrappers import watched
from learnkit.runtime.shell import LocalShell, Shell
from learnkit.runtime.virtual_clock import VirtualClock
from learnkit.runtime.workspace import Workspace

if TYPE_CHECKING:
    from learnkit.backends.interface import BoardBackend
    from learnkit.core.agent import Agent
    from learnkit.mechanisms.teams.lead import Team

_HOW = (
    "Use a worktree, with its own folder and branch, for work that is risky or runs in parallel. "
    "Create one with worktree_create, for a task if there is one, and run commands in it with "
    "worktree_run. Commit there, then worktree_merge, then worktree_remove or worktree_keep."
)


#: Seconds that a command in a worktree may take.
LIMIT = 300.0


class Worktrees(Mechanism):
    """Offers the worktrees of a repository; with a team, teammates work in those of their tasks.

    Emits ``worktree.create``, ``worktree.remove``, ``worktree.keep`` and ``worktree.merge``, each
    with ``tree``; ``worktree.failed`` with ``tool``, ``name`` and ``problem``; and
    ``worktree.commits`` with ``commits``, of each its ``id``, ``parents``, ``subject``, ``files``
    and ``refs``, whenever there are others.

    Args:
        repo: the repository, or a folder in it.
        board: where the tasks are, to bind worktrees to them.
        team: whose members work in the worktrees of the tasks that they claim.
        shell: runs git and commands; by default a :class:`LocalShell`.
        state: the folder of the index of worktrees; by default ``.worktrees`` in the repository.
        remote: URL, or name of a remote, of a repository that teammates on other machines share
            with this one: branches of worktrees are pushed to it, and fetched before a merge.

    Raises:
        UsageError: if it is no repository or has no such remote.
    """

    def __init__(
        self,
        repo: str | Path | Workspace,
        board: BoardBackend | None = None,
        *,
        team: Team | None = None,
        shell: Shell | None = None,
        state: str | Path | None = None,
        remote: str = "",
    ) -> None:
        self.shell: Shell = LocalShell() if shell is None else shell
        self._masked = not isinstance(repo, Workspace) or repo.is_masked
        repo = repo.root if isinstance(repo, Workspace) else repo
        self.registry = WorktreeRegistry(repo, self.shell, state=state, remote=remote)
        self.board = board
        self._running: Counter[str] = Counter()  # commands by worktree
        self.history = History(self.registry.git)
        self._lock = threading.Lock()
        if team is not None:
            team.extensions.append(WorktreeAssignments(self.registry, board, self.history))

    def system(self, agent: Agent) -> str | None:
        """When a worktree pays, and how it is used."""
        self.history.log(agent)
        return _HOW

    @tool
    def worktree_create(
        self,
        name: str,
        task_id: int | None = None,
        base_ref: str = "HEAD",
    ) -> str:
        """Create a worktree: a folder and a branch for one piece of work.

        Args:
            name: Letters, digits, '.', '_' and '-'. The branch is named wt/NAME.
            task_id: Id of the task that it is for, if any.
            base_ref: Branch, tag or commit to start from.
        """
        with self._failure_logged("create", name):
            tree = self.registry.create(name, task_id, base_ref, self._bind)
        self._log(WorktreeCreated, tree)
        return f"Created {name} on branch {tree.branch}, at {tree.base[:7]}."

    @tool(read_only=True)
    def worktree_list(self) -> str:
        """List all worktrees, each with its branch, task and status."""
        lines = [_line(tree) for tree in self.registry.all()]
        return "\n".join(lines) or "There are no worktrees."

    @tool(read_only=True)
    def worktree_status(self, name: str) -> str:
        """Show a worktree's uncommitted changes and the number of its new commits.

        Args:
            name: Name of the worktree.
        """
        tree = self.registry.get(name)
        git, folder = self.registry.git, self.registry.path(name)
        ahead = git.run("rev-list", "--count", f"{tree.base}..{tree.branch}").strip()
        changes = "\n".join(git.changes(folder)) or "no uncommitted changes"
        return f"{_line(tree)}, {ahead} commits since {tree.base[:7]}\n{changes}"

    @tool
    def worktree_run(self, name: str, command: str) -> str:
        """Run a bash command in a worktree and return its output.

        Args:
            name: Name of the worktree.
            command: Bash command to run. It sees the worktree as /workspace.
        """
        self.registry.get(name)
        workspace = Workspace(self.registry.path(name), masked=self._masked)
        with self._lock:
            self._running[name] += 1
        try:
            text = workspace.unmasked(command)
            if not isinstance(self.agent.clock, VirtualClock):
                text = watched(text)  # it ends with this process, also when that is killed
            result = self.shell.run(text, workspace.root, LIMIT, self.agent.stop)
        finally:
            with self._lock:
                self._running[name] -= 1
            self.history.log(self.agent)
        text = workspace.masked(result.output).strip() or "(no output)"
        if result.timed_out:
            raise ToolError(f"{text}\n[timed out after {LIMIT:g} s]")
        return text if result.code == 0 else f"{text}\n[exit code {result.code}]"

    @tool
    def worktree_merge(self, name: str) -> str:
        """Merge a worktree's branch into the main folder's branch.

        If there are conflicts, the merge is undone and the files are named.

        Args:
            name: Name of the worktree.
        """
        with self._failure_logged("merge", name):
            files = self.registry.merge(name)
        self._log(WorktreeMerged, self.registry.get(name))
        if not files:
            return f"{name} has nothing new to merge."
        return f"Merged {name}; changed files: {', '.join(files)}"

    @tool
    def worktree_remove(
        self,
        name: str,
        force: bool = False,
        complete_task: bool = False,
    ) -> str:
        """Remove a worktree's folder. Its branch and commits are kept.

        Args:
            name: Name of the worktree.
            force: Whether to remove it even if work would be lost or it is in use.
            complete_task: Whether to set its task to completed.
        """
        with self._failure_logged("remove", name):
            tree = self.registry.get(name)
            if not force and (why := self._in_use(tree, complete_task)):
                raise ToolError(f"{name} is in use: {why}")
            tree = self.registry.remove(name, force=force)
        self._log(WorktreeRemoved, tree)
        said = f"Removed {name}; branch {tree.branch} is kept."
        if complete_task and tree.task_id is not None and self.board is not None:
            try:
                with logged(self.board, self.agent):
                    self.board.update(tree.task_id, "completed", by=asking(self.agent))
            except ToolError as error:
                return f"{said} Its task {tree.task_id} was not completed: {error}"
            said += f" Task {tree.task_id} is completed."
        return said

    @tool
    def worktree_keep(self, name: str) -> str:
        """Mark the work in a worktree as done, and keep its folder.

        Args:
            name: Name of the worktree.
        """
        with self._failure_logged("keep", name):
            tree = self.registry.keep(name)
        self._log(WorktreeKept, tree)
        return f"Kept {name} on branch {tree.branch}."

    @tool(read_only=True)
    def worktree_events(self, limit: int = 20) -> str:
        """Show the latest events of all worktrees, oldest first.

        Args:
            limit: Number of events, at most 200.
        """
        entries, _ = self.registry.journal.read()
        shown = entries[-max(1, min(limit, 200)) :]
        lines = []
        for entry in shown:
            more = ", ".join(f"{k}: {v}" for k, v in entry.items() if k not in ("event", "name"))
            lines.append(f"{entry['event']} {entry['name']}" + (f" ({more})" if more else ""))
        return "\n".join(lines) or "There are no events yet."

    def _in_use(self, tree: Worktree, completes: bool) -> str:
        """Why a worktree is still needed; empty if it is not."""
        if self._running[tree.name]:
            return "a command is running in it"
        if tree.task_id is None or self.board is None or completes:
            return ""
        task = next((one for one in self.board.tasks() if one.id == tree.task_id), None)
        if task is not None and task.status == "in_progress":
            return f"task {task.id} is in progress" + (f" by {task.owner}" if task.owner else "")
        return ""

    def _bind(self, tree: Worktree) -> None:
        """Write a new worktree into the task that it is for."""
        if tree.task_id is not None:
            if self.board is None:
                raise ToolError("there is no task board; leave out task_id")
            self.board.update(tree.task_id, worktree=tree.name)

    def _failure_logged(self, what: str, name: str) -> AbstractContextManager[None]:
        return refusals_logged(self.agent.emit, partial(WorktreeFailed, tool=what, name=name))

    def _log(self, happened: type[WorktreeEvent], tree: Worktree) -> None:
        """Log what was done to a worktree, to its task and to the commits."""
        self.agent.emit(happened(tree=part(WorktreeData, tree.to_json())))
        if self.board is not None:
            log_news(self.board, self.agent)
        self.history.log(self.agent)


def _line(tree: Worktree) -> str:
    task = f", task {tree.task_id}" if tree.task_id is not None else ""
    return f"{tree.name}: {tree.branch}{task}, {tree.status}"
