"""Lesson 11's explorable: its claims and shutdowns are those of real teams on a virtual clock."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.lessons.s11.explorable import (
    ARRIVALS,
    BUSY,
    HABITS,
    TASK,
    day,
    draw,
)
from learnkit.views.drawing.display import WIDE

EVERY_5 = "every 5 s for 20 s"


def teammate(name: str) -> Callable[[Any], lk.Reply]:
    """A scripted teammate: busy at first, then with each task that it has claimed."""

    def answer(request: Any) -> lk.Reply:
        last = str(request["messages"][-1]["content"])
        if found := re.search(r"<auto-claimed>Task #(\d+)", last):
            done = lk.use("task_update", task_id=int(found[1]), status="completed")
            return replace(done, latency=TASK)
        return lk.say("Ready.", latency=BUSY[name] if len(request["messages"]) == 1 else 0.0)

    return answer


def lead(request: Any) -> lk.Reply:
    if len(request["messages"]) > 1:
        return lk.say("They find their work.", latency=0.0)
    calls = [lk.use("spawn_teammate", name=one, role="coder", prompt="Begin.") for one in BUSY]
    return lk.reply(*calls, latency=0.0)


Statuses = dict[str, list[tuple[float, str]]]


def a_real_day(
    folder: Path, arrival: float, every: float, limit: float
) -> tuple[Statuses, str, float]:
    """The teammates' statuses, who has claimed the task, and when."""
    clock, board = lk.VirtualClock(), lk.TaskBoard(folder / ".tasks")
    lanes = {"lead": lead, **{name: teammate(name) for name in BUSY}}
    with lk.Team(folder / ".team", lambda *_: [lk.Tasks(board)], wait=False) as team:
        autonomy = lk.Autonomy(team, board, poll=every, idle=limit)
        agent = lk.Agent(lk.scripted(lanes, clock=clock), [team, autonomy])
        agent.run("Go.")
        clock.sleep(arrival - clock.time())
        board.create("the task")
        for member in team.members:
            member.ended()
    statuses: Statuses = {name: [] for name in BUSY}
    for event in agent.events:
        if event.type == "team.status" and event.data["name"] in statuses:
            statuses[event.data["name"]].append((event.time, event.data["status"]))
    claims = [event for event in agent.events if event.type == "task.started"]
    assert len(claims) <= 1
    if not claims:
        return statuses, "", arrival
    return statuses, claims[0].data["task"]["owner"], claims[0].time


@pytest.mark.parametrize(("every", "limit"), HABITS.values())
@pytest.mark.parametrize("arrival", [0.5, 18.5, ARRIVALS[-1]])
def test_a_real_team_does_what_the_picture_shows(
    tmp_path: Path, arrival: float, every: float, limit: float
) -> None:
    run = day(arrival, every, limit)
    statuses, taker, claimed = a_real_day(tmp_path, arrival, every, limit)
    assert (taker, claimed) == (run.taker, run.claimed)
    for name, life in run.lives.items():
        expected = [
            *((begin, "working") for begin, _ in life.working),
            *((end, "idle") for _, end in life.working),
            (life.shutdown, "shutdown"),
        ]
        assert statuses[name] == sorted(expected)


@pytest.mark.slow
@pytest.mark.parametrize(("every", "limit"), HABITS.values())
@pytest.mark.parametrize("arrival", [0.5, 12.5, 18.5, 28.5, 29.5, 38.5, ARRIVALS[-1]])
def test_the_lesson_s_own_loop_does_what_the_picture_shows(
    tmp_path: Path, arrival: float, every: float, limit: float
) -> None:
    """It looks a last time at its limit, as the package does."""
    run = day(arrival, every, limit)
    name = run.taker or min(BUSY)
    cells, now = AgentCells("s12", None), BUSY[name]
    agent: Any = cells.module
    vars(agent).update(ROOT=tmp_path, POLL=every, IDLE=limit, find_task=lambda _: now >= arrival)
    agent.assignment = lambda *_: now

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    agent.time = SimpleNamespace(monotonic=lambda: now, sleep=sleep)
    claimed = agent.next_work(agent.Agent(name, groups=("read", "write", "teammate")))
    assert claimed == (run.claimed if run.taker else None)
    assert run.taker or now == run.lives[name].shutdown


def test_no_arrival_is_at_the_moment_of_a_look() -> None:
    """Who is first would be an accident then."""
    for arrival in ARRIVALS:
        for every, limit in HABITS.values():
            lives = day(arrival, every, limit).lives.values()
            assert all(arrival not in life.looks for life in lives)
    alice, bob = BUSY.values()
    assert all(alice % every != bob % every for every, _ in HABITS.values())


@pytest.mark.parametrize(
    ("arrival", "habit", "finding"),
    [
        (0.5, EVERY_5, "The task waits 5.5 s: both are busy, and Alice is done first."),
        (12.5, EVERY_5, "The task waits 1.5 s: Bob looks next."),
        (12.5, "every 2 s for 20 s", "The task waits 0.5 s: Bob looks next."),
        (28.5, EVERY_5, "The task waits 0.5 s: Alice has shut down, and Bob looks next."),
        (32.5, EVERY_5, "Nobody takes the task: it arrives 3.5 s after the last shutdown."),
    ],
)
def test_the_finding_says_who_takes_it(arrival: float, habit: str, finding: str) -> None:
    assert draw(WIDE, arrival, habit).finding == finding
