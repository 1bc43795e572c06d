"""git, as far as worktrees need it: one command at a time, and what it answers.

Everything goes through a shell, so that the environment, the time limit and the end of processes
are the same as for any command.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from learnkit.errors import ToolError, UsageError
from learnkit.runtime.shell import LocalShell, Shell

#: Seconds that one git command may take.
LIMIT = 60.0


class GitError(ToolError):
    """git has refused; the text is what it said."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """One line of work that git has checked out somewhere.

    Attributes:
        path: of the folder.
        branch: its branch, without ``refs/heads/``; empty if it has none.
        commit: the commit it stands on.
        gone: whether the folder is not there any more.
    """

    path: Path
    branch: str
    commit: str
    gone: bool = False


class Git:
    """A repository.

    Args:
        folder: its top folder, or one in it.
        shell: runs git; by default a :class:`LocalShell`, which has an author of its own.

    Raises:
        UsageError: if the folder is in no repository, or git does not work.
    """

    def __init__(self, folder: str | Path, shell: Shell | None = None) -> None:
        self._shell = LocalShell() if shell is None else shell
        folder = Path(folder)
        if not folder.is_dir():
            raise UsageError(f"{str(folder)!r} is no folder")
        try:
            self.root = Path(self.run("rev-parse", "--show-toplevel", cwd=folder).strip())
        except GitError as error:
            raise UsageError(
                f"{str(folder)!r} is in no git repository ({error}); make one with git init"
            ) from None

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """What a git command prints.

        Args:
            arguments: after ``git``.
            cwd: the folder; by default the top one.

        Raises:
            GitError: if it fails, with what git said.
        """
        command = f"{shlex.join(('git', *arguments))} 2>&1"
        result = self._shell.run(command, cwd or self.root, LIMIT)
        if result.code != 0:
            said = result.output.strip() or f"exit code {result.code}"
            raise GitError(f"git {arguments[0]}: {said}")
        return result.output

    def succeeds(self, *arguments: str, cwd: Path | None = None) -> bool:
        """Whether a git command ends without an error.

        Args:
            arguments: as for :meth:`run`.
            cwd: as for :meth:`run`.
        """
        try:
            self.run(*arguments, cwd=cwd)
        except GitError:
            return False
        return True

    def commit_of(self, name: str) -> str:
        """The commit that a branch, a tag or a hash stands for.

        Args:
            name: a branch, a tag or a hash.

        Raises:
            GitError: if there is none.
        """
        try:
            return self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()
        except GitError:
            raise GitError(f"there is no commit {name!r} in this repository") from None

    def checkouts(self) -> list[Checkout]:
        """The main folder and all worktrees, as git knows them."""
        found = []
        for block in self.run("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.partition(" ")[::2] for line in block.splitlines())
            if "worktree" in fields:
                path = Path(fields["worktree"])
                branch = fields.get("branch", "").removeprefix("refs/heads/")
                gone = "prunable" in fields or not path.is_dir()
                found.append(Checkout(path, branch, fields.get("HEAD", ""), gone))
        return found

    def changes(self, folder: Path, *, ignored: bool = False) -> list[str]:
        """What differs from the last commit, a line a file, as ``git status --short`` has it.

        Args:
            folder: of the checkout.
            ignored: also files that git ignores.
        """
        more = ("--ignored",) if ignored else ()
        text = self.run("status", "--porcelain", *more, cwd=folder)
        return [line for line in text.splitlines() if line.strip()]
