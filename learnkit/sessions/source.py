"""The file of a session: opened without trust, read a line at a time, and what is to be said of it.

A session's file belongs to another program, is written while we read it, and may hold anything. So
nothing in it is fatal: what cannot be read is a warning with its number, and what would take too
much memory is left out and counted.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from learnkit.errors import UsageError
from learnkit.events.sessions import SessionOpened, SessionWarning
from learnkit.events.text import excerpt, one_line

#: Bytes of the longest line that is read, and of the longest file that is read as a whole.
LONGEST_LINE, LONGEST_DOCUMENT = 64_000_000, 256_000_000
#: Characters that a log keeps in all; of the texts after them it keeps this much each.
TEXT, SHORT = 60_000_000, 1_000
#: Lines that are read, of all files of a session; the rest is only counted.
LINES = 100_000
#: What is kept of warnings, and of each kind of line that is not known; how deep values may nest.
WARNINGS, UNKNOWN, DEPTH = 100, 100, 60
#: Seconds since 1970 beyond which a number is no time, in the year 5138.
LATEST = 1e11

#: An event, with its time and its lane: an object, or the name of a type and the details.
Told = tuple[float, str, Any]


class Reading:
    """What is found out about a session while it is read; it becomes ``session.opened``.

    Attributes:
        lines: see there, as for ``unknown``, ``left_out`` and ``warnings``.
        started: seconds since 1970 of the log's time 0; None: of the first event.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.started: float | None = None
        self.lines, self.unknown, self.left_out = Counter[str](), Counter[str](), Counter[str]()
        self.warnings: list[SessionWarning] = []
        self._facts: dict[str, Any] = {"versions": [], "models": []}
        self._room = TEXT

    def note(self, **facts: Any) -> None:
        """Remember what a line says of the whole session: the first text, and all versions."""
        for name, value in facts.items():
            if said := one_line(text(value), 200):
                found = self._facts.setdefault(name, said)
                if isinstance(found, list) and said not in found:
                    found.append(said)

    def opened(self, format: str, began: float) -> SessionOpened:
        """The event that says all of it."""
        counts = {"lines": self.lines, "unknown": self.unknown, "left_out": self.left_out}
        facts = {**self._facts, **counts, "warnings": tuple(self.warnings)}
        return SessionOpened(format=format, path=str(self.path), started=began, **facts)

    def warn(self, line: int, text: str, path: Path) -> None:
        """Remember something that could not be read."""
        if len(self.warnings) < WARNINGS:
            file = "" if path == self.path else path.name
            self.warnings.append(SessionWarning(line=line, text=text, file=file))
        else:
            self.left_out["warnings"] += 1

    def kept(self, value: Any, depth: int = 0) -> Any:
        """A value from the file, as it is or, where there is no room for all of it, shortened."""
        if isinstance(value, str):
            if self._room < len(value) > SHORT:
                self.left_out["characters"] += len(value) - SHORT
                value = excerpt(value, SHORT)
            self._room -= len(value)
        elif isinstance(value, dict | list):
            if depth == DEPTH:
                self.left_out["values nested too deeply"] += 1
                return None
            self._room -= 50  # a container costs memory, too
            if isinstance(value, list):
                return [self.kept(one, depth + 1) for one in value]
            return {key: self.kept(one, depth + 1) for key, one in value.items()}
        elif isinstance(value, float) and not math.isfinite(value):
            return None  # such as 1e999, which JSON can't hold
        return value


def opened(path: Path) -> BinaryIO:
    """Open a regular file for reading, and nothing else: a pipe would wait for ever.

    Raises:
        UsageError: if it cannot be opened, or is no regular file.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no regular file; give the file of a session")
        return path.open("rb")
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path} cannot be opened: {what}") from None


def entries(path: Path, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON object of each line and its number, from 1.

    What is no object is a warning. Of a file that is too long, the later lines are only counted.
    """
    number, whole = 0, True
    with opened(path) as file:
        while line := file.readline(LONGEST_LINE):
            begins, whole = whole, line.endswith(b"\n") or len(line) < LONGEST_LINE
            number += begins
            if begins and not whole:
                reading.warn(number, f"left out: longer than {LONGEST_LINE:,} bytes", path)
            elif begins and reading.lines.total() >= LINES:
                reading.left_out["lines"] += 1
            elif begins and line.strip():
                try:
                    yield number, parsed(line)
                except ValueError as error:
                    cut = "" if line.endswith(b"\n") else "cut off: "
                    reading.warn(number, f"{cut}no JSON ({error})", path)


def document(path: Path) -> dict[str, Any]:
    """The JSON object that a file is.

    Raises:
        UsageError: if it is none, or is too long to be read as a whole.
    """
    with opened(path) as file:
        data = file.read(LONGEST_DOCUMENT + 1)
    if len(data) > LONGEST_DOCUMENT:
        raise UsageError(f"{path} is longer than {LONGEST_DOCUMENT:,} bytes, too long to be read")
    try:
        return parsed(data)
    except ValueError as error:
        raise UsageError(f"{path} is damaged or cut off: {error}") from None


def parsed(text: bytes) -> dict[str, Any]:
    """An object from its JSON; NaN and infinity, which are none, become null.

    Raises:
        ValueError: if it is no object in JSON, or is nested too deeply.
    """
    try:
        found = json.loads(text.decode("utf-8-sig", "replace"), parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    return found


# A value as it should be, whatever the file has in its place.


def seconds(value: Any) -> float | None:
    """A time as files have it, as seconds since 1970; None if it is none."""
    try:
        words = isinstance(value, str)
        time = datetime.fromisoformat(value) if words else datetime.fromtimestamp(value, UTC)
        return time.replace(tzinfo=time.tzinfo or UTC).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def text(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def table(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; an empty one if it is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def number(value: Any) -> int:
    """The value if it is a whole number from 0, else 0."""
    return value if type(value) is int and 0 <= value < 2**53 else 0
