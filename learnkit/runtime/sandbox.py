"""What a sandboxed command finds: the machine read-only, and a few folders that it may write.

In those folders some things stay read-only, because programs outside of the sandbox run what they
name: the configuration and the hooks of a git repository, the Python that runs the harness, and the
harness's state. git's objects, references and index stay writable, so that commits work. What can
only be seen afterwards, such as a rebase that stopped with commands in its plan, is removed then.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from learnkit.errors import ToolError
from learnkit.runtime.workspace import STATE, python_folders

BASE = (
    *("--unshare-all", "--die-with-parent", "--cap-drop", "ALL"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
    # Root may write kernel settings, such as the program that handles a crash on the host.
    *("--remount-ro", "/proc"),
    # Sockets in /run (docker, the session bus) would be doors to the outside.
    *("--tmpfs", "/run", "--ro-bind-try", "/run/current-system", "/run/current-system"),
)
#: Folders of a repository that name programs, other repositories or remotes.
_CLOSED = ("hooks", "info", "modules", "remotes", "branches")
#: A line of a rebase's plan that git runs as a command.
_COMMAND = re.compile(rb"^[ \t]*(?:exec|x)(?:[ \t\r].*)?$", re.MULTILINE)


@dataclass(slots=True)
class Sandbox:
    """The mounts of one command.

    Attributes:
        visible: what must be there read-only even if it is in /tmp, which is private.
        writable: folders that may be written, outer ones first.
        read_only: what in them may not.
        absent: files from which git would run code if a command made them; nothing can be mounted
            on them, since they are not there.
    """

    visible: list[Path] = field(default_factory=list)
    writable: list[Path] = field(default_factory=list)
    read_only: list[Path] = field(default_factory=list)
    absent: list[Path] = field(default_factory=list)
    _repositories: list[Path] = field(default_factory=list)
    _commands: set[bytes] = field(default_factory=set)
    _inodes: dict[Path, int | None] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, writable: Sequence[Path], *, for_git: bool = False) -> Sandbox:
        """The mounts for a command."""
        made = cls(writable=sorted({*writable, folder}, key=lambda path: len(path.parts)))
        if for_git:
            made.writable += _administration(folder)
            return made
        roots = tuple(made.writable)
        for root in roots:
            made._protect(_repository(root), roots)
            made._protect_nested(root, roots)
            if (root / STATE).is_dir() and not (root / STATE).is_symlink():
                made.read_only.append(root / STATE)
        made._commands = {line for path in made._plans() for line in _commands(path)}
        return made

    def mounts(self) -> Iterator[str]:
        """bubblewrap's options, after :data:`BASE`."""
        prefixes = [*dict.fromkeys((Path(sys.prefix), Path(sys.base_prefix)))]
        inside = [one for one in python_folders() if one.exists() and _within(one, self.writable)]
        # Outside of what is writable because the environment may be in /tmp; inside, because what
        # is planted there would run with the harness's next start.
        for path in prefixes:
            if path.resolve() not in inside:
                yield from ("--ro-bind", str(path), str(path))
        for path in self.visible:
            yield from ("--ro-bind", str(path), str(path))
        for path in self.writable:
            yield from ("--bind", str(path), str(path))
        read_only = [*dict.fromkeys((*self.read_only, *inside))]
        # A folder that is itself a mount cannot be renamed, so nothing can take the place of one
        # that has a protected file in it.
        for path in self._between(read_only):
            yield from ("--bind-try", str(path), str(path))  # a worktree may go meanwhile
        for path in read_only:
            yield from ("--ro-bind-try", str(path), str(path))
        for path in _sockets():
            hidden = _within(path, (Path("/run"), Path("/tmp")))
            if not hidden or _within(path, (*self.visible, *self.writable)):
                yield from ("--ro-bind", "/dev/null", str(path))

    def is_set(self) -> bool:
        """Whether the command has to be ended, because it is not held back any more."""
        return any(os.path.lexists(path) for path in self.absent) or bool(self.replaced())

    def replaced(self) -> list[Path]:
        """What another program has replaced meanwhile: the kernel has taken the mount away then."""
        return [path for path, inode in self._inodes.items() if _inode(path) != inode]

    def clear(self) -> list[Path]:
        """Remove such files, and return them."""
        made = [path for path in self.absent if os.path.lexists(path)]
        # A rebase may run commands, but one that stops must not leave them for the next program.
        made += [path for path in self._plans() if set(_commands(path)) - self._commands]
        for path in made:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        return made

    def _protect_nested(self, root: Path, roots: Sequence[Path]) -> None:
        """Close the repositories in a folder, with or without ``.git``, and the links to others."""
        for place, folders, files in os.walk(root):
            folder = Path(place)
            if ".git" in files:
                self.read_only.append(folder / ".git")
            if ".git" in folders:
                folders.remove(".git")
                common = folder / ".git"
            elif "HEAD" in files and {"objects", "refs"} <= {*folders}:
                folders.clear()
                common = folder
            else:
                continue
            if common not in self._repositories and not common.is_symlink():
                self._protect(_Repository(folder, common), roots, nested=True)

    def _plans(self) -> Iterator[Path]:
        """What is left to do of rebases that have stopped, in each checkout of a repository."""
        for common in self._repositories:
            for own in (common, *_folders(common / "worktrees")):
                yield own / "rebase-merge" / "git-rebase-todo"

    def _protect(
        self, found: _Repository | None, roots: Sequence[Path], *, nested: bool = False
    ) -> None:
        """Open a repository for commits, and close what names programs or other folders.

        A nested one may be the command's own, so a link in it is no reason to refuse all others.
        """
        if found is None:
            return
        common = found.common
        self._repositories.append(common)
        self.visible += [path for path in (found.top, common) if not _within(path, roots)]
        if not _within(common, roots):
            self.writable.append(common)
        self._close(common, ("config", *_CLOSED), ("config.worktree",), nested)
        self.absent.append(common / "commondir")  # git would read its config elsewhere
        self._inodes |= {one: _inode(one) for one in self.read_only if one.parent == common}
        for own in _folders(common / "worktrees"):
            # An empty folder of submodules would keep git from removing the worktree.
            self._close(own, ("commondir", "gitdir"), ("config.worktree", "modules"), nested)
            link = _linked(own)
            if link is not None and _within(link, roots) and link.exists():
                self.read_only.append(link)

    def _close(
        self, folder: Path, names: Iterable[str], may_be_absent: Iterable[str], nested: bool
    ) -> None:
        for name in _CLOSED:
            if name in names:  # an empty one means nothing to git, and can be mounted
                with contextlib.suppress(OSError):  # then the command cannot make one either
                    (folder / name).mkdir(exist_ok=True)
        for name in (*names, *may_be_absent):
            path = folder / name
            if path.is_symlink() and nested:
                continue
            if path.is_symlink():
                raise ToolError(
                    f"{path} is a symbolic link, which a sandbox cannot protect. Put the file or "
                    "folder itself there"
                )
            if path.exists():
                self.read_only.append(path)
            elif name in may_be_absent:
                self.absent.append(path)

    def _between(self, paths: Iterable[Path]) -> list[Path]:
        """The folders between a writable one and a read-only path in it, outer ones first."""
        found: dict[Path, None] = {}
        for path in paths:
            for parent in path.parents:
                if not _within(parent, self.writable):
                    break
                if parent not in self.writable:
                    found[parent] = None
        return sorted(found, key=lambda path: len(path.parts))


