"""Files that threads and processes share: documents that change whole, journals that only grow.

A reader never meets half a document, and a writer that is killed loses nothing but what it was
writing. A thread that changes something holds the folder's lock; none holds it during a request to
a model.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import TypedDict

from learnkit.backends.shared import VERSION, following
from learnkit.errors import UsageError
from learnkit.runtime import atomic_write as files
from learnkit.runtime import stored_json
from learnkit.runtime.file_lock import held

_LOCK = ".lock"
_TOGETHER = ".together.json"  # changes of several documents that were decided and are not all made
_KIND = "store"  # of temporary files
_Renames = dict[str, str | None]

T = TypeVar("T")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Append(TypedDict):
    start: int
    lines: str


_Appends = dict[str, _Append]


@contextmanager
def locked(folder: str | Path) -> Iterator[None]:
    """Hold a folder's lock; every other thread and process that asks for it waits.

    The thread that holds it may ask again. When its process dies, the lock is free.
    """
    folder = Path(folder)
    with held(folder / _LOCK) as taken_now:
        if taken_now and (folder / _TOGETHER).exists():
            _carry_out(folder)  # a writer died between deciding and doing
        yield


def recover(folder: str | Path) -> None:
    """Finish what a killed writer had decided, and remove its temporary files."""
    with locked(folder):
        for left in Path(folder).glob(f".{_KIND}-*.part"):
            left.unlink()


def write_together(folder: str | Path, changes: Mapping[str, Any]) -> None:
    """Change several documents of a folder: all of them, or none if the process dies.

    What fails for lack of room fails while the new values go beside their files, where nothing has
    changed yet.
    """
    folder = Path(folder)
    renames: _Renames = {}
    with locked(folder):
        try:
            for name, value in changes.items():
                renames[name] = None
                if value is not None:
                    part = files.stage(folder / name, _encoded(value, 2), kind=_KIND)
                    renames[name] = part.name
            if len(renames) > 1:
                _write(folder / _TOGETHER, {"version": VERSION, "renames": renames})
                _carry_out(folder)  # it counts already: who finds that file does this
            else:
                _rename(folder, renames)
        except BaseException:
            if not (folder / _TOGETHER).exists():  # else they are needed
                for left in filter(None, renames.values()):
                    (folder / left).unlink(missing_ok=True)
            raise


def append_together(folder: str | Path, entries: Mapping[str, dict[str, Any]]) -> None:
    """Add an entry to each of several journals: to all of them, or to none if the process dies.

    Read them through :func:`settled`.
    """
    folder = Path(folder)
    decision = folder / _TOGETHER
    with locked(folder):
        appends: _Appends = {
            name: {"start": _size(folder / name), "lines": _encoded(entry).decode()}
            for name, entry in entries.items()
        }
        if len(appends) > 1:
            _write(decision, {"version": VERSION, "appends": appends})
        try:
            for name, one in appends.items():
                _append(folder / name, one["lines"].encode())
        except OSError:
            for name, one in appends.items():
                if _size(folder / name) > one["start"]:
                    os.truncate(folder / name, one["start"])
            decision.unlink(missing_ok=True)
            raise
        decision.unlink(missing_ok=True)


def settled(folder: str | Path, read: Callable[[], T]) -> T:
    """Return what ``read`` returns when no change of several files is half made.

    If one is, this waits until it is made, and makes it if its writer has died.
    """
    found = read()
    if (Path(folder) / _TOGETHER).exists():  # what was found may be a part of it
        with contextlib.suppress(OSError), locked(folder):  # without room, what can be read is read
            return read()
    return found


class Document:
    """A JSON value in a file of its own."""

    def __init__(self, path: str | Path, kind: Any = Any, *, stays: bool = False) -> None:
        self.path, self._kind, self._stays = Path(path), kind, stays
        self._seen = False

    def read(self, default: Any = None) -> Any:
        """Return the value as it is, or ``default`` when there is no file. Takes no lock."""
        try:
            value = stored_json.parse(self.path.read_bytes())
        except FileNotFoundError:
            if self._seen and self._stays:
                raise OSError(
                    f"{self.path} was there, and is gone; put it back, or end all that uses it "
                    "and begin anew"
                ) from None
            return default
        except OSError as error:
            raise self.damaged(f"cannot be read ({error.strerror})") from None
        except ValueError as error:
            raise self.damaged(f"is not JSON ({error})") from None
        if self._kind is not Any:
            check_version(self.path, value)
        if problem := mismatch(value, self._kind):
            raise self.damaged(f"does not hold what it should: {problem}")
        self._seen = True
        return value

    @contextmanager
    def change(self, default: Any = None) -> Iterator[Any]:
        """Read, let the block change the value in place, and write, with no other change between.

        Nothing is written when the block raises, or changes nothing.
        """
        with locked(self.path.parent):
            value = self.read(copy.deepcopy(default))
            before = copy.deepcopy(value)
            yield value
            if value != before or not self.path.exists():
                _write(self.path, value)
                self._seen = True

    def update(
        self, act: Callable[[Any], T], default: Any = None, *, repeatable: bool = False
    ) -> T:
        """Let a function change the value in place, and return its result; see ``Shared``."""
        with self.change(default) as value:
            return act(value)

    def damaged(self, problem: str) -> UsageError:
        """Return the error for what the file holds: it names the file, and says what to do."""
        self._seen = False  # whoever removes it now does what this says
        return UsageError(f"{self.path} {problem}; mend it or remove it")


def next_number(path: Path, highest: int = 0) -> int:
    """Return the number that comes next in a folder, so that none is given twice.

    The counter's file knows those that were removed since, too. Where it is missing or damaged, the
    numbers in use count alone.
    """
    try:
        counter = Document(path).read()
    except UsageError:
        counter = None
    check_version(path, counter)
    return following(counter.get("next_id") if isinstance(counter, dict) else None, highest)


def counted(number: int) -> dict[str, int]:
    """Return what a counter's file holds once a number was given."""
    return {"next_id": number + 1, "version": VERSION}


