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
from teams import Ran, send, spawn, work

import learnkit as lk
from learnkit.backends.files.store import locked
from learnkit.mechanisms.autonomy.claims import Claims
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
    claimed = held_up(Claims.claim_for, lambda task, *_: True)
    monkeypatch.setattr(Claims, "claim_for", claimed)
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


def test_the_last_report_is_read_when_it_comes_while_the_lead_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lead finds no mail; then it comes, and who wrote it rests; then the lead looks at him."""
    looks, deliver = threading.Event(), Delivery.deliver

    @lk.tool
    def pause() -> str:
        """Wait until the lead has found no mail."""
        assert looks.wait(20)
        return "it looks"

    def none_yet(delivery: Delivery) -> str | None:
        text = deliver(delivery)
        if delivery._agent is ran.lead and ran.lead.turns == 2 and not looks.is_set():
            looks.set()
            time.sleep(2 * LONG)
        return text

    lanes = {
        "lead": acting(("Go.", spawn("alice"))),
        "alice": quick(lk.use("pause"), "the report"),
    }
    ran = Ran(tmp_path, lanes, lk.SystemClock(), factory=lambda *_: [lk.Toolbox(pause)])
    monkeypatch.setattr(Delivery, "deliver", none_yet)
    ran.go()
    assert ran.told("lead") == ["the report"]


def test_a_teammate_whose_disk_is_full_says_so_and_goes_on_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = {"lead": acting(("Go.", spawn("alice"))), "alice": quick("the report")}
    ran = Ran(tmp_path, lanes, lk.SystemClock())
    ran.team.poll = 0.01
    note, refusals = ran.team.roster.note, 3

    def full(entry: dict[str, str]) -> None:
        nonlocal refusals
        if entry["status"] != "working" and refusals:
            refusals -= 1
            raise OSError(28, "No space left on device")
        note(entry)

    monkeypatch.setattr(ran.team.roster, "note", full)
    ran.go()
    assert refusals == 0
    assert ran.told("lead") == ["the report"]
    assert [one["problem"] for one in ran.of("team.stuck")] == [
        "[Errno 28] No space left on device"
    ]


# Nobody waits for a handover


def test_a_teammate_that_claims_a_task_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its claim is through, another one reports, rests, is woken, and reports again."""
    board = lk.TaskBoard(tmp_path / "tasks")
    board.create("the task", tags=["coder"])
    rested, claim_for, in_time = threading.Event(), Claims.claim_for, []

    def slow(claims: Claims, teammate: Teammate, id: int) -> Any:
        in_time.append(rested.wait(20))
        return claim_for(claims, teammate, id)

    monkeypatch.setattr(Claims, "claim_for", slow)
    lanes = {
        "lead": acting(
            ("Go.", lk.reply(spawn("alice"), spawn("bob", role="tester"))),
            ("the first", send("bob", "more")),
        ),
        # She has a turn more, the reminder of her task, if the lead is still there by then.
        "alice": lambda request: lk.reply(
            "the task is done" if "auto-claimed" in str(request["messages"]) else "ready",
            latency=0.0,
        ),
        "bob": [lk.reply("the first", latency=0.3), lk.reply("the second", latency=0.0)],
    }
    ran = Ran(
        tmp_path,
        lanes,
        lk.SystemClock(),
        mechanisms=lambda team: [lk.Autonomy(team, board, poll=0.05, idle=20.0)],
    )

    def listen(event: lk.Event) -> None:
        states = [one["status"] for one in ran.of("team.status") if one["name"] == "bob"]
        if states.count("idle") == 2:
            rested.set()

    ran.lead.events.subscribe(listen)
    ran.go()
    assert set(in_time) == {True}
    assert set(ran.told("lead")) == {"ready", "the task is done", "the first", "the second"}


def test_a_claim_waits_for_no_merge(tmp_path: Path) -> None:
    """A merge holds the lock of all worktrees; who claims a task with one only looks for it."""
    repo = tmp_path / "repo"
    repo.mkdir()
    lk.LocalShell().run("git init -q && git commit -q --allow-empty -m start", repo)
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

    merging = threading.Thread(target=merge)
    merging.start()
    assert held.wait(20)
    ran.go()
    over.set()
    merging.join()
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


def test_a_handover_that_fails_is_over_too() -> None:
    handover = Handover(lambda: None)
    with pytest.raises(OSError, match="full"), handover.passing():
        raise OSError("full")
    assert handover.at_rest(lambda: True)
