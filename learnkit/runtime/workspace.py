"""A workspace: the one folder that the file tools may touch, and the name it goes by.

Paths are confined after symbolic links are resolved. Whatever the model reads calls the folder
``/workspace``, so that outputs are the same on every machine and a recording fits; for the user's
own work it has its true name, since a file may speak of another ``/workspace``. This guards
against mistakes and stray paths. It is no wall against a program that swaps a folder for a link
between the check and the use; the sandbox (``BwrapShell``) is.

Some files in it are none of the model's: git's own, because git runs programs that they name, the
harness's state, because it decides what other agents may do, and the Python that runs the harness.
"""

from __future__ import annotations

import difflib
import os
import re
import site
import sys
import sysconfig
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from learnkit.errors import ToolError, UsageError
from learnkit.runtime import atomic_write as files

#: What a workspace is called in everything that the model reads.
NAME = "/workspace"
#: The folder in a workspace in which the whole harness keeps its state.
STATE = ".learnkit"
#: Bytes; a longer file is not for a model to read or edit whole.
FILE_LIMIT = 10_000_000


class Workspace:
    """A folder that paths cannot leave; ``masked`` says whether the model knows its true name."""

    root: Path

    def __init__(self, given: str | Path | Workspace, *, masked: bool = True) -> None:
        folder = given.root if isinstance(given, Workspace) else given
        self.is_masked: bool = given.is_masked if isinstance(given, Workspace) else masked
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"workspace {str(folder)!r} is a file; give a folder") from None
        except OSError as error:
            raise UsageError(
                f"workspace {str(folder)!r} cannot be made ({error.strerror}); give another folder"
            ) from None
        self.root = Path(folder).resolve()
        if self.root == Path(self.root.anchor):
            raise UsageError("the workspace cannot be '/', the whole machine; give a folder")
        names = {str(self.root), os.path.abspath(folder)}  # noqa: PTH100 (keeps symbolic links)
        longest_first = sorted(names, key=len, reverse=True)
        real = "|".join(re.escape(name) for name in longest_first)
        self._real = re.compile(rf"(?<![\w.-])(?:{real})(?![\w-])")
        self._virtual = re.compile(rf"(?<![\w./-]){NAME}(?![\w.-])")

    @property
    def name(self) -> str:
        """What the model calls it."""
        return NAME if self.is_masked else str(self.root)

    def locate(self, path: str) -> Path:
        """The real path for one that a model wrote: relative, or below ``/workspace``."""
        if not path.strip() or "\0" in path:
            raise ToolError(f"{path!r} is not a valid path; use one like 'src/main.py'")
        virtual = self.is_masked and _is_virtual(path)
        inside = path.removeprefix(NAME).lstrip("/") if virtual else path
        try:
            # What is left is free of links and "..", so comparing the parts is enough.
            place = Path(os.path.realpath(self.root / inside))
        except ValueError:
            raise ToolError(f"{path!r} is not a valid path: it is not valid Unicode") from None
        if not place.is_relative_to(self.root):
            raise ToolError(
                f"{self.masked(path)!r} is outside the workspace; use a relative path, "
                f"or one that begins with {self.name}/"
            )
        # After a link that points to itself, realpath continues with the mere text: look again.
        if os.path.islink(place) or place != Path(os.path.realpath(place)):  # noqa: PTH114
            raise ToolError(f"{self.masked(path)!r} leads through a link that points to itself")
        return place

    def shown(self, place: Path) -> str:
        """The name of a place in the workspace, for the model."""
        return str(Path(self.name) / place.relative_to(self.root))

    def masked(self, text: str) -> str:
        """``text`` with the workspace's real path replaced by ``/workspace``."""
        return self._real.sub(NAME, text) if self.is_masked else text

    def unmasked(self, text: str) -> str:
        """``text`` with ``/workspace`` replaced by the workspace's real path."""
        return self._virtual.sub(lambda _: str(self.root), text) if self.is_masked else text

    def read(self, path: str) -> str:
        """The text of a file, to the character: line ends are kept."""
        place = self.locate(path)
        shown = self.shown(place)
        if not place.is_relative_to(self.root / STATE / "transcripts"):
            _refuse_protected(self.root, place, shown)
        with _explained(shown):
            if not place.exists():
                raise ToolError(f"there is no file {shown}.{_similar(place)}")
            _refuse_irregular(place, shown)
            if (size := place.stat().st_size) > FILE_LIMIT:
                raise ToolError(
                    f"{shown} is too large ({size:,} bytes); read parts of it with bash"
                )
            data = place.read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = None
        if text is None or "\0" in text:
            raise ToolError(f"{shown} is a binary file ({len(data):,} bytes), not UTF-8 text")
        return text

    def write(self, path: str, text: str) -> bool:
        """Write a file so that it appears whole or not at all; parents are created.

        A file that exists keeps its permissions; a link in the workspace keeps pointing to it.
        """
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            shown = self.shown(self.locate(path))
            raise ToolError(f"the text for {shown} is not valid Unicode: {error}") from None
        return self.put(path, data)

    def put(self, path: str, data: bytes | None) -> bool:
        """Write the content of a file as :meth:`write` does, or remove it; whether it is new."""
        place = self.locate(path)
        shown = self.shown(place)
        _refuse_protected(self.root, place, shown)
        _refuse_repository(self.root, place, shown)
        _refuse_own_python(self.root, place, shown)
        with _explained(shown):
            old = place.exists()
            if old:
                _refuse_irregular(place, shown)
            if data is None:
                place.unlink(missing_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                files.replace(place, data)
        return not old

    def content(self, path: str) -> bytes | None:
        """The bytes of a file that may be written; None if there is none."""
        place = self.locate(path)
        _refuse_protected(self.root, place, self.shown(place))
        if not place.exists():
            return None
        _refuse_irregular(place, self.shown(place))
        return place.read_bytes()


def _is_virtual(path: str) -> bool:
    return path == NAME or path.startswith(f"{NAME}/")


_GIT = "git runs programs named in its files. Use git commands in bash"
_WHY = {
    ".git": f"belongs to git; {_GIT}",
    "git~1": f"belongs to git; {_GIT}",  # what Windows calls .git where a name has eight letters
    STATE: "is the harness's own state; use its tools, such as those for tasks and messages",
}


def _refuse_protected(root: Path, place: Path, shown: str) -> None:
    """Refuse what lies in ``.git`` or in the harness's state, by whatever name."""
    folder = root
    for part in place.relative_to(root).parts:
        why = _WHY.get(_folded(part)) or next(
            (_WHY[name] for name in (".git", STATE) if _same(folder / part, folder / name)), None
        )
        if why is not None:
            raise ToolError(f"{shown} {why}")
        folder /= part


def _refuse_repository(root: Path, place: Path, shown: str) -> None:
    """Refuse what would lie in a repository without ``.git``: git takes its config for its own."""
    folder = root
    for part in place.relative_to(root).parts:
        new = _folded(part)
        has = {one for one in _BARE if one.casefold() == new or (folder / one).exists()}
        if "HEAD" in has and (has >= {"objects", "refs"} or "commondir" in has):
            raise ToolError(f"{shown} would be in a git repository without a .git folder; {_GIT}")
        folder /= part


_BARE = ("HEAD", "objects", "refs", "commondir")


def python_folders() -> list[Path]:
    """The folders from which the Python that runs the harness takes code when it starts, resolved.

    Other folders of ``sys.path``, such as a project's that is installed for editing, are what an
    agent is there to work on.
    """
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    names = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
    paths = [
        *(sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix),
        *(sysconfig.get_path(name, scheme) for scheme in schemes for name in names),
        *(*site.getsitepackages(), site.getusersitepackages(), Path(__file__).parents[1]),
    ]
    return [Path(path).resolve() for path in dict.fromkeys(map(str, paths))]


def _refuse_own_python(root: Path, place: Path, shown: str) -> None:
    # Only below the root: a workspace that is inside an environment is no part of it.
    ways = [one for one in (place, *place.parents) if one.is_relative_to(root)]
    names = set().union(*map(_names, ways))
    if any(names & _names(folder) for folder in python_folders()):
        raise ToolError(f"{shown} belongs to the Python that runs this harness; leave it alone")


def _names(place: Path) -> set[object]:
    """What two paths have in common when they name one place, whether or not it is there."""
    folded = tuple(map(_folded, place.parts))
    try:
        stat = place.stat()
    except OSError:
        return {folded}
    return {folded, (stat.st_dev, stat.st_ino)}


def _folded(name: str) -> str:
    """A name as a file system compares it that folds names, as those of macOS and Windows do."""
    visible = "".join(one for one in name if unicodedata.category(one) != "Cf")
    return visible.partition(":")[0].rstrip(" .").casefold()


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False


def _refuse_irregular(place: Path, shown: str) -> None:
    if place.is_dir():
        raise ToolError(f"{shown} is a folder, not a file; list it with bash: ls")
    if not place.is_file():  # reading a pipe would wait for ever
        raise ToolError(f"{shown} is not a regular file")


def _similar(place: Path) -> str:
    names = [one.name for one in place.parent.iterdir()] if place.parent.is_dir() else []
    near = difflib.get_close_matches(place.name, names, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


@contextmanager
def _explained(shown: str) -> Iterator[None]:
    """Turn what the system says about a file into a text for the model."""
    try:
        yield
    except OSError as error:
        raise ToolError(f"{shown}: {error.strerror or error}") from None
