"""Lesson 8's explorable: its schedules are those of real runs on a virtual clock."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

import learnkit as lk
from learnkit.course.lessons.s08.explorable import (
    JOBS,
    LATENCY,
    TURNS,
    Schedule,
    background,
    draw,
    foreground,
)
from learnkit.views.drawing.display import WIDE


@lk.tool
def work() -> str:
    """Something else."""
    return "worked"


def played(turns: int, first: object, *mechanisms: lk.Mechanism) -> tuple[lk.Agent, list[float]]:
    """Run the agent's turns with ``first`` as the call of the first one."""
    replies = [first, *[lk.use("work")] * (turns - 2), lk.say("done"), lk.say("done, with it")]
    script = [replace(one, latency=LATENCY) for one in replies]  # type: ignore[type-var]
    client = lk.scripted(script, clock=lk.VirtualClock())
    agent = lk.Agent(client, [lk.Toolbox(work), *mechanisms])
    agent.run("Go.")
    return agent, [event.time for event in agent.events if event.type == "model.requested"]


def in_background(folder: Path, seconds: float, turns: int) -> Schedule:
    call = lk.use("background_run", command=f"sleep {seconds:g}; echo finished")
    agent, requests = played(turns, call, lk.Background(workspace=folder))
    begin, end = (
        next(event.time for event in agent.events if event.type == f"job.{what}")
        for what in ("started", "ended")
    )
    place = next(
        number
        for number, message in enumerate(agent.messages)
        if "<background-results>" in str(message["content"])
    )
    read = 1 + sum(message["role"] == "assistant" for message in agent.messages[:place])
    last = [event.time for event in agent.events if event.type == "model.replied"][-1]
    return Schedule(tuple(requests), (begin, end), read, last)


@pytest.mark.parametrize("turns", TURNS.values())
@pytest.mark.parametrize("seconds", JOBS[::6])
def test_a_real_job_is_read_when_the_picture_says(
    tmp_path: Path, seconds: float, turns: int
) -> None:
    assert in_background(tmp_path, seconds, turns) == background(seconds, turns)


@pytest.mark.parametrize("turns", TURNS.values())
@pytest.mark.parametrize("seconds", JOBS[::5])
def test_in_the_foreground_everything_waits_for_it(seconds: float, turns: int) -> None:
    @lk.tool
    def build(agent: lk.Agent) -> str:
        """The same work, for which the agent waits."""
        agent.clock.sleep(seconds)
        return "finished"

    agent, requests = played(turns, lk.use("build"), lk.Toolbox(build))
    last = [event.time for event in agent.events if event.type == "model.replied"][-1]
    assert (tuple(requests), last) == (
        foreground(seconds, turns).requests,
        foreground(seconds, turns).end,
    )


def test_without_other_work_the_background_saves_nothing_and_may_cost_time() -> None:
    short, long = (draw(WIDE, seconds, "nothing") for seconds in (JOBS[0], 6.5))
    assert short.finding == "In the background the run is 1.5 s longer."
    assert long.finding == "In the background the run takes just as long."
    for answer in (short, long):
        assert "costs a request" in answer.because
    longer = [n for n, much in product(JOBS, TURNS) if "longer" in draw(WIDE, n, much).finding]
    assert longer == [0.5]  # the one that the lesson leads to
    assert not any("shorter" in draw(WIDE, seconds, "nothing").finding for seconds in JOBS)
    assert all("shorter" in draw(WIDE, seconds).finding for seconds in JOBS)
