"""Find the race: seeds are searched, a losing schedule shrinks, and the game shows both."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

import learnkit as lk
from learnkit.course.games.races import panel as racefinder
from learnkit.course.games.races import schedules
from learnkit.course.games.races.panel import RaceFinder
from learnkit.course.games.races.schedules import Schedule, replay, run, shrink
from learnkit.errors import UsageError
from learnkit.views.drawing.static import LIMIT


class Safe:
    """The package's mailbox with one reader, and the methods of the lesson's inbox."""

    def __init__(self, folder: Path, pause: Callable[[], object] = lambda: None) -> None:
        mailbox, self.pause = lk.Mailbox(folder), pause
        mailbox.open("alice")
        self.send = partial(mailbox.send, "bob", "alice")
        self.inbox = mailbox.reader("alice")

    def drain(self) -> list[str]:
        messages = [one.content for one in self.inbox.take()]
        self.pause()
        self.inbox.commit()
        return messages


class Naive:
    """The inbox of lesson 9: read all lines, then empty the file."""

    def __init__(self, folder: Path, pause: Callable[[], object] = lambda: None) -> None:
        self.file, self.pause = folder / "inbox.jsonl", pause
        self.file.touch()

    def send(self, text: str) -> None:
        with self.file.open("a") as file:
            file.write(json.dumps(text) + "\n")

    def drain(self) -> list[str]:
        lines = self.file.read_text().splitlines()
        self.pause()
        self.file.write_text("")
        return [json.loads(line) for line in lines]


class Early(Naive):
    """Empties at once, and then keeps the messages to itself for a while."""

    def drain(self) -> list[str]:
        lines = self.file.read_text().splitlines()
        self.file.write_text("")
        self.pause()
        return [json.loads(line) for line in lines]


def told(schedule: Schedule) -> list[tuple[Any, ...]]:
    return [(one.seq, one.time, one.lane, one.type, one.data) for one in schedule.events]


@cache
def losing() -> list[int]:
    """The seeds below 100 with which the naive inbox loses a message."""
    return [seed for seed in range(100) if run(Naive, seed).fails]


# Seeds.


@pytest.mark.slow
def test_some_seeds_lose_a_message_and_most_do_not() -> None:
    assert 10 <= len(losing()) <= 40


def test_what_was_sent_was_read_or_lost() -> None:
    for seed in range(0, 100, 7):
        events = run(Naive, seed).events
        (ended,) = [one.data for one in events if one.type == "race.ended"]
        assert ended["sent"] == 6 == ended["read"] + sum(one.type == "race.lost" for one in events)


def test_a_step_has_the_files_content_after_it_and_a_loss_stands_behind_its_step() -> None:
    one = replay(Naive, ["bob", "alice", "carol", "alice", "bob"])
    assert [(e.lane, e.type, e.data.get("content")) for e in one.events][1:] == [
        ("bob", "race.wrote", ["bob 1"]),
        ("alice", "race.read", ["bob 1"]),
        ("carol", "race.wrote", ["bob 1", "carol 1"]),
        ("alice", "race.emptied", []),
        ("alice", "race.lost", []),
        ("bob", "race.wrote", ["bob 2"]),
        ("alice", "race.ended", []),
    ]
    assert one.events[5].data["writer"] == "carol"
    assert one.events[-1].data == {"texts": ["bob 2"], "content": [], "sent": 3, "read": 2}


# Lists.


movers = st.lists(st.sampled_from(["alice", "alice", "bob", "carol"]), max_size=9)


@settings(max_examples=examples(25))
@given(movers=movers)
def test_the_packages_mailbox_loses_nothing_in_whatever_order(movers: list[str]) -> None:
    assert not replay(Safe, movers).fails


def test_who_is_stopped_in_the_middle_has_lost_nothing() -> None:
    for steps in (["bob", "alice"], ["bob", "alice", "carol"]):
        assert not any(replay(make, steps).fails for make in (Early, Naive))


# Shrinking.


@pytest.mark.slow
def test_a_shrunk_schedule_needs_each_of_its_steps() -> None:
    make, steps = Naive, 3
    found = [run(make, seed) for seed in losing()[:8]]
    for one in found:
        small = shrink(make, one)
        assert len(small.steps) == steps
        again = replay(make, small.steps)
        assert told(again) == told(small)
        assert small.fails
        names = [step.split()[0] for step in small.steps]
        for place in range(steps):
            assert not replay(make, names[:place] + names[place + 1 :]).fails


def test_the_smallest_schedule_is_a_sentence() -> None:
    assert shrink(Naive, replay(Naive, ["bob", "alice", "bob", "alice", "carol"])).sentence == (
        "alice reads, bob writes, alice empties: “bob 1” is lost."
    )


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (["bob write"], "step 1 can't be 'bob write': what comes then is 'bob writes'"),
        (["alice empties", "bob writes"], "step 1 can't be 'alice empties'"),
        (["bob", "alice writes", "alice"], "step 2 can't be 'alice writes'"),
        (["bob", ""], None),
        (["", "bob"], "step 1 can't be ''"),
    ],
)
def test_a_step_that_can_not_come_is_refused(steps: list[str], said: str | None) -> None:
    if said is None:
        assert replay(Naive, steps).steps == ["bob writes"]
        return
    with pytest.raises(UsageError, match=re.escape(said)):
        replay(Naive, steps)


def test_a_lock_that_is_held_while_it_pauses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = threading.Lock()

    class Locked(Naive):
        def send(self, text: str) -> None:
            with lock:
                super().send(text)

        def drain(self) -> list[str]:
            lock.acquire()  # released by the test
            return super().drain()

    monkeypatch.setattr(schedules, "PATIENCE", 0.5)
    with pytest.raises(UsageError, match="hold no lock while it calls pause"):
        replay(Locked, ["alice", "bob", "alice"])
    lock.release()


# The game, without a page.


@pytest.mark.slow
def test_the_static_form_says_how_many_lose_and_shows_the_smallest() -> None:
    game = RaceFinder(Naive)
    shown = game._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    steps = len(run(Naive, losing()[0]).steps)
    first = f"3 of the {steps} steps of seed {losing()[0]} are enough: alice "
    assert shown["text/plain"].startswith(
        f"find the race: {len(losing())} of 100 seeds lose a message. {first}"
    )
    assert "\n" not in shown["text/plain"]
    assert "<img alt=" in shown["text/html"]
    assert "✗ lost: " in shown["text/html"]
    assert "<style" not in shown["text/html"]
    assert len(shown["text/html"].encode()) < LIMIT
    assert shown == RaceFinder(Naive)._repr_mimebundle_()


@pytest.mark.slow
def test_the_static_form_loads_no_notebook_library() -> None:
    code = """
