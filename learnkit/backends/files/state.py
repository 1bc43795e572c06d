"""The one folder in which the whole harness keeps its state, in the workspace: ``.learnkit``.

Tasks, mail, transcripts and the index of worktrees are in it. Another agent must not change them,
and git must not commit them: the file tools refuse this folder, a sandboxed command finds it
read-only, and git ignores it.
"""

from __future__ import annotations

import os
from pathlib import Path

from learnkit.backends.files.store import locked
from learnkit.errors import UsageError
from learnkit.runtime.git import Git, GitError
from learnkit.runtime.shell import Shell
from learnkit.runtime.workspace import STATE

#: A project's settings are in it as well, and may come with the repository: the user is asked.
SETTINGS = "settings.toml"


def open_state(workspace: str | Path, shell: Shell) -> tuple[Path, Git | None]:
    """The folder of a workspace's state, which is made if it is not there."""
    workspace = Path(workspace).resolve()
    folder = workspace / STATE
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} must be a folder, not a link or a file; remove it")
    git, tracked, problem = None, False, ""
    try:
        git = Git(workspace, shell)
        tracked = git.tracked(STATE, workspace, besides=f"{STATE}/{SETTINGS}")
    except (UsageError, GitError) as error:
        if any(os.path.lexists(place / ".git") for place in (workspace, *workspace.parents)):
            problem = str(error)
    if problem and folder.exists():
        raise UsageError(
            f"{folder} may have come with the repository, because git cannot say whether it tracks "
            f"it: {problem}. Make git status work there, or move {STATE} away"
        )
    if tracked:
        raise UsageError(
            f"git tracks {folder}, so its tasks and messages may be another person's. If they are "
            f"yours, take them out of the repository: git rm -r -q --cached {STATE}"
        )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)  # also one that was there: the tasks and messages are the user's
    except OSError as error:
        raise UsageError(
            f"{folder}, where the state goes, cannot be made or closed to other users "
            f"({error.strerror}); take a folder that is yours and can be written"
        ) from None
    if link := link_in(folder):
        raise UsageError(f"{link} is a link, and state must not lie elsewhere; remove it")
    with locked(folder):
        # For git add -A in a repository that is made later, or in a copy of the folder.
        (folder / ".gitignore").write_text("*\n", "utf-8")
        if git is not None:
            git.exclude(f"{STATE}/")
    return folder, git


def link_in(folder: Path) -> Path | None:
    """A symbolic link in a folder, at any depth."""
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if (path := Path(top, name)).is_symlink():
                return path
    return None
