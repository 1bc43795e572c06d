"""Patches: in order, without a gap, whoever appends; and the page they make is the view's frame."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads import all_at_once

from learnkit.events.log import Event, EventLog
from learnkit.views import Messages, View
from learnkit.views.drawing.display import Canvas
from learnkit.widget.pump import BATCH, Feed, Patch, Pump, diff

Frame = dict[str, str]
frames = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), max_size=8).map(
    dict
)


def apply(frame: Frame, patch: Patch) -> Frame:
    """What the player does with a patch, said again in Python."""
    order = [key for key in frame if key not in patch.get("drop", [])]
    html = {**frame, **dict(patch.get("set", []))}
    for key, _ in patch.get("set", []):
        if key not in order:
            before = patch.get("at", {}).get(key)
            order.insert(len(order) if before is None else order.index(before), key)
    return {key: html[key] for key in patch.get("order", order)}


class Player:
    """Keeps what it is sent, as the real one does; can be told to lose messages."""

    def __init__(self) -> None:
        self.patches: list[Patch] = []
        self.senders: set[str] = set()
        self.messages = 0
        self.losing = False
        self.gap = False

    def __call__(self, message: dict[str, Any]) -> None:
        message = json.loads(json.dumps(message))
        self.messages += 1
        self.senders.add(threading.current_thread().name)
        seq, have = message["seq"], len(self.patches)
        if self.losing:
            return
        if seq > have:
            self.gap = True
        else:
            self.patches += message["patches"][have - seq :]

    def frame(self) -> Frame:
        frame: Frame = {}
        for patch in self.patches:
            frame = apply(frame, patch)
        return frame


class Marks(View[Frame]):
    """One box an event, so that order and completeness can be read off the frame."""

    name = "marks"

    start: ClassVar[Frame] = {}

    def fold(self, state: Frame, event: Event) -> Frame:
        if event.type == "bad":
            raise ValueError("this view cannot draw that")
        return {**state, f"{event.lane}/{event.seq}": str(event.data)}

    def frame(self, state: Frame, width: float = 720) -> Frame:
        return state

    def says(self, state: Frame) -> list[str]:
        return [f"{len(state)} marks"]

    def draw(self, state: Frame, width: float, rows: int) -> Canvas:
        return Canvas(width)

    def facts(self, state: Frame, rows: int) -> str:
        return ""


@given(frames, frames)
def test_a_patch_turns_one_frame_into_the_next(old: Frame, new: Frame) -> None:
    patch = diff(old, new)
    assert list(apply(old, patch).items()) == list(new.items())
    assert dict(patch.get("set", [])) == {k: v for k, v in new.items() if old.get(k) != v}


@given(st.lists(frames, max_size=12))
def test_a_feed_sends_every_step_once_and_numbered(shown: list[Frame]) -> None:
    class Given(Marks):
        def step(self, state: Frame, event: Event) -> Frame:
            return shown[event.seq]

    log, player = EventLog(), Player()
    feed = Feed(Given(log), player)
    for number, _ in enumerate(shown):
        log.append("shown", time=float(number))
        if number % 3 == 0:
            feed.flush()
    feed.flush()
    feed.flush()
    assert len(player.patches) == len(shown) + 1
    assert player.frame() == (shown[-1] if shown else {})
    assert [patch["time"] for patch in player.patches[1:]] == list(range(len(shown)))


def test_twenty_threads_and_one_pump_lose_nothing() -> None:
    log, player, pump = EventLog(), Player(), Pump(rate=200.0)
    feed = Feed(Marks(log), player)
    log.subscribe(lambda _: pump.mark(feed))
    began = time.monotonic()

    def work(name: str) -> None:
        for number in range(50):
            log.append("mark.made", lane=name, number=number)

    all_at_once(work, *(f"w{n}" for n in range(20)))
    pump.settle(feed)
    assert len(player.patches) == 1001
    assert not player.gap
    assert list(player.frame()) == [f"{event.lane}/{event.seq}" for event in log]
    assert player.senders <= {"views", threading.current_thread().name}
    flushes = 200.0 * (time.monotonic() - began) + 2  # however long it took
    assert player.messages <= flushes + 1001 / BATCH  # many events travel in one message
    assert "views" not in {thread.name for thread in threading.enumerate()}


def test_the_rate_holds_for_the_cells_after_the_first_too() -> None:
    log, player, pump = EventLog(), Player(), Pump(rate=0.1)
    feed = Feed(Marks(log), player)
    log.subscribe(lambda _: pump.mark(feed))
    log.append("mark.made")
    pump.settle(feed)
    sent = player.messages
    for _ in range(5):
        log.append("mark.made")
        for thread in threading.enumerate():
            if thread.name == "views":
                thread.join(0.05)
    assert player.messages <= sent + 1
    pump.settle(feed)


def test_a_player_that_missed_something_is_sent_it_again() -> None:
    log, player = EventLog(), Player()
    feed = Feed(Marks(log), player)
    for number in range(3 * BATCH):
        log.append("mark.made", number=number)
        player.losing = 100 < number < 400
        if number % 10 == 0:
            feed.flush()
    feed.flush()
    assert player.gap
    assert len(player.patches) < 200
    feed.replay(len(player.patches))
    assert len(player.patches) == 3 * BATCH + 1
    assert player.frame() == Marks(log).at()
    feed.replay(10**9)
    log.append("mark.made", number=0)
    feed.flush()
    assert len(player.patches) == 3 * BATCH + 2, "who asks for too much gets what comes next"
    feed.replay(-1)
    late, player.patches = player.frame(), []
    feed.replay(0)
    assert player.frame() == late, "a page that opens later gets everything"
    assert player.frame() == Marks(log).at()


def test_a_view_that_fails_says_so_and_stops_nobody_else() -> None:
    log, player, pump = EventLog(), Player(), Pump(rate=200.0)
    other = Player()
    feeds = [Feed(Marks(log), player), Feed(Messages(log), other)]
    for feed in feeds:
        log.subscribe(lambda _, feed=feed: pump.mark(feed))
    for kind in ("mark.made", "bad", "mark.made"):
        log.append(kind)
    for feed in feeds:
        pump.settle(feed)
    assert isinstance(feeds[0].error, ValueError)
    assert len(player.patches) == 2
    assert feeds[1].error is None
    assert len(other.patches) == 4


def test_the_pump_rests_without_news_and_starts_again() -> None:
    log, player, pump = EventLog(), Player(), Pump(rate=500.0, idle=0.01)

    def send(message: dict[str, Any]) -> None:
        player(message)
        if len(log) % 2:
            log.append("mark.answered")  # news while the pump is sending

    feed = Feed(Marks(log), send)
    log.subscribe(lambda _: pump.mark(feed))
    for number in range(3):
        log.append("mark.made", number=number)
        for thread in threading.enumerate():
            if thread.name == "views":
                thread.join(timeout=10)
        assert len(player.patches) == 2 * number + 3


@pytest.mark.parametrize("text", ["\ud800", "\u202e", "\x00", "]]>"])
def test_whatever_a_log_holds_can_be_sent(text: str) -> None:
    log, player = EventLog(), Player()
    message = {"role": "user", "content": text}
    log.append("message.added", lane=f"lead{text}", index=0, message=message)
    Feed(Messages(log), player).flush()
    json.dumps(player.patches, ensure_ascii=False).encode()
