"""Lesson 8's unlucky moment: a lock decides whether a late result is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from learnkit.course.lessons.s08 import queue_race
from learnkit.course.lessons.s08.queue_race import NoLock, WatchedLock, meet


class Copying:
    """Copies the results and then clears them."""

    def __init__(self, lock: NoLock, pause: Callable[[], None]) -> None:
        self.items: list[str] = []
        self.lock, self.pause = lock, pause

    def put(self, result: str) -> None:
        with self.lock:
            self.items.append(result)

    def drain(self) -> list[str]:
        with self.lock:
            found = list(self.items)
            self.pause()
            self.items.clear()
        return found


class Popping(Copying):
    """Removes only what it returns, which needs no lock."""

    def drain(self) -> list[str]:
        found = [self.items.pop(0) for _ in range(len(self.items))]
        self.pause()
        return found


class Hasty(Copying):
    """Never pauses, so nothing can come in between."""

    def drain(self) -> list[str]:
        found, self.items = self.items, []
        return found


class OwnLock(Copying):
    """Has a lock of its own, which says nothing when a thread waits for it."""

    def __init__(self, lock: NoLock, pause: Callable[[], None]) -> None:
        super().__init__(lock, pause)
        self.lock: Any = threading.Lock()


@pytest.mark.parametrize("_", range(20))
def test_without_a_lock_the_late_result_is_lost_every_time(_: int) -> None:
    assert meet(Copying, NoLock()) == [["early"], []]


@pytest.mark.parametrize("_", range(20))
def test_with_a_lock_it_waits_and_the_next_drain_finds_it(_: int) -> None:
    assert meet(Copying, WatchedLock()) == [["early"], ["late"]]


def test_a_queue_that_removes_only_what_it_returns_loses_nothing() -> None:
    assert meet(Popping, NoLock()) == [["early"], ["late"]]


def test_a_queue_that_never_pauses_meets_nobody() -> None:
    assert meet(Hasty, NoLock()) == [["early"], []]


def test_a_learner_s_own_lock_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_race, "PATIENCE", 0.05, raising=False)
    drained: list[list[list[str]]] = []
    agent = threading.Thread(target=lambda: drained.append(meet(OwnLock, NoLock())), daemon=True)
    agent.start()
    agent.join(timeout=20)
    assert drained == [[["early"], ["late"]]]
