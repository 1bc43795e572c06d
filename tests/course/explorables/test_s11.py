"""Lesson 11's explorable: its claims and shutdowns are those of real teams on a virtual clock."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import learnkit as lk
from learnkit.course.agent_file.cells import AgentCells
from learnkit.course.lessons.s11 import explorable as lesson
from learnkit.course.lessons.s11.explorable import (
    ARRIVALS,
    BUSY,
    HABITS,
    SCALE,
    TASK,
    day,
    draw,
)
from learnkit.views.drawing.display import NARROW, WIDE

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
        autonomy.wait()
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
@pytest.mark.parametrize("arrival", [0.5, 12.5, 18.5, 24.5, 32.5, ARRIVALS[-1]])
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


def test_the_slider_stops_right_before_and_right_after_the_last_look() -> None:
    for _, limit in HABITS.values():
        last = max(BUSY.values()) + limit
        assert {last - 0.5, last + 0.5} <= set(ARRIVALS)


def test_no_arrival_is_at_the_moment_of_a_look() -> None:
    """Who is first would be an accident then."""
    for arrival in ARRIVALS:
        for every, limit in HABITS.values():
            lives = day(arrival, every, limit).lives.values()
            assert all(arrival not in life.looks for life in lives)
    alice, bob = BUSY.values()
    assert all(alice % every != bob % every for every, _ in HABITS.values())


@pytest.mark.parametrize("habit", HABITS)
def test_after_the_last_look_nobody_takes_it(habit: str) -> None:
    every, limit = HABITS[habit]
    for arrival in ARRIVALS:
        run = day(arrival, every, limit)
        alone = max(BUSY.values()) + limit
        answer = draw(WIDE, arrival, habit)
        assert (run.taker == "") == (arrival > alone)
        assert ("Nobody takes" in answer.finding) == (arrival > alone)
        assert ("claim" in answer.canvas) == (arrival < alone)


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


def test_a_longer_limit_is_named_where_it_would_have_helped() -> None:
    because = draw(WIDE, 32.5, EVERY_5).because
    assert "With a limit of 30 s one of them would have taken it" in because
    assert (
        "None of these limits keeps them" in draw(WIDE, ARRIVALS[-1], "every 5 s for 30 s").because
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TASK", 7.0, "takes 7 s"),
        ("BUSY", {"alice": 3.0, "bob": 8.0}, "Alice until 3 s, Bob until 8 s"),
    ],
)
def test_every_constant_is_printed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, said: str
) -> None:
    assert said not in draw(WIDE, 20.5, EVERY_5).assumes
    monkeypatch.setattr(lesson, name, value)
    assert said in draw(WIDE, 20.5, EVERY_5).assumes


@pytest.mark.parametrize("width", [WIDE, 560, NARROW])
def test_one_scale_for_all(width: float) -> None:
    ticks = set()
    for arrival, habit in product(ARRIVALS, HABITS):
        lives = day(arrival, *HABITS[habit]).lives.values()
        assert all(life.shutdown <= SCALE for life in lives)
        canvas = draw(width, arrival, habit).canvas
        ticks.add(tuple(one.x for one in canvas.shapes if one.key.startswith("tick")))
    assert len(ticks) == 1
