"""Files that threads and processes share: documents that change whole, journals that only grow.

A reader never meets half a document, and a writer that is killed loses nothing but what it was
writing. A thread that changes something holds the folder's lock; none holds it during a request to
a model.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from learnkit.errors import UsageError
from learnkit.runtime import atomic_write as files

#: Seconds between two tries to get a lock that another thread or process holds.
POLL = 0.005

_TOGETHER = ".together.json"  # changes of several documents that were decided and are not all made
_KIND = "store"  # of temporary files


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Hold a folder's lock; every other thread and process that asks for it waits.

    The thread that holds it may ask again. When its process dies, the lock is free.

    Args:
        folder: is created if it does not exist; the lock is the file ``.lock`` in it.
    """
    folder = Path(os.path.realpath(folder))
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock", is_singleton=True, poll_interval=POLL):
        if (folder / _TOGETHER).exists():
            _carry_out(folder)  # a writer died between deciding and doing
        yield


def recover(folder: str | Path) -> None:
    """Finish what a killed writer had decided, and remove its temporary files.

    Args:
        folder: where it wrote.
    """
    with locked(folder):
        for left in Path(folder).glob(f".{_KIND}-*.part"):
            left.unlink()


def write_together(folder: str | Path, changes: Mapping[str, Any]) -> None:
    """Change several documents of a folder: all of them, or none if the process dies.

    Args:
        folder: where they are.
        changes: file name and new value; None removes the file.

    Raises:
        UsageError: if a value cannot be written as JSON; nothing is changed then.
    """
    folder = Path(folder)
    with locked(folder):
        if len(changes) > 1:
            _write(folder / _TOGETHER, dict(changes))  # from here on it counts
            _carry_out(folder)
        else:
            _apply(folder, changes)


class Document:
    """A JSON value in a file of its own.

    Args:
        path: of the file; its folder is created with the first write.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def read(self, default: Any = None) -> Any:
        """Return the value as it is, or ``default`` when there is no file. Takes no lock.

        Args:
            default: what to return when there is no file.

        Raises:
            UsageError: if the file is not JSON: something else has written to it.
        """
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return default
        try:
            return json.loads(text)
        except ValueError as error:
            raise UsageError(f"{self.path} is not JSON ({error}); mend it or remove it") from None

    @contextmanager
    def change(self, default: Any = None) -> Iterator[Any]:
        """Read, let the block change the value in place, and write, with no other change between.

        Nothing is written when the block raises, or changes nothing.

        Args:
            default: what to start from when there is no file; a list or a dict.

        Raises:
            UsageError: if the file is not JSON, or the value cannot be written as JSON.
        """
        with locked(self.path.parent):
            value = self.read(copy.deepcopy(default))
            before = copy.deepcopy(value)
            yield value
            if value != before or not self.path.exists():
                _write(self.path, value)

    def write(self, value: Any) -> None:
        """Replace the value.

        Args:
            value: the new one, JSON-ready.

        Raises:
            UsageError: if it cannot be written as JSON.
        """
        with locked(self.path.parent):
            _write(self.path, value)


class Journal:
    """JSON objects in a file, one a line; lines are added and never changed.

    A writer that is killed may leave a torn line; it is never read, and the next writer begins a
    new one.

    Args:
        path: of the file; its folder is created with the first entry.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def append(self, *entries: dict[str, Any]) -> None:
        """Add entries at the end.

        Args:
            entries: JSON-ready dicts.

        Raises:
            UsageError: if one is no object, or cannot be written as JSON; none is added then.
            OSError: if there is no room; none is added then.
        """
        for entry in entries:
            if not isinstance(entry, dict):
                raise UsageError(f"a journal's entries are dicts, not {entry!r}")
        data = b"".join(_encoded(entry) for entry in entries)
        with locked(self.path.parent), self.path.open("ab+", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - 1))
            if file.read(1) not in (b"", b"\n"):
                data = b"\n" + data  # a torn line ends here
            try:
                while data:
                    data = data[file.write(data) :]
            except OSError:
                file.truncate(end)
                raise

    def read(self, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """Return the whole entries from ``start`` on. Takes no lock.

        Args:
            start: where to begin, in bytes: 0, or what an earlier call returned.

        Returns:
            The entries, and where they end. A last line that is not complete stays unread.
        """
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                start = start if start <= size else 0  # the file was replaced
                file.seek(start)
                data = file.read()
        except FileNotFoundError:
            return [], 0
        whole = data[: data.rfind(b"\n") + 1]
        entries = (_decoded(line) for line in whole.split(b"\n"))
        return [entry for entry in entries if entry is not None], start + len(whole)


class Reader:
    """A cursor in a journal, kept in a file of its own.

    An entry is returned again and again until ``commit`` says that it has been dealt with: a reader
    that dies in between gets it twice, but never loses it. To take each only once, note its id
    where you deal with it, and commit afterwards.

    Args:
        journal: to read from.
        path: the file that keeps the cursor.
    """

    def __init__(self, journal: Journal, path: str | Path) -> None:
        self._journal, self._cursor = journal, Document(path)
        self._end = self._cursor.read(0)

    def pending(self) -> list[dict[str, Any]]:
        """Return the entries after the cursor; it stays where it is."""
        entries, self._end = self._journal.read(self._cursor.read(0))
        return entries

    def commit(self) -> None:
        """Move the cursor after the entries that ``pending`` returned last."""
        if self._end != self._cursor.read(0):
            self._cursor.write(self._end)


def _carry_out(folder: Path) -> None:
    """Make the changes that were decided; doing so again changes nothing."""
    _apply(folder, Document(folder / _TOGETHER).read())
    (folder / _TOGETHER).unlink()


def _apply(folder: Path, changes: Mapping[str, Any]) -> None:
    for name, value in changes.items():
        if Path(name).name != name:
            raise UsageError(f"{name!r} is no file name in {folder}; nothing was written to it")
        if value is None:
            with contextlib.suppress(FileNotFoundError):
                (folder / name).unlink()
        else:
            _write(folder / name, value)


def _write(path: Path, value: Any) -> None:
    files.replace(path, _encoded(value, indent=2), kind=_KIND)


def _encoded(value: Any, indent: int | None = None) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError) as error:
        raise UsageError(f"this cannot be stored as JSON: {error}") from None
    # Half a surrogate pair is no UTF-8, but its JSON escape is.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _decoded(line: bytes) -> dict[str, Any] | None:
    """The entry in a line; None for a blank or torn one."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
