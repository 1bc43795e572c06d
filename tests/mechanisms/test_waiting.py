"""Mechanisms that wait: the run waits for all of them at once, in whatever order they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from teams import Ran, say, send, spawn, when

import learnkit as lk
from learnkit.runtime.clock import Signal

pytestmark = pytest.mark.usefixtures("no_thread_is_left")

CLOCKS = [(lk.VirtualClock, 1.0), pytest.param(lk.SystemClock, 0.05, marks=pytest.mark.slow)]
ORDERS = [False, True]


def job(seconds: float) -> Any:
    return lk.use("background_run", command=f"sleep {seconds:g}; echo built")


def acting(*steps: tuple[str, Any]) -> Callable[[Any], Any]:
    """A model that reacts to its last message, and takes no time."""
    model = when(*((text, lk.reply(part)) for text, part in steps))
    return lambda request: replace(model(request), latency=0.0)


def read_at(agent: lk.Agent, text: str) -> float:
    """When a text came into an agent's messages."""
    found = [
        event.time
        for event in agent.events
        if event.type == "message.added" and event.lane == agent.name
        if text in str(event.data["message"]) and event.data["message"]["role"] == "user"
    ]
    return found[0]


def in_order(*mechanisms: lk.Mechanism, other_way: bool) -> list[lk.Mechanism]:
    return list(reversed(mechanisms)) if other_way else list(mechanisms)


@pytest.mark.parametrize(("built", "reported"), [(60, 2), (2, 60)])
@pytest.mark.parametrize("other_way", ORDERS)
@pytest.mark.parametrize(("clock", "second"), CLOCKS)
def test_a_lead_that_waits_for_a_job_or_a_teammate_hears_of_the_other_at_once(
    tmp_path: Path,
    clock: Callable[[], Any],
    second: float,
    other_way: bool,
    built: int,
    reported: int,
) -> None:
    team = lk.Team(tmp_path / ".team", lambda name, role: [])
    background = lk.Background(workspace=tmp_path)
    lanes = {
        "lead": acting(("Go.", lk.reply(spawn("alice"), job(built * second)))),
        "alice": [lk.reply("the parser is done", latency=reported * second)],
    }
    client = lk.scripted(lanes, clock=clock())
    with lk.Agent(client, in_order(team, background, other_way=other_way)) as lead:
        lead.run("Go.")
    read = read_at(lead, "built"), read_at(lead, "the parser is done")
    assert min(read) < 40 * second
    assert max(read) >= 60 * second
    assert (read[0] < read[1]) == (built < reported)


@pytest.mark.parametrize("other_way", ORDERS)
@pytest.mark.parametrize(("clock", "second"), CLOCKS)
def test_a_teammate_that_waits_for_a_job_reads_its_mail_at_once(
    tmp_path: Path, clock: Callable[[], Any], second: float, other_way: bool
) -> None:
    """It is asked to shut down, too, and need not be stopped at the deadline."""
    board = lk.TaskBoard(tmp_path / ".tasks")
    lanes = {
        "lead": acting(
            ("Go.", spawn("alice")),
            ("has started", send("alice", "how far?")),
            ("Sent to alice", lk.use("shutdown_request", teammate="alice")),
        ),
        "alice": acting(
            ("Begin.", job(60 * second)),
            (
                'type="shutdown_request"',
                lk.use("shutdown_response", request_id="r0000001", approve=True),
            ),
        ),
    }
    ran = Ran(
        tmp_path,
        lanes,
        clock(),
        factory=lambda *_: [lk.Background(workspace=tmp_path)],
        mechanisms=lambda team: in_order(
            lk.Protocols(team, deadline=40 * second),
            lk.Autonomy(team, board, poll=5 * second, idle=20 * second),
            other_way=other_way,
        ),
    )
    ran.go()
    (alice,) = ran.team.members
    assert read_at(alice.agent, "how far?") < 40 * second
    assert [one["request"]["state"] for one in ran.of("request.answered")] == ["approved"]


class Countdown(lk.Mechanism):
    """Waits as the lessons do, or as a mechanism should."""

    def __init__(self, says: str, signal: Callable[[], Signal]) -> None:
        self._says, self._signal, self._told = says, signal, False

    def on_stop(self, agent: lk.Agent) -> str | None:
        if self._told or not self._signal().is_set():
            return None
        self._told = True
        return self._says

    def waits_for(self, agent: lk.Agent) -> Sequence[Signal]:
        return [] if self._told else [self._signal()]


@pytest.mark.parametrize("other_way", ORDERS)
def test_any_mechanism_can_say_what_it_waits_for(other_way: bool) -> None:
    clock = lk.VirtualClock()
    signals = {name: clock.signal(name) for name in ("soon", "late")}
    made = [
        Countdown("late", lambda: signals["late"]),
        Countdown("soon", lambda: signals["soon"]),
    ]
    agent = lk.Agent(
        lk.scripted(say("a", "b", "c"), clock=clock), in_order(*made, other_way=other_way)
    )
    for name, seconds in (("soon", 5), ("late", 50)):
        clock.spawn(name, lambda n=name, s=seconds: clock.sleep(s) or signals[n].set())
    assert agent.run("Go.").turns == 3
    assert read_at(agent, "soon") == 5
    assert read_at(agent, "late") == 50
    clock.close()


def test_news_that_comes_while_the_mechanisms_are_asked_is_not_missed() -> None:
    """The first one has been asked already; it must be asked again before the run waits."""
    clock, seen = lk.VirtualClock(), []
    never = clock.signal("never")

    class First(lk.Mechanism):
        def on_stop(self, agent: lk.Agent) -> str | None:
            return seen.pop() if seen else None

    class Second(lk.Mechanism):
        asked = 0

        def on_stop(self, agent: lk.Agent) -> str | None:
            self.asked += 1
            if self.asked == 1:
                seen.append("news")
                agent.wake.set()
            return None

        def waits_for(self, agent: lk.Agent) -> Sequence[Signal]:
            return [never] if self.asked < 2 else []

    agent = lk.Agent(lk.scripted(say("a", "b"), clock=clock), [First(), Second()])
    agent.run("Go.")
    assert "news" in str(agent.messages)


def test_on_the_wall_clock_a_waiting_lead_is_woken_and_does_not_poll(tmp_path: Path) -> None:
    lanes = {
        "lead": acting(("Go.", spawn("alice"))),
        "alice": [lk.reply("the report", latency=1.0)],
    }
    ran = Ran(tmp_path, lanes, lk.SystemClock(), mechanisms=[lk.Background(workspace=tmp_path)])
    asked, on_stop = [], ran.team.on_stop
    ran.team.on_stop = lambda agent: asked.append(time.monotonic()) or on_stop(agent)  # type: ignore
    ran.go()
    assert ran.told("lead") == ["the report"]
    assert len(asked) < 8
