"""The registry of a repository's worktrees: a folder and a branch for each piece of work.

git is the truth: a worktree that git does not know does not exist, whatever the index says. The
index remembers what git does not: which task a worktree is for, and what became of it. A step that
fails is undone, or reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from learnkit.backends.files.store import VERSION, Document, Journal, locked
from learnkit.errors import ToolError
from learnkit.runtime.git import Git, GitError
from learnkit.runtime.shell import Shell

State = Literal["active", "kept", "removed"]

#: Files of our own beside the worktrees.
_OURS = ("index.json", "events.jsonl")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,39}")


class _Entry(TypedDict):
    """A worktree as the index has it."""

    name: str
    branch: str
    base: str
    task_id: NotRequired[int | None]
    status: NotRequired[State]
    path: NotRequired[str]


class _Index(TypedDict):
    version: NotRequired[int]
    worktrees: list[_Entry]


_Entry.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree.

    Attributes:
        name: of its folder.
        branch: ``wt/`` and the name.
        base: the commit that it began at.
        task_id: the task that it is for; None if there is none.
        status: active, kept (its work is done, the folder stays), or removed.
    """

    name: str
    branch: str
    base: str
    task_id: int | None = None
    status: State = "active"

    def to_json(self) -> dict[str, Any]:
        """The worktree as the index has it; its path is relative to the repository."""
        return {**asdict(self), "path": f".worktrees/{self.name}"}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Worktree:
        """Read what :meth:`to_json` returns.

        Args:
            data: an entry of the index.

        Returns:
            The worktree.
        """
        return cls(**{key: value for key, value in data.items() if key != "path"})


