"""Saved conversations: each one is its event log, in a file that grows with every event.

The log has every message, so nothing else is kept. A process that is killed loses at most the
reply that was on its way. The files are in the workspace, in ``.learnkit/sessions``, which the
agent's file tools refuse; ``lk.EventLog.load`` reads them.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from learnkit.core.transcript import texts
from learnkit.core.usage import Usage
from learnkit.errors import UsageError
from learnkit.events.log import VERSION, Event, EventLog
from learnkit.events.text import count, one_line
from learnkit.runtime import stored_json

#: The folder, in that of the workspace's state.
FOLDER = "sessions"
#: How many sessions a list has.
LISTED = 20
#: Events that a list is made from, as they begin in a line of a file.
_TOLD = (b'"type": "run.started"', b'"type": "model.replied"')


class Record:
    """The log of a session, and its file.

    Args:
        folder: of the sessions.
        path: of a session to go on with; None for a new one.

    Attributes:
        folder: see the argument.
        path: of the file, which is made with the first event.
        events: the log.
        problem: why the last events are not in the file; empty if they are.
    """

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        name = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"
        self.folder, self.path = folder, path or folder / f"{name}.jsonl"
        self._file = -1
        self._end = self._written = 0  # bytes, and events
        self.events, self.problem = EventLog(), ""
        self._unsubscribe: Callable[[], object] = lambda: None
        if path is not None:
            self._open(os.O_RDWR)
            try:
                self._mend()
                self.events = EventLog.load(path)
            except BaseException:
                self.close()
                raise
            self._written = len(self.events)
        self._unsubscribe = self.events.subscribe(lambda event: self._write())

    @property
    def time(self) -> float:
        """Seconds at which the log goes on."""
        return self.events[-1].time if len(self.events) else 0.0

    @property
    def checkpoints(self) -> Path:
        """The folder of what :class:`learnkit.Checkpoints` keeps of the session."""
        return self.folder.parent / "checkpoints" / self.path.stem

    def close(self) -> None:
        """Write what is missing, and let others have the session."""
        self._unsubscribe()
        if self._file < 0:  # nothing was said in it
            shutil.rmtree(self.checkpoints, ignore_errors=True)
        if self._file >= 0:
            if self._written < len(self.events):
                self._write()
            os.close(self._file)
            self._file = -1

    def _open(self, flags: int) -> None:
        file = os.open(self.path, flags | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise UsageError(f"session {self.path.stem} is open in another chat") from None
        self._file = file

    def _mend(self) -> None:
        """Cut off a line that a killed process has not written to its end."""
        with open(self._file, "rb", closefd=False) as file:
            content = file.read()
        self._end = content.rfind(b"\n") + 1
        if self._end < len(content):
            os.ftruncate(self._file, self._end)

    def _write(self) -> None:
        """Append the events that are not in the file yet; a full disk ends no conversation."""
        try:
            if self._file < 0:
                self.folder.mkdir(mode=0o700, exist_ok=True)
                self._open(os.O_RDWR | os.O_CREAT | os.O_EXCL)
            lines = [] if self._end else [json.dumps({"version": VERSION})]
            new = self.events[self._written :]
            lines += [json.dumps(one._asdict(), ensure_ascii=False) for one in new]
            data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
            left = memoryview(data)
            while left:
                left = left[os.pwrite(self._file, left, self._end + len(data) - len(left)) :]
        except OSError as error:
            self.problem = f"this session is not saved at present: {error.strerror}"
            return
        self._end, self._written, self.problem = self._end + len(data), len(self.events), ""


def folder_of(workspace: Path) -> Path:
    """The folder of a workspace's sessions, unless it may be another person's."""
    from learnkit.backends.files.state import open_state
    from learnkit.runtime.shell import LocalShell

    return open_state(workspace, LocalShell())[0] / FOLDER


@dataclass(frozen=True, slots=True)
class Saved:
    """A session in a list.

    Attributes:
        path: of its file.
        when: the last time that something happened in it.
        prompt: what the user said first.
        usage: what all its agents have used.
    """

    path: Path
    when: datetime
    prompt: str
    usage: Usage

    def __str__(self) -> str:
        cost = "" if self.usage.cost is None else f", ${self.usage.cost:,.2f}"
        turns = count(self.usage.requests, "turn")
        return f"{self.when:%Y-%m-%d %H:%M}  {self.prompt}  ({turns}{cost})  {self.path.stem}"


def sessions(folder: Path) -> list[Saved]:
    """The sessions in which the user has said something, the latest first."""
    found = []
    for path in folder.glob("*.jsonl"):
        with contextlib.suppress(OSError):  # removed meanwhile
            found.append((path.stat(follow_symlinks=False).st_mtime, path))
    made = []
    for changed, path in sorted(found, reverse=True):
        events = list(_told(path))
        prompts = (one.data.get("prompt") for one in events if one.type == "run.started")
        first = next((one for one in prompts if one), None)
        if first is not None:
            when = datetime.fromtimestamp(changed).astimezone()
            said = one_line(next(texts(first), ""), 50)
            made.append(Saved(path, when, said, Usage.of(events)))
        if len(made) == LISTED:
            break
    return made


def listing(folder: Path, command: str = "/resume") -> str:
    """The sessions as a list, with what opens one."""
    found = [f"{number:2}  {one}" for number, one in enumerate(sessions(folder), 1)]
    how = [f"{command} NUMBER goes on with one"] if found else ["nothing is saved here"]
    return "\n".join([*found, *how])


def chosen(folder: Path, name: str) -> Path:
    """The file of a session, by its place in the list, its name or the beginning of its name."""
    listed = sessions(folder)
    if name.isdecimal() and 0 < int(name) <= len(listed):
        return listed[int(name) - 1].path
    found = [path for path in folder.glob("*.jsonl") if path.stem.startswith(name)]
    found = [path for path in found if path.stem == name] or found
    if len(found) != 1:
        what = "there are several sessions" if found else "there is no session"
        raise UsageError(f"{what} {name!r} here; chat --resume lists them")
    return found[0]


def record_of(folder: Path, *, last: bool, name: str) -> Record:
    """A new session; or one to go on with: the last one, or the one with a name."""
    if not (last or name):
        return Record(folder)
    if last and not sessions(folder):
        raise UsageError("no conversation is saved here to continue")
    return Record(folder, chosen(folder, name or "1"))


def _told(path: Path) -> Iterator[Event]:
    """The prompts and the replies in a file; the rest of it is not parsed, which is most."""
    try:
        with path.open("rb") as file:
            for line in file:
                if not any(kind in line for kind in _TOLD):
                    continue
                with contextlib.suppress(ValueError, TypeError):  # a torn line, or no event
                    fields: dict[str, Any] = stored_json.parse(line)
                    yield Event(**fields)
    except OSError:
        return
