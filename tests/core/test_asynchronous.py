"""Programs of asyncio: a run in a thread, its events as they come, tools that are coroutines."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import aclosing
from typing import Any

import pytest

import learnkit as lk


@lk.tool
async def later(text: str) -> str:
    """Answer later."""
    await asyncio.sleep(0.01)
    return text.upper()


def slow(seconds: float = 30.0) -> lk.Agent:
    """An agent whose tool takes long, and heeds a stop."""

    @lk.tool
    def wait(agent: Any) -> str:
        """Wait."""
        began = time.monotonic()
        while time.monotonic() < began + seconds and not agent.stop.is_set():
            time.sleep(0.01)
        return "done"

    script = [lk.use("wait"), lk.say("end")]
    return lk.Agent(lk.scripted(script), tools=[wait], clock=lk.SystemClock())


def test_a_run_can_be_awaited_while_others_run() -> None:
    async def both() -> list[lk.Outcome]:
        agents = [lk.Agent(lk.scripted([lk.say(text)])) for text in "ab"]
        return list(await asyncio.gather(*(one.arun("go") for one in agents)))

    assert [one.text for one in asyncio.run(both())] == ["a", "b"]


def test_a_cancelled_task_ends_the_run_and_its_thread() -> None:
    agent, before = slow(), threading.active_count()

    async def main() -> None:
        task = asyncio.create_task(agent.arun("go"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 5
    assert agent.outcome is not None
    assert agent.outcome.reason == "cancelled"
    assert threading.active_count() <= before


def test_events_come_as_they_happen_and_the_outcome_at_the_end() -> None:
    agent = lk.Agent(lk.scripted([lk.use("later", text="hi"), lk.say("end")]), tools=[later])

    async def main() -> list[str]:
        return [event.type async for event in agent.astream("go")]

    types = asyncio.run(main())
    assert types[0] == "run.started"
    assert types[-1] == "run.ended"
    assert [e.data["output"] for e in agent.events if e.type == "tool.ended"] == ["HI"]


def test_who_leaves_the_stream_ends_the_run() -> None:
    agent = slow()

    async def main() -> None:
        async with aclosing(agent.astream("go")) as events:
            async for event in events:
                if event.type == "tool.started":
                    break

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 5


def test_an_error_of_the_run_reaches_who_awaits_it() -> None:
    agent = lk.Agent(lk.scripted([lk.fail(400, "no")]))
    with pytest.raises(Exception, match="no"):
        asyncio.run(agent.arun("go"))

    async def main() -> None:
        async for _ in lk.Agent(lk.scripted([lk.fail(400, "no")])).astream("go"):
            continue

    with pytest.raises(Exception, match="no"):
        asyncio.run(main())


def test_a_coroutine_runs_where_a_loop_is_running_already() -> None:
    async def main() -> str:
        return str(later.run(None, {"text": "x"}))  # a blocking call inside of a loop

    assert asyncio.run(main()) == "X"


def test_what_a_coroutine_raises_is_a_result_that_the_model_reads() -> None:
    @lk.tool
    async def broken() -> str:
        """Fail."""
        raise lk.ToolError("not today")

    agent = lk.Agent(lk.scripted([lk.use("broken"), lk.say("end")]), tools=[broken])
    agent.run("go")
    assert [e.data["output"] for e in agent.events if e.type == "tool.ended"] == ["not today"]