def check_version(path: Path, value: Any) -> None:
    """Refuse what a newer version has written."""
    version = value.get("version") if isinstance(value, dict) else None
    if type(version) is int and version > VERSION:
        raise UsageError(
            f"{path} was written by a newer learnkit: it has version {version}, and this one "
            f"reads up to {VERSION}. Upgrade learnkit."
        )


class Journal:
    """JSON objects in a file, one a line; lines are added and never changed.

    A writer that is killed may leave a torn line; it is never read, and the next writer begins a
    new one.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def append(self, *entries: dict[str, Any]) -> None:
        """Add entries at the end."""
        lines = b"".join(map(_encoded, entries))
        with locked(self.path.parent):
            _append(self.path, lines)

    def read(self, start: int = 0) -> tuple[list[dict[str, Any]], int]:
        """Return the whole entries from ``start`` on. Takes no lock."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, min(start, size) - 1))
                if 0 < start <= size and file.read(1) != b"\n":
                    start = 0  # no entry begins there: something else has written that number
                start = start if 0 <= start <= size else 0  # the file was replaced
                file.seek(start)
                data = file.read()
        except FileNotFoundError:
            return [], 0
        except OSError as error:
            problem = f"{self.path} cannot be read ({error.strerror}); mend it or remove it"
            raise UsageError(problem) from None
        whole = data[: data.rfind(b"\n") + 1]
        entries = (_decoded(line) for line in whole.split(b"\n"))
        return [entry for entry in entries if entry is not None], start + len(whole)


def _carry_out(folder: Path) -> None:
    """Make the changes that were decided; doing so again changes nothing."""
    document = Document(folder / _TOGETHER, dict[str, Any])
    decided = document.read()
    what, kind = ("appends", _Appends) if "appends" in decided else ("renames", _Renames)
    if problem := mismatch(decided.get(what), kind):
        raise document.damaged(f"does not hold what it should: {problem}")
    try:
        if what == "appends":
            for name, one in decided["appends"].items():
                _append(folder / _file_name(name, folder), one["lines"].encode(), one["start"])
        else:
            _rename(folder, decided["renames"])
    except (OSError, ValueError) as error:  # a ValueError: a name that no file can have
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise  # nothing is wrong with the decision: it is carried out once there is room
        raise document.damaged(f"holds a change that cannot be made ({error})") from None
    document.path.unlink()


def _rename(folder: Path, renames: Mapping[str, str | None]) -> None:
    for name, part in renames.items():
        if part is None:
            (folder / _file_name(name, folder)).unlink(missing_ok=True)
        else:
            with contextlib.suppress(FileNotFoundError):  # it was renamed before its writer died
                (folder / _file_name(part, folder)).replace(folder / _file_name(name, folder))


def _file_name(name: str, folder: Path) -> str:
    if name in ("", "..") or Path(name).name != name or "\0" in name:
        raise UsageError(f"{name!r} is no file name in {folder}; nothing was written to it")
    return name


def write_in_place(path: Path, value: Any) -> None:
    """Replace a few bytes by about as many: ten times as fast as a new file and a rename.

    For a rename over a file, the kernel first writes the new one out. In place, nothing waits for
    the disk, and the end of the process leaves the old bytes or the new ones: they are written in
    one call, within one page. This is for numbers that are checked when they are read, and never
    for a document of several pages.
    """
    try:
        with path.open("r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            _write_all(file, _encoded(value, 2).ljust(size))  # spaces, as cutting is a second call
    except FileNotFoundError:
        _write(path, value)


def _append(path: Path, lines: bytes, start: int | None = None) -> None:
    """Add whole lines to a journal.

    A writer that died may have added them already, from ``start`` on: they are not added again.
    """
    with path.open("ab+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(end if start is None else min(start, end))
        data = b"" if lines.rstrip(b"\n") in file.read() else lines
        file.seek(max(0, end - 1))
        if file.read(1) not in (b"", b"\n"):
            data = b"\n" + data  # a torn line ends there
        try:
            _write_all(file, data)
        except OSError:
            file.truncate(end)
            raise


def _write_all(file: FileIO, data: bytes) -> None:
    while data:
        data = data[file.write(data) :]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _write(path: Path, value: Any) -> None:
    files.replace(path, _encoded(value, indent=2), kind=_KIND)


def _encoded(value: Any, indent: int | None = None) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"this cannot be stored as JSON: {error}") from None
    # Half a surrogate pair is no UTF-8, but its JSON escape is.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def _decoded(line: bytes) -> dict[str, Any] | None:
    """The entry in a line; None for a blank, torn or damaged one."""
    try:
        entry = stored_json.parse(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def mismatch(value: Any, kind: Any) -> str:
    """What keeps a value from being of a kind; empty if nothing does."""
    for first in mismatches(value, kind):
        where = "".join(f"{part!r}: " for part in first["loc"])
        return f"{where}{first['msg']}"
    return ""


def mismatches(value: Any, kind: Any) -> list[Any]:
    """All that keeps a value from being of a kind, as pydantic's errors."""
    if kind is Any:
        return []
    from pydantic import ValidationError

    try:
        _adapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        return error.errors(include_url=False, include_context=False)
    return []


@functools.cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter  # a third of a second, and most documents need none

    return TypeAdapter(kind)
