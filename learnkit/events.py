"""The event log: the one record that every picture is drawn from.

A run appends what happened, in order, and never changes it afterwards. Views are folds over the
log, so "the state after k events" is always well defined and a slider can scrub through time.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, overload

from learnkit.errors import UsageError

#: The agent that acts in the current thread. The offline client reads it to pick a lane.
LANE: ContextVar[str] = ContextVar("learnkit_lane", default="lead")


@dataclass(frozen=True, slots=True)
class Event:
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
        self._listeners: tuple[Callable[[Event], None], ...] = ()
        self._lock = threading.RLock()

    def append(self, type: str, lane: str = "lead", time: float = 0.0, **data: Any) -> Event:
        """Add an event and tell the listeners, in order.

        Args:
            type: what happened, e.g. ``tool.started``.
            lane: the agent it happened to.
            time: seconds on the run's clock.
            data: details; must be JSON-ready.

        Returns:
            The event as stored.

        Raises:
            UsageError: if the details cannot be written as JSON.
        """
        try:
            copied = json.loads(json.dumps(data, ensure_ascii=False))
        except (TypeError, ValueError) as error:
            raise UsageError(f"event {type!r} has details that JSON cannot hold: {error}") from None
        # The lock also covers the listeners, so that each of them sees the log's own order.
        with self._lock:
            event = Event(len(self._events), time, lane, type, copied)
            self._events.append(event)
            for listener in self._listeners:
                listener(event)
        return event

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``listener`` with each new event, in the thread that appends it.

        Returns:
            A function that ends the subscription; calling it again does nothing.
        """
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return unsubscribe

    def save(self, path: str | Path) -> None:
        """Write the log as JSON lines, one event a line; the file appears whole or not at all."""
        path = Path(path)
        lines = [json.dumps(asdict(event), ensure_ascii=False) + "\n" for event in self]
        partial = path.with_name(f"{path.name}.{threading.get_ident()}.part")
        try:
            partial.write_text("".join(lines), encoding="utf-8")
            partial.replace(path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                partial.unlink()

    @classmethod
    def load(cls, path: str | Path) -> EventLog:
        """Read a log that :meth:`save` wrote.

        Raises:
            UsageError: if a line is not an event, naming the line.
        """
        log = cls()
        # Only "\n" ends a line here: JSON text may hold other characters that look like line ends.
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
                event = Event(**fields)
            except (TypeError, ValueError) as error:
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
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<EventLog of {len(self)} events>"
