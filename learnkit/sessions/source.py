"""The file of a session: opened without trust, read a line at a time, and what is to be said of it.

A session's file belongs to another program, is written while we read it, and may hold anything. So
nothing in it is fatal: what cannot be read is a warning with its number, and what would take too
much memory is left out and counted.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from learnkit.errors import UsageError
from learnkit.events.sessions import SessionWarning
from learnkit.events.text import excerpt

#: Bytes of the longest line that is read, and characters of the longest text that is kept whole.
LONGEST_LINE, LONGEST_TEXT = 64_000_000, 2_000_000
#: Characters that a log keeps in all; of the texts after them it keeps this much each.
TEXT, SHORT = 60_000_000, 1_000
#: Lines that are read; the rest of the file is only counted.
LINES = 200_000
#: Warnings that are kept, and how deep values may be nested.
WARNINGS, DEPTH = 100, 60


@dataclass(slots=True)
class Reading:
    """What is found out about a session while it is read; it becomes ``session.opened``."""

    format: str = ""
    path: str = ""
    id: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    versions: dict[str, None] = field(default_factory=dict)
    models: dict[str, None] = field(default_factory=dict)
    lines: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    warnings: list[SessionWarning] = field(default_factory=list)
    room: int = TEXT

    def warn(self, line: int, text: str, file: str = "") -> None:
        """Remember something that could not be read."""
        if len(self.warnings) < WARNINGS:
            self.warnings.append(SessionWarning(line=line, text=text, file=file))
        else:
            self.left_out["warnings"] += 1

    def kept(self, value: Any, depth: int = 0) -> Any:
        """A value from the file, as it is or, where there is no room for all of it, shortened."""
        if isinstance(value, str):
            limit = LONGEST_TEXT if self.room > 0 else SHORT
            if len(value) > limit:
                self.left_out["characters"] += len(value) - limit
                value = excerpt(value, limit)
            self.room -= len(value)
        elif isinstance(value, dict | list):
            if depth == DEPTH:
                self.left_out["values nested too deeply"] += 1
                return None
            self.room -= 50  # a container costs memory, too
            if isinstance(value, list):
                return [self.kept(one, depth + 1) for one in value]
            return {key: self.kept(one, depth + 1) for key, one in value.items()}
        return value


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading, and nothing else: a pipe would wait for ever.

    Raises:
        UsageError: if it cannot be opened, or is no regular file.
    """
    try:
        file = open(path, "rb", buffering=1 << 20, opener=_without_waiting)  # noqa: SIM115
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be opened: {what}") from None
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UsageError(f"{path} is no regular file; give the file of a session")
        yield file


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def entries(path: Path, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON object of each line and its number, from 1.

    What is no object is a warning. Of a file that is too long, the later lines are only counted.
    """
    name = "" if str(path) == reading.path else path.name
    with opened(path) as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                reading.warn(number, f"left out: it is longer than {LONGEST_LINE:,} bytes", name)
            elif reading.lines.total() >= LINES:
                reading.left_out["lines"] += 1
            elif line.strip():
                try:
                    entry = parsed(line)
                except ValueError as error:
                    cut = "cut off: " if not line.endswith(b"\n") else ""
                    reading.warn(number, f"{cut}no JSON ({error})", name)
                    continue
                if isinstance(entry, dict):
                    yield number, entry
                else:
                    reading.warn(number, "no JSON object", name)


def parsed(text: bytes) -> Any:
    """The value of some JSON; NaN and infinity, which are none, become null.

    Raises:
        ValueError: if it is no JSON, or is nested too deeply.
    """
    try:
        return json.loads(text.decode("utf-8", "replace"), parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def seconds(value: Any) -> float | None:
    """A time as files have it, as seconds since 1970; None if it is none."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).timestamp()
    except (ValueError, OverflowError, OSError):
        pass
    return None


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Any) -> int:
    """The value if it is a whole number from 0, else 0."""
    return value if type(value) is int and 0 <= value < 2**53 else 0
