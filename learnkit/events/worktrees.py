"""The events of worktrees."""

from __future__ import annotations

from typing import Literal

from learnkit.events.declaration import event, record
from learnkit.events.text import count


@record
class WorktreeData:
    """A worktree as it is after the event."""

    name: str
    branch: str = ""
    base: str = ""
    task_id: int | None = None
    status: Literal["creating", "active", "kept", "removed"] = "active"
    path: str = ""

    @property
    def about(self) -> str:
        """Its name and its task, in a sentence."""
        return self.name if self.task_id is None else f"{self.name} for task #{self.task_id}"


@record
class WorktreeEvent:
    """What was done to a worktree."""

    tree: WorktreeData


@event("worktree.create", lesson="s12", sentence="Worktree {tree.about} is made.")
class WorktreeCreated(WorktreeEvent):
    """A worktree, with a branch of its own, is there."""


@event(
    "worktree.merge", lesson="s12", sentence="Worktree {tree.about} is merged into the main branch."
)
class WorktreeMerged(WorktreeEvent):
    """A worktree's branch is merged into the main branch."""


@event("worktree.keep", lesson="s12", sentence="Worktree {tree.about} is kept.")
class WorktreeKept(WorktreeEvent):
    """The work in a worktree is done, and its folder stays."""


@event(
    "worktree.remove", lesson="s12", sentence="Worktree {tree.about} is removed; its branch stays."
)
class WorktreeRemoved(WorktreeEvent):
    """A worktree's folder is gone."""


@event("worktree.failed", lesson="s12", sentence="That did not work: {problem}.")
class WorktreeFailed:
    """A call about a worktree was refused, or git has failed."""

    tool: str = "?"
    name: str = ""
    problem: str = ""


@record
class CommitData:
    """A commit; ``refs`` are the branches and tags that point to it."""

    id: str
    parents: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    subject: str = ""
    files: tuple[str, ...] = ()


@event(
    "worktree.commits",
    lesson="s12",
    sentence=lambda found: (
        f"There {'is' if len(found.commits) == 1 else 'are'} "
        f"{count(len(found.commits), 'commit')} on all branches."
    ),
)
class WorktreeCommits:
    """The commits have changed: the newest ones of all branches, children before parents."""

    commits: tuple[CommitData, ...]
