"""The registry of a repository's worktrees: a folder and a branch for each piece of work.

git is the truth: a worktree that git does not know does not exist, whatever the index says. The
index remembers what git does not: which task a worktree is for, and what became of it. A step that
fails is undone, or reported.

git can take long, so it never runs under the index's lock, which everybody needs. Each worktree has
a lock of its own, for who creates, removes, keeps or merges it, and merges take turns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from learnkit.backends.files.store import VERSION, Document, Journal
from learnkit.errors import ToolError
from learnkit.runtime import file_lock
from learnkit.runtime.git import Checkout, Git, GitError
from learnkit.runtime.git_remote import GitRemote
from learnkit.runtime.shell import Shell

State = Literal["creating", "active", "kept", "removed"]

#: Files of our own beside the worktrees.
_OURS = ("index.json", "events.jsonl")
#: Locks that are no worktree's; no worktree's name begins with a dot.
_MERGE, _EXCLUDE = ".merge", ".exclude"
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
        status: creating (it cannot be used yet), active, kept (its work is done, the folder
            stays), or removed.
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
        """Read what :meth:`to_json` returns."""
        return cls(**{key: value for key, value in data.items() if key != "path"})


class WorktreeRegistry:
    """The worktrees of a repository, shared by threads and processes."""

    def __init__(
        self,
        repo: str | Path,
        shell: Shell | None = None,
        *,
        state: str | Path | None = None,
        remote: str = "",
    ) -> None:
        self.git = Git(repo, shell)
        self._remote = GitRemote(self.git, remote) if remote else None
        self._pushed: dict[str, str] = {}  # the last commit that was pushed or fetched, by branch
        self.root = self.git.root / ".worktrees"
        self._state = self.root if state is None else Path(state)
        self._index = Document(self._state / "index.json", _Index)  # a lost one is made anew
        self.journal = Journal(self._state / "events.jsonl")
        self._excluded = False

    def path(self, name: str) -> Path:
        """The folder of a worktree."""
        return self.root / name

    def exists(self, name: str) -> bool:
        """Whether a worktree's folder is there.

        This asks neither git nor the index, so that it waits for nobody: a teammate looks whenever
        it claims a task, and another one may just be merging.
        """
        return (self.path(name) / ".git").exists()

    def all(self) -> list[Worktree]:
        """Every worktree, removed ones too, in order; the index is repaired from git first."""
        self._exclude()
        self._settle_half_made()
        before = self._read()
        there = self._checkouts()  # may be out of date as soon as it is there
        with self._open() as index:
            self._repair(index, before, there)
            return list(index.values())

    def get(self, name: str) -> Worktree:
        """Return a worktree that was not removed."""
        there = {one.name: one for one in self.all() if one.status != "removed"}
        if name in there and there[name].status == "creating":
            raise ToolError(f"the worktree {name!r} is still being created; try again in a moment")
        if name not in there:
            known = ", ".join(there) or "none"
            raise ToolError(f"there is no worktree {name!r}; the worktrees are: {known}")
        return there[name]

    def create(
        self,
        name: str,
        task_id: int | None = None,
        base_ref: str = "HEAD",
        bind: Callable[[Worktree], object] = lambda tree: None,
    ) -> Worktree:
        """Make a folder and a branch; if a step fails, those before it are undone."""
        _check_name(name)
        with self._step("create", name, task_id=task_id), self._reserved(name):
            if not self.git.succeeds("rev-parse", "--verify", "--quiet", "HEAD"):
                raise ToolError("the repository has no commits yet; make one first")
            branch = f"wt/{name}"
            if self.git.succeeds("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}"):
                raise ToolError(f"the branch {branch} already exists; choose another name")
            if self.path(name).exists():
                raise ToolError(f".worktrees/{name} already exists; choose another name")
            if self._remote is not None and self._remote.fetch(branch) is not None:
                raise ToolError(
                    f"the branch {branch} already exists in the common remote; choose another name"
                )
            tree = Worktree(name, branch, self.git.commit_of(base_ref), task_id)
            with self._open() as index:
                old = index.get(name)
                index[name] = replace(tree, status="creating")
            try:
                self.git.run("worktree", "add", "-q", "-b", branch, str(self.path(name)), tree.base)
                self.publish(name)  # before another clone can learn of it
                bind(tree)
                with self._open() as index:
                    index[name] = tree
            except BaseException:
                self._undo(tree)
                with self._open() as index:
                    _put(index, name, old)
                raise
            return tree

    def join(self, name: str, task_id: int | None = None) -> Worktree | None:
        """Make a worktree that another clone has made, or bring it up to date."""
        _check_name(name)
        branch = f"wt/{name}"
        if self._remote is None or (commit := self._remote.fetch(branch)) is None:
            return None
        self._pushed[branch] = commit
        with self._step("join", name, task_id=task_id), self._reserved(name):
            if not self.exists(name):
                there = f"refs/heads/{branch}"
                if not self.git.succeeds("rev-parse", "--verify", "--quiet", there):
                    self.git.run("branch", "--no-track", branch, commit)
                self.git.run("worktree", "add", "-q", str(self.path(name)), branch)
            tree = Worktree(name, branch, commit, task_id)
            with self._open() as index:
                index[name] = tree
            self._forward(tree, commit)
            return tree

    def publish(self, name: str) -> bool:
        """Push the commits of a worktree's branch to the common remote, if there are new ones."""
        if self._remote is None:
            return False
        branch = f"wt/{name}"
        commit = self.git.commit_of(f"refs/heads/{branch}")
        if self._pushed.get(branch) == commit:
            return False
        self._remote.push(branch)
        self._pushed[branch] = commit
        return True

    def _update(self, tree: Worktree) -> None:
        """Bring a worktree up to what other clones have pushed."""
        if self._remote is not None and (commit := self._remote.fetch(tree.branch)) is not None:
            self._forward(tree, commit)

    def _forward(self, tree: Worktree, commit: str) -> None:
        """Move a worktree's branch on to a later commit."""
        folder = self.path(tree.name)
        if self.git.succeeds("merge-base", "--is-ancestor", commit, tree.branch):
            return
        if not self.git.succeeds("merge-base", "--is-ancestor", tree.branch, commit):
            raise ToolError(
                f"{tree.branch} has commits here and others in the common remote; merge "
                f"{commit[:7]} into the worktree {tree.name} first"
            )
        self.git.run("merge", "--ff-only", "--no-stat", commit, cwd=folder)

    def remove(self, name: str, *, force: bool = False) -> Worktree:
        """Remove the folder; its branch stays, with all that was committed."""
        self.get(name)  # what is not there is no failure to note
        with self._step("remove", name, force=force), self._held(name) as tree:
            if not force and (left := self.git.changes(self.path(name), ignored=True)):
                raise ToolError(f"{name} has uncommitted work: {_listed(left)}")
            if not force and (left := self.git.unnamed_commits(self.path(name))):
                raise ToolError(
                    f"{name} has commits that are on no branch: {_listed(left)}. Keep them by "
                    "running git branch NAME in that worktree"
                )
            try:
                folder = self.path(name)  # git looks for changes there
                options = ["--force"] if force else []
                self.git.run("worktree", "remove", *options, str(folder), places=[folder])
            except GitError:
                if self.path(name).exists():
                    raise
                # git was pruned by another process meanwhile; the folder is gone all the same.
            removed = replace(tree, status="removed")
            with self._open() as index:
                index[name] = removed
            return removed

    def keep(self, name: str) -> Worktree:
        """Mark the work as done; the folder stays."""
        self.get(name)
        with self._held(name) as tree, self._open() as index:
            index[name] = replace(tree, status="kept")
            self._note("worktree.keep", name)
            return index[name]

    def merge(self, name: str) -> list[str]:
        """Merge a worktree's commits into the branch of the main folder; first fetch them."""
        self.get(name)
        with self._step("merge", name), self._held(name) as tree, self._lock(_MERGE):
            for what, folder in ((name, self.path(name)), ("the main folder", self.git.root)):
                if left := [one for one in self.git.changes(folder) if one[:2] != "??"]:
                    raise ToolError(f"{what} has uncommitted changes: {left[0]}")
            self._update(tree)
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
                        "main branch into the worktree, resolve the conflicts there, and try again"
                    ) from None
                raise error

    def _changed(self, *what: str) -> list[str]:
        """The files that differ; git does not run itself in a submodule to find that out."""
        plain = ("--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=dirty")
        return self.git.run("diff", "--name-only", *plain, *what).splitlines()

    # The index

    @contextmanager
    def _open(self) -> Iterator[dict[str, Worktree]]:
        """The index under its lock; changes are written at the end. No git runs meanwhile."""
        with self._index.change(_EMPTY) as data:
            index = _by_name(data)
            yield index
            data["worktrees"] = [tree.to_json() for tree in index.values()]

    def _read(self) -> dict[str, Worktree]:
        """The index as it is now."""
        return _by_name(self._index.read(_EMPTY))

    def _checkouts(self) -> dict[str, Checkout]:
        """What git has in our folder, by name."""
        ours = [one for one in self.git.checkouts() if one.path.parent == self.root]
        if any(one.gone and not one.locked and self._is_free(one.path.name) for one in ours):
            self.git.succeeds("worktree", "prune")
        return {one.path.name: one for one in ours if not one.gone}

    def _repair(
        self, index: dict[str, Worktree], before: dict[str, Worktree], there: dict[str, Checkout]
    ) -> None:
        """Believe git where it and the index differ, and nobody is at it."""
        for name, tree in index.items():
            usable = tree.status in ("active", "kept")
            if usable and name not in there and tree == before.get(name) and self._is_free(name):
                index[name] = replace(tree, status="removed")
                self._note("worktree.remove.after", name, by="somebody else")
        for name, one in there.items():
            unknown = name not in index or index[name].status == "removed"
            if unknown and self.exists(name) and self._is_free(name):
                index[name] = Worktree(name, one.branch, one.commit)

    def _settle_half_made(self) -> None:
        """Finish or undo what a process was creating when it was killed."""
        for name, tree in self._read().items():
            if tree.status != "creating" or not self._is_free(name):
                continue
            with self._lock(name):
                if self._read().get(name) != tree:
                    continue  # another process was faster
                made = self._checkouts().get(name)
                whole = made is not None and not made.locked  # git locks it until it is complete
                if not whole:
                    self._undo(tree)
                with self._open() as index:
                    _put(index, name, replace(tree, status="active") if whole else None)

    # Locks: first that of a worktree, then the one for merges, then the index's

    def _lock(self, name: str) -> AbstractContextManager[bool]:
        return file_lock.held(self._lock_file(name))

    def _is_free(self, name: str) -> bool:
        """Whether nobody creates, removes, keeps or merges a worktree; the own thread counts."""
        return file_lock.is_free(self._lock_file(name))

    def _lock_file(self, name: str) -> Path:
        return self._state / ".locks" / f"{name}.lock"

    @contextmanager
    def _reserved(self, name: str) -> Iterator[None]:
        """A name that nobody else uses meanwhile, without what a killed process has left of it."""
        self.all()
        with self._lock(name):
            yield

    @contextmanager
    def _held(self, name: str) -> Iterator[Worktree]:
        """A worktree that nobody else removes or merges meanwhile."""
        with self._lock(name):
            yield self.get(name)

    def _exclude(self) -> None:
        """Let git ignore our folder."""
        if not self._excluded:
            with self._lock(_EXCLUDE):  # a line that two write at once would be there twice
                self.git.exclude(".worktrees/")
            self._excluded = True

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
        folder = self.path(tree.name)
        with suppress(OSError):
            folder.rmdir()  # git refuses to remove one that is still empty
        # Twice: git locks a worktree until it is complete.
        self.git.succeeds("worktree", "remove", "--force", "--force", str(folder))
        # Not `branch -D`: this removes only the branch that was made here, and leaves config alone.
        self.git.succeeds("update-ref", "-d", f"refs/heads/{tree.branch}", tree.base)


def _by_name(data: Any) -> dict[str, Worktree]:
    return {one["name"]: Worktree.from_json(one) for one in data["worktrees"]}


def _put(index: dict[str, Worktree], name: str, tree: Worktree | None) -> None:
    if tree is None:
        index.pop(name, None)
    else:
        index[name] = tree


def _listed(lines: list[str]) -> str:
    return "; ".join(lines[:5]) + (f"; … {len(lines) - 5} more" if len(lines) > 5 else "")


_EMPTY: dict[str, Any] = {"version": VERSION, "worktrees": []}


def _check_name(name: str) -> None:
    bad = name.endswith((".lock", ".")) or ".." in name or name in _OURS
    if bad or not _NAME.fullmatch(name):
        raise ToolError(
            f"{name!r} is not a valid worktree name: use 1 to 40 letters, digits, '.', '_' or "
            "'-', without '..', no '.' or '-' at the start, and no '.' or '.lock' at the end"
        )