import os, sys
os.environ["LEARNKIT_STATIC"] = "1"
from learnkit.course.games.races.panel import RaceFinder

class AtOnce:
    def __init__(self, folder, pause):
        self.messages = []
    def send(self, text):
        self.messages.append(text)
    def drain(self):
        self.messages, got = [], self.messages
        return got

RaceFinder(AtOnce)._repr_mimebundle_()
print(sorted({"anywidget", "ipywidgets", "IPython", "anthropic"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


# The game on a page.


def test_the_button_finds_and_shrinks(monkeypatch: pytest.MonkeyPatch) -> None:
    game = RaceFinder(Naive)
    monkeypatch.setattr(racefinder, "is_live", lambda: True)
    assert game._repr_mimebundle_()["text/plain"].startswith("find the race: 100 seeds to try")
    assert game.choose.cache_info().currsize == 0, "nothing has run yet"
    row, status, shown = game.box().children
    assert "100 seeds to try" in status.value
    row.children[0].click()
    assert f"steps of seed {losing()[0]} are enough: alice reads, " in status.value
    assert 'aria-live="polite"' in status.value
    (player,) = shown.children
    assert player._view.events[-1].data["sent"] == 1
    assert row.children[0].disabled


def test_an_inbox_that_fails_says_so_below_the_button() -> None:
    button, status = RaceFinder(lambda folder, pause: 1 / 0).box().children[:2]
    button.children[0].click()
    assert "✗ ZeroDivisionError: division by zero" in status.value
