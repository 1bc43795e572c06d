"""The event log: the one record that every picture is drawn from.

A run appends what happened, in order, and never changes it afterwards. Views are folds over the
log, so "the state after k events" is always well defined and a slider can scrub through time.
"""

from __future__ import annotations

import codecs
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, overload

from learnkit.errors import UsageError
from learnkit.events.declaration import WRITERS, written
from learnkit.runtime import atomic_write as files
from learnkit.runtime.interrupts import uninterrupted

#: Version of the files that :meth:`EventLog.save` writes, in their first line. A file without one
#: has version 1.
VERSION = 1

#: The agent that acts in the current thread. The offline client reads it to pick a lane.
LANE: ContextVar[str] = ContextVar("learnkit_lane", default="lead")
#: What the present request is for: ``conversation``, or ``summary`` for what compaction asks. What
#: streams a reply to the user shows only the first.
PURPOSE: ContextVar[str] = ContextVar("learnkit_purpose", default="conversation")


class Event(NamedTuple):
    """One thing that happened.

    Attributes:
        seq: position in its log, from 0.
        time: seconds on the clock of the run.
        lane: name of the agent it happened to.
        type: noun and participle, such as ``message.added``.
        data: JSON-ready details; a copy, so later changes to the source do not show here.
    """

    seq: int
    time: float
    lane: str
    type: str
    data: dict[str, Any]


class EventLog:
    """An append-only list of events that several threads may write to.

    Reading needs no lock: entries are only ever added, and never changed.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._delivered = 0  # how many of them the listeners have had
        self._delivering = False
        self._listeners: tuple[Callable[[Event], None], ...] = ()
        self._lock = threading.RLock()

    def append(self, event: object, /, lane: str = "lead", time: float = 0.0, **data: Any) -> Event:
        """Add an event and hand it to the listeners, in order.

        Args:
            event: what happened: an object of a class that :func:`learnkit.event` has declared, or
                the name of a type such as ``note.taken``.
            lane: the agent it happened to.
            time: seconds on the run's clock.
            data: details, for the name of a type; must be JSON-ready.

        Returns:
            The event as stored.

        Raises:
            UsageError: if the details cannot be written as JSON, or the object is no event.
            Exception: what a listener raised; the event is logged, and all of them have had it.
        """
        return self.add(event, data, lane, time)

    def add(self, event: object, data: dict[str, Any], lane: str, time: float) -> Event:
        """:meth:`append`, for details that are in a dict already.

        Args:
            event: an object, or the name of a type.
            data: details, for the name of a type; must be JSON-ready.
            lane: the agent it happened to.
            time: seconds on the run's clock.

        Returns:
            The event as stored.

        Raises:
            UsageError: if the details cannot be written as JSON, or the object is no event.
            Exception: what a listener raised; the event is logged, and all of them have had it.
        """
        if data and not isinstance(event, str):
            raise UsageError(f"{event!r} has its details already; leave out {', '.join(data)}")
        type, made = (event, {}) if isinstance(event, str) else written(event)
        try:
            copied = _settled(made) if made else _copied(data)
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"event {type!r} has details that JSON cannot hold: {error}") from None
        with self._lock:
            if not self._listeners:  # one step, which no Ctrl-C can split
                logged = Event(len(self._events), time, lane, type, copied)
                self._events.append(logged)
                return logged
        # The lock also covers the listeners, so that each of them sees the log's own order.
        with uninterrupted(), self._lock:
            logged = Event(len(self._events), time, lane, type, copied)
            self._events.append(logged)
            if not self._delivering:  # else a listener appends: its event comes after this one
                self._deliver()
        return logged

    def _deliver(self) -> None:
        errors = []
        self._delivering = True
        try:
            while self._delivered < len(self._events):
                event = self._events[self._delivered]
                self._delivered += 1
                for listener in self._listeners:
                    try:
                        listener(event)
                    except Exception as error:
                        errors.append(error)
        finally:
            self._delivering = False
        if errors:
            raise errors[0]

    @contextmanager
    def ordered(self) -> Iterator[None]:
        """Do something and log it, with nothing of other threads logged in between.

        Without it a message could be read, in the log, before it was sent: its sender has put it
        into the inbox, and was not yet back to say so. Ctrl-C comes after the block: else it could
        be in the inbox, and never in the log. What is done must not wait for others.
        """
        with uninterrupted(), self._lock:
            yield

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``listener`` with each new event, in the thread that appends it.

        Args:
            listener: must not sleep or wait on a clock; other threads' events wait meanwhile.

        Returns:
            A function that ends the subscription; calling it again does nothing.
        """
        with self._lock:
            if not self._listeners:  # what was logged without any counts as delivered
                self._delivered = len(self._events)
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return unsubscribe

    def save(self, path: str | Path) -> None:
        """Write the log as JSON lines: the version, then an event a line.

        The file appears whole or not at all.

        Args:
            path: of the file; an old one is replaced.

        Raises:
            OSError: if it cannot be written.
        """
        lines = [json.dumps({"version": VERSION})]
        lines += [json.dumps(event._asdict(), ensure_ascii=False) for event in self]
        files.replace(path, "\n".join([*lines, ""]))

    @classmethod
    def load(cls, path: str | Path) -> EventLog:
        """Read a log that :meth:`save` wrote.

        Args:
            path: of the file.

        Raises:
            UsageError: if the file cannot be read, a newer version has written it, or a line is
                not an event, naming the line.
        """
        log = cls()
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        # Only "\n" ends a line here: JSON text may hold other characters that look like line ends.
        lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line.decode())
                if number == 1 and isinstance(fields, dict) and "version" in fields:
                    _check_version(path, fields["version"])
                    continue
                event = _event(fields)
            except UsageError:
                raise
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number}: not an event ({error})") from None
            if event.seq != len(log):
                raise UsageError(
                    f"{path}, line {number}: event {event.seq} where {len(log)} should follow; "
                    "a line is missing or doubled"
                )
            log._events.append(event)
        return log

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        return self._events[index]

    def __str__(self) -> str:
        """One line an event: time, lane, type, and the start of its details."""
        lines = []
        for event in self:
            details = json.dumps(event.data, ensure_ascii=False)
            shown = details if len(details) <= 72 else details[:71] + "…"
            lines.append(f"{event.time:7.2f}  {event.lane:<10} {event.type:<16} {shown}")
        # Half a surrogate pair cannot be printed.
        return "\n".join(lines).encode("utf-8", "backslashreplace").decode()

    def __repr__(self) -> str:
        return f"<EventLog of {len(self)} events>"


