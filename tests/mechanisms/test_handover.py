"""A lead's run ends when nobody works and no mail waits, also where threads overtake each other.

Mail and tasks pass from hand to hand. A lead that looks just then must find them at one or at the
other, never at neither: it would end its run, and the work with it. Each test holds a thread up at
such a moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from repos import begun
from teams import Ran, send, spawn, work
from threads import beside

import learnkit as lk
from learnkit.backends.files.store import locked
from learnkit.mechanisms.autonomy import Autonomy
from learnkit.mechanisms.teams.delivery import Delivery
from learnkit.mechanisms.teams.handover import Handover
from learnkit.mechanisms.teams.teammate import Teammate

LONG = 0.2  # seconds in which a lead that may go has gone


def quick(*lines: Any) -> list[Any]:
    """Replies that take no time."""
    return [lk.reply(line, latency=0.0) for line in lines]


def acting(*steps: tuple[str, Any]) -> Callable[[Any], Any]:
    """A model that takes its next step when it has been told a certain text, and waits till then.

    How many turns that takes is up to the threads.
    """
    left = list(steps)

    def model(request: Any) -> Any:
        told = bool(left) and left[0][0] in str(request["messages"])
        return lk.reply(left.pop(0)[1] if told else "I wait.", latency=0.0)

    return model


def held_up(done: Callable[..., Any], when: Callable[..., bool]) -> Callable[..., Any]:
    """The function, but its result takes its time on the way to who asked for it."""

    def slowly(*args: Any, **options: Any) -> Any:
        result = done(*args, **options)
        if when(result, *args):
            time.sleep(LONG)
        return result

    return slowly


def test_mail_that_a_teammate_has_just_taken_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = {
        "lead": acting(("Go.", spawn("alice")), ("first report", send("alice", "more"))),
        "alice": quick("first report", "second report"),
    }
    ran = Ran(tmp_path, lanes, lk.SystemClock())
    taken = held_up(
        Delivery.deliver, lambda text, delivery: bool(text) and delivery._agent.name == "alice"
    )
    monkeypatch.setattr(Delivery, "deliver", taken)
    ran.go()
    assert ran.told("lead") == ["first report", "second report"]


def test_a_task_that_a_teammate_has_just_claimed_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = lk.TaskBoard(tmp_path / "tasks")
    lanes = {
        "lead": acting(("Go.", spawn("alice"))),
        "alice": quick("ready for work", lk.use("work"), "the task is done"),
    }
    ran = Ran(
        tmp_path,
        lanes,
        lk.SystemClock(),
        mechanisms=lambda team: [lk.Autonomy(team, board, poll=0.01, idle=60.0)],
    )
    board.create("the task")
    claimed = held_up(Autonomy.claim_for, lambda task, *_: True)
    monkeypatch.setattr(Autonomy, "claim_for", claimed)
    ran.go()
    assert ran.told("lead") == ["ready for work", "the task is done"]


@pytest.mark.slow
def test_mail_from_one_that_stops_to_one_that_waits_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the lead looks from the one to the other, the other has sent it, and rests."""
    looks = threading.Event()

    @lk.tool
    def pause() -> str:
        """Wait until the lead looks."""
        assert looks.wait(20)
        return "it looks"

    lanes = {
        "lead": acting(("Go.", spawn("bob")), ("ready", spawn("alice"))),
        "alice": quick(lk.use("pause"), send("bob", "yours"), "handed on"),
        "bob": quick("ready", "done with it"),
    }
    ran = Ran(tmp_path, lanes, lk.SystemClock(), factory=lambda *_: [lk.Toolbox(work, pause)])
    busy, deliver = Teammate.busy.fget, Delivery.deliver
    assert busy is not None

    def looked(teammate: Teammate) -> bool:
        found = busy(teammate)
        if teammate.name == "bob" and len(ran.team.members) == 2 and not found:
            looks.set()
            time.sleep(2 * LONG)  # alice sends, and would rest
        return found

    def deliver_slowly(delivery: Delivery) -> str | None:
        if delivery._agent.name == "bob" and looks.is_set():
            time.sleep(3 * LONG)  # it has not woken up yet
        return deliver(delivery)

    monkeypatch.setattr(Teammate, "busy", property(looked))
    monkeypatch.setattr(Delivery, "deliver", deliver_slowly)
    ran.go()
    assert ran.told("lead") == ["ready", "handed on", "done with it"]


# Nobody waits for a handover


def test_a_claim_waits_for_no_merge(tmp_path: Path) -> None:
    """A merge holds the lock of all worktrees; who claims a task with one only looks for it."""
    repo = begun(tmp_path / "repo")
    board = lk.TaskBoard(tmp_path / "tasks")
    board.create("the task")
    worktrees: list[lk.Worktrees] = []

    def mechanisms(team: lk.Team) -> list[lk.Mechanism]:
        worktrees.append(lk.Worktrees(repo, board, team=team))
        return [lk.Autonomy(team, board, poll=1, idle=2), *worktrees]

    lanes = {
        "lead": acting(("Go.", spawn("alice"))),
        "alice": acting(
            ("Begin.", "ready"), ("auto-claimed", lk.use("bash", command="touch here"))
        ),
    }
    ran = Ran(
        tmp_path,
        lanes,
        factory=lambda *_: [lk.CodingTools(tmp_path / "home")],
        mechanisms=mechanisms,
    )
    registry = worktrees[0].registry
    registry.create("parser", 1, bind=worktrees[0]._bind)
    over, held, in_time = threading.Event(), threading.Event(), []

    def merge() -> None:
        with locked(registry.root):
            held.set()
            in_time.append(over.wait(30))

    with beside(merge):
        assert held.wait(20)
        ran.go()
        over.set()
    assert in_time == [True]
    assert (registry.path("parser") / "here").exists()


def test_the_team_is_at_rest_only_if_nothing_has_passed_while_it_was_looked_at() -> None:
    settled: list[str] = []
    handover = Handover(lambda: settled.append("now"))
    assert handover.at_rest(lambda: True)
    assert not handover.at_rest(lambda: False)
    with handover.passing():
        with handover.passing():
            assert not handover.at_rest(lambda: True)
        assert settled == []  # one more is under way
    assert settled == ["now"]
    with handover.passing():
        pass
    assert settled == ["now"]  # nobody has asked

    looks = iter([True, False])

    def look() -> bool:
        found = next(looks)
        if found:  # it was looked at here already, and something passes to it
            with handover.passing():
                pass
        return found

    assert not handover.at_rest(look)
    assert next(looks, "all") == "all"
