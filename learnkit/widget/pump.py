"""From events to patches: what is sent to the player, and when.

A feed folds a view's events and makes one patch for each: the fragments that changed, numbered, so
that the player notices a gap and asks again. One thread, the pump, folds and sends for all feeds.
The thread that appends an event only raises a flag. It never waits for a picture, and this module
never sets a widget trait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from learnkit.events.log import Event
from learnkit.views.drawing.display import WIDE
from learnkit.views.words import told

#: The most messages that a feed sends in a second.
RATE = 15.0
#: The most patches in one message.
BATCH = 200
#: Seconds without an event after which the pump's thread ends.
IDLE = 2.0

Patch = dict[str, Any]


def diff(old: dict[str, str], new: dict[str, str]) -> Patch:
    """The patch that turns one frame into the next."""
    changed = {key: html for key, html in new.items() if old.get(key) != html}
    # A list of pairs: JavaScript reorders an object's keys when they look like numbers.
    patch: Patch = {"set": [list(item) for item in changed.items()]} if changed else {}
    drop = [key for key in old if key not in new]
    if drop:
        patch["drop"] = drop
    if len(new) == len(old) - len(drop) and not drop and list(new) == list(old):
        return patch
    if [key for key in new if key in old] != [key for key in old if key in new]:
        patch["order"] = list(new)
        return patch
    at, anchor = {}, None
    for key in reversed(new):
        if key in old:
            anchor = key
        elif anchor is not None:
            at[key] = anchor
    if at:
        patch["at"] = at
    return patch


class Feed:
    """The patches of one view, and how far they were sent.

    A patch has the time in seconds, a sentence on what happened, and what :func:`diff` found: one
    without any of it is an event that this view doesn't show, which the player passes over.

    Attributes:
        error: what the view raised while it was folded; nothing is sent after that.
    """

    def __init__(
        self, view: Any, send: Callable[[dict[str, Any]], object], width: float = WIDE
    ) -> None:
        self.error: Exception | None = None
        self._view, self._send, self._width = view, send, width
        self._lock = threading.Lock()
        self._read = 0
        self._sent = 0
        self._state = view.init()
        self._frame = view.frame(self._state, width)
        start = {"time": 0.0, "head": "Nothing has happened yet.", **diff({}, self._frame)}
        self._patches: list[Patch] = [start]

    def flush(self) -> None:
        """Fold the new events of the log, and send the patches that haven't been sent yet."""
        with self._lock:
            if self.error is None:
                try:
                    self._fold()
                except Exception as error:  # a fault of the view; settle raises it in the cell
                    self.error = error
            self._deliver()

    def replay(self, since: int) -> None:
        """Send again everything from patch ``since`` on: the player missed it."""
        with self._lock:
            self._sent = min(max(since, 0), self._sent)
            self._deliver()

    def _fold(self) -> None:
        events = self._view.events
        while self._read < len(events):
            event = events[self._read]
            self._read += 1
            if self._view.wants(event):
                self._grow(event)

    def _grow(self, event: Event) -> None:
        view, old = self._view, self._state
        self._state = view.step(old, event)
        change: Patch = {}
        if self._state is not old:
            frame = view.frame(self._state, self._width)
            change, self._frame = diff(self._frame, frame), frame
        self._patches.append({"time": round(event.time, 3), "head": told(event), **change})

    def _deliver(self) -> None:
        while self._sent < len(self._patches):
            batch = self._patches[self._sent : self._sent + BATCH]
            said = {name: getattr(self._view, name)(self._state) for name in ("finding", "because")}
            self._send({"seq": self._sent, "patches": batch, **said})
            self._sent += len(batch)


class Pump:
    """One thread that flushes the feeds that have news.

    The thread starts with the first news, and ends when there has been none for a while.
    """

    def __init__(self, rate: float = RATE, idle: float = IDLE) -> None:
        self._pause, self._idle = 1 / rate, idle
        self._news = threading.Condition()
        self._leave = threading.Event()
        self._due: set[Feed] = set()
        self._thread: threading.Thread | None = None
        self._over = True  # the thread has nothing more to do, but may still be ending

    def mark(self, feed: Feed) -> None:
        """Say that a feed has news. Quick, and callable from any thread."""
        with self._news:
            self._due.add(feed)
            if self._over:
                self._over = False
                self._thread = threading.Thread(target=self._run, name="views", daemon=True)
                self._thread.start()
            self._news.notify()

    def settle(self, feed: Feed) -> None:
        """Send all of a feed's news now, in this thread; end the pump if no other feed has news."""
        with self._news:
            self._due.discard(feed)
        feed.flush()
        with self._news:
            thread = None if self._due else self._thread
            if thread is None:
                return
            self._leave.set()
            self._news.notify()
        thread.join(timeout=1.0)  # other feeds may keep it busy; then it stays
        self._leave.clear()

    def _run(self) -> None:
        while True:
            with self._news:
                if not self._due and not self._leave.is_set():
                    self._news.wait(self._idle)
                due, self._due = self._due, set()
                if not due:
                    self._over = True
                    return
            for feed in due:
                feed.flush()
            self._leave.wait(self._pause)


#: The pump of this process.
PUMP = Pump()