#: ASCII, because reading it back joins what looks like a surrogate pair, as a saved log does.
_encode = json.JSONEncoder().encode
_ATOMS = frozenset({bool, int, float, type(None)})


def _copied(value: Any) -> Any:
    """A copy of JSON-ready data: the same as writing it and reading it back, which takes longer.

    Text is not copied, so a long one costs nothing. Whatever is not plain takes the long way.
    """
    kind = type(value)
    if kind is dict:
        for key in value:
            if type(key) is not str or not key.isascii():
                return json.loads(_encode(value))
        return _settled(value.copy())
    if kind is list or kind is tuple:
        return [_copied(one) for one in value]
    if kind is str:
        return value if value.isascii() else _unpaired(value)
    if kind in _ATOMS:
        return value
    if kind in WRITERS:  # a part of a typed event
        return _copied(WRITERS[kind](value))
    return _copied(dict(value)) if kind is MappingProxyType else json.loads(_encode(value))


def _settled(data: dict[str, Any]) -> dict[str, Any]:
    """Data with a copy of each of its values in their place."""
    for key, value in data.items():
        kind = type(value)  # most are plain: a call for each would take as long as the rest
        if kind is str:
            if not value.isascii():
                data[key] = _unpaired(value)
        elif kind not in _ATOMS:
            data[key] = _copied(value)
    return data


def _unpaired(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        joined: str = json.loads(_encode(text))
        return joined
    return text


_KINDS: dict[str, tuple[type, ...]] = {
    "seq": (int,),
    "time": (int, float),
    "lane": (str,),
    "type": (str,),
    "data": (dict,),
}


def _check_version(path: str | Path, version: Any) -> None:
    if type(version) is not int or version > VERSION:
        raise UsageError(
            f"{path} has version {version!r}, and this learnkit reads up to {VERSION}; upgrade it"
        )


def _event(fields: Any) -> Event:
    """An event from what a line of a file holds."""
    if not isinstance(fields, dict) or fields.keys() != _KINDS.keys():
        raise ValueError(f"a line holds an object with {', '.join(_KINDS)}")
    for name, kinds in _KINDS.items():
        if not isinstance(fields[name], kinds) or isinstance(fields[name], bool):
            raise ValueError(f"{name} is {fields[name]!r}")
    return Event(**fields)