class WorktreeRegistry:
    """The worktrees of a repository, shared by threads and processes.

    Args:
        repo: the repository, or a folder in it.
        shell: runs git.
        state: the folder of the index and its journal; by default it is the one of the worktrees,
            ``.worktrees``.

    Raises:
        UsageError: if it is no repository.
    """

    def __init__(
        self, repo: str | Path, shell: Shell | None = None, *, state: str | Path | None = None
    ) -> None:
        self.git = Git(repo, shell)
        self.root = self.git.root / ".worktrees"
        self._state = self.root if state is None else Path(state)
        self._index = Document(self._state / "index.json", _Index)
        self.journal = Journal(self._state / "events.jsonl")
        self._excluded = False

    def path(self, name: str) -> Path:
        """The folder of a worktree.

        Args:
            name: of the worktree.
        """
        return self.root / name

    def exists(self, name: str) -> bool:
        """Whether a worktree's folder is there.

        This asks neither git nor the index, so that it waits for nobody: a teammate looks whenever
        it claims a task, and another one may just be merging.

        Args:
            name: of the worktree.
        """
        return (self.path(name) / ".git").exists()

    def all(self) -> list[Worktree]:
        """Every worktree, removed ones too, in order; the index is repaired from git first."""
        with self._open() as index:
            return list(index.values())

    def get(self, name: str) -> Worktree:
        """Return a worktree that was not removed.

        Args:
            name: of the worktree.

        Raises:
            ToolError: if there is none of this name.
        """
        there = {one.name: one for one in self.all() if one.status != "removed"}
        if name not in there:
            known = ", ".join(there) or "none"
            raise ToolError(f"there is no worktree {name!r}; there are: {known}")
        return there[name]

    def create(
        self,
        name: str,
        task_id: int | None = None,
        base_ref: str = "HEAD",
        bind: Callable[[Worktree], object] = lambda tree: None,
    ) -> Worktree:
        """Make a folder and a branch; if a step fails, those before it are undone.

        Args:
            name: of the folder; the branch is ``wt/`` and the name.
            task_id: the task that it is for.
            base_ref: branch, tag or hash to begin at.
            bind: the last step, such as writing the name into the task.

        Returns:
            The new worktree.

        Raises:
            ToolError: if it cannot be made; nothing of it is left then.
        """
        _check_name(name)
        with self._step("create", name, task_id=task_id), self._open() as index:
            if not self.git.succeeds("rev-parse", "--verify", "--quiet", "HEAD"):
                raise ToolError("the repository has no commit yet; make one first")
            branch = f"wt/{name}"
            if self.git.succeeds("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
                raise ToolError(f"the branch {branch} is there already; take another name")
            if self.path(name).exists():
                raise ToolError(f".worktrees/{name} is there already; take another name")
            tree = Worktree(name, branch, self.git.commit_of(base_ref), task_id)
            try:
                self.git.run("worktree", "add", "-q", "-b", branch, str(self.path(name)), tree.base)
                bind(tree)
            except BaseException:
                self._undo(tree)
                raise
            index[name] = tree
            return tree

    def remove(self, name: str, *, force: bool = False) -> Worktree:
        """Remove the folder; its branch stays, with all that was committed.

        Args:
            name: of the worktree.
            force: also with changes that are not committed, files that git ignores, or commits
                that are in no branch.

        Returns:
            The removed worktree.

        Raises:
            ToolError: if something would be lost, naming it.
        """
        tree = self.get(name)
        with self._step("remove", name, force=force), self._open() as index:
            if not force and (left := self.git.changes(self.path(name), ignored=True)):
                raise ToolError(f"{name} has work that is not committed: {_listed(left)}")
            if not force and (left := self.git.unnamed_commits(self.path(name))):
                raise ToolError(
                    f"{name} has commits that are in no branch: {_listed(left)}. Keep them with: "
                    "git branch NAME, in that worktree"
                )
            self.git.run(
                "worktree", "remove", *(["--force"] if force else []), str(self.path(name))
            )
            index[name] = replace(tree, status="removed")
            return index[name]

    def keep(self, name: str) -> Worktree:
        """Mark the work as done; the folder stays.

        Args:
            name: of the worktree.

        Returns:
            The kept worktree.

        Raises:
            ToolError: if there is no such worktree.
        """
        tree = self.get(name)
        with self._open() as index:
            index[name] = replace(tree, status="kept")
            self._note("worktree.keep", name)
            return index[name]

    def merge(self, name: str) -> list[str]:
        """Merge a worktree's commits into the branch of the main folder.

        Args:
            name: of the worktree.

        Returns:
            The files that have changed there; none if there was nothing to merge.

        Raises:
            ToolError: if something is not committed, or both sides have changed the same lines:
                then the main folder is as it was, and the files are named.
        """
        tree = self.get(name)
        with self._step("merge", name), locked(self._state):
            for what, folder in ((name, self.path(name)), ("the main folder", self.git.root)):
                if left := [one for one in self.git.changes(folder) if one[:2] != "??"]:
                    raise ToolError(f"{what} has changes that are not committed: {left[0]}")
            before = self.git.commit_of("HEAD")
            try:
                message = f"Merge {tree.branch}"
                self.git.run("merge", "--no-ff", "--no-stat", "-m", message, tree.branch)
                return self._changed(before, "HEAD")
            except GitError as error:
                conflicts = self._changed("--diff-filter=U")
                if self.git.succeeds("rev-parse", "--verify", "--quiet", "MERGE_HEAD"):
                    self.git.run("merge", "--abort")
                if conflicts:
                    files = ", ".join(conflicts)
                    raise ToolError(
                        f"{tree.branch} conflicts in {files}; the merge was undone. Merge the "
                        "main branch into the worktree, settle it there, and merge again"
                    ) from None
                raise error

    def _changed(self, *what: str) -> list[str]:
        """The files that differ."""
        plain = ("--no-ext-diff", "--no-textconv", "--no-relative")
        return self.git.run("diff", "--name-only", *plain, *what).splitlines()

    @contextmanager
    def _open(self) -> Iterator[dict[str, Worktree]]:
        """The index under its lock, repaired; changes are written at the end."""
        with locked(self._state), self._index.change(_EMPTY) as data:
            if not self._excluded:
                self.git.exclude(".worktrees/")
                self._excluded = True
            index = {one["name"]: Worktree.from_json(one) for one in data["worktrees"]}
            self._repair(index)
            yield index
            data["worktrees"] = [tree.to_json() for tree in index.values()]

    def _repair(self, index: dict[str, Worktree]) -> None:
        """Believe git where it and the index differ."""
        there = {}
        checkouts = self.git.checkouts()
        if any(one.gone for one in checkouts):
            self.git.run("worktree", "prune")
        for one in checkouts:
            if not one.gone and one.path.parent == self.root:
                there[one.path.name] = one
        for name, tree in index.items():
            if tree.status != "removed" and name not in there:
                index[name] = replace(tree, status="removed")
                self._note("worktree.remove.after", name, by="somebody else")
        for name, one in there.items():
            if name not in index or index[name].status == "removed":
                index[name] = Worktree(name, one.branch, one.commit)

    @contextmanager
    def _step(self, what: str, name: str, **more: Any) -> Iterator[None]:
        """Note a step before and after it, or why it failed."""
        self._note(f"worktree.{what}.before", name, **more)
        try:
            yield
        except BaseException as error:
            self._note(f"worktree.{what}.failed", name, error=str(error) or type(error).__name__)
            raise
        self._note(f"worktree.{what}.after", name, **more)

    def _note(self, event: str, name: str, **more: Any) -> None:
        details = {key: value for key, value in more.items() if value not in (None, False)}
        self.journal.append({"event": event, "name": name, **details})

    def _undo(self, tree: Worktree) -> None:
        """Remove what was made of a worktree."""
        self.git.succeeds("worktree", "remove", "--force", str(self.path(tree.name)))
        self.git.succeeds("worktree", "prune")
        # Not `branch -D`: this removes only the branch that was made here, and leaves config alone.
        self.git.succeeds("update-ref", "-d", f"refs/heads/{tree.branch}", tree.base)


def _listed(lines: list[str]) -> str:
    return "; ".join(lines[:5]) + (f"; … {len(lines) - 5} more" if len(lines) > 5 else "")


_EMPTY: dict[str, Any] = {"version": VERSION, "worktrees": []}


def _check_name(name: str) -> None:
    bad = name.endswith((".lock", ".")) or ".." in name or name in _OURS
    if bad or not _NAME.fullmatch(name):
        raise ToolError(
            f"{name!r} cannot be a worktree's name: 1 to 40 of letters, digits, '.', '_' and '-', "
            "not '..', no '.' or '-' first, no '.' or '.lock' at the end"
        )