@dataclass(frozen=True, slots=True)
class _Repository:
    """A checkout's top folder, and git's own folder, which all worktrees share."""

    top: Path
    common: Path


def _repository(folder: Path) -> _Repository | None:
    """The repository that a folder is in; None if there is none that may be opened."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_symlink() and place != folder:
            return None  # no command could have made it; without it there are no commits
        if git.is_symlink():
            raise ToolError(f"{git} is a symbolic link, which a sandbox cannot protect; remove it")
        if git.is_dir():
            return _Repository(place, git)
        if git.is_file():
            return _worktree(git)
    return None


def _worktree(link: Path) -> _Repository | None:
    """The repository of a worktree, if that knows it: a command could have written the file."""
    try:
        text = link.read_text("utf-8").removeprefix("gitdir:").strip()
    except (OSError, ValueError):
        return None
    own = Path(os.path.realpath(link.parent / text))
    if own.parent.name != "worktrees" or _linked(own) != link:
        return None
    return _Repository(link.parent, own.parent.parent)


def _linked(own: Path) -> Path | None:
    """The file ``.git`` of the worktree that a folder of git's belongs to."""
    try:
        return Path(os.path.realpath(own / (own / "gitdir").read_text("utf-8").strip()))
    except (OSError, ValueError):
        return None


def _administration(folder: Path) -> list[Path]:
    """What git writes outside of a worktree when the harness manages it."""
    found = _repository(folder)
    return [] if found is None or _within(found.common, [folder]) else [found.common]


def _commands(plan: Path) -> list[bytes]:
    """The lines of a rebase's plan that git would run; a link could lead to any."""
    if plan.is_symlink() or plan.parent.is_symlink():
        return [os.fsencode(plan)]
    try:
        return _COMMAND.findall(plan.read_bytes()) if plan.is_file() else []
    except OSError:
        return []


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _folders(path: Path) -> list[Path]:
    return [one for one in path.iterdir() if one.is_dir()] if path.is_dir() else []


def _sockets() -> Iterator[Path]:
    """The sockets of other programs that have a name in the file system."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/net/unix").read_text("utf-8", "surrogateescape").splitlines()[1:]:
            name = line.split(None, 7)[7:]
            if not name or not name[0].startswith("/"):
                continue
            path = Path(os.path.realpath(name[0]))
            if _is_socket(path):
                yield path


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:  # it is gone, or out of the user's reach
        return False
