"""A person in the model's place: the loop waits in a thread until somebody answers."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

import learnkit as lk
from learnkit.clients.connect import from_source
from learnkit.clients.human import Human, Left


@pytest.fixture
def asked() -> threading.Semaphore:
    return threading.Semaphore(0)


def seat(asked: threading.Semaphore) -> tuple[Human, lk.SystemClock, lk.Agent]:
    clock = lk.SystemClock()
    human = Human(
        clock,
        others=lambda _: lk.say("I am scripted", latency=0.0),
        asked=lambda _: asked.release(),
    )
    client = from_source(human, clock, "human")

    @lk.tool
    def double(number: int) -> str:
        """Twice a number."""
        return str(2 * number)

    return human, clock, lk.Agent(client, [lk.Toolbox(double)])


def test_the_loop_waits_for_a_reply_and_acts_on_it(asked: threading.Semaphore) -> None:
    human, clock, agent = seat(asked)
    with clock:
        worker = clock.spawn("game", agent.run, "What is twice 21, and twice 4?")
        assert asked.acquire(timeout=20)
        assert human.pending is not None
        assert human.pending["tools"][0]["name"] == "double"
        calls = lk.use("double", number=21), lk.use("double", number=4)
        human.send(lk.reply(*calls, latency=0.0))
        assert asked.acquire(timeout=20)
        results = human.pending["messages"][-1]["content"]
        assert [result["content"] for result in results] == ["42", "8"]
        human.send(lk.say("42 and 8", latency=0.0))
        assert worker.join(timeout=20).text == "42 and 8"
    assert human.pending is None


def test_leaving_ends_the_game_and_its_thread(asked: threading.Semaphore) -> None:
    human, clock, agent = seat(asked)
    worker = clock.spawn("game", agent.run, "Wait for me.")
    assert asked.acquire(timeout=20)
    human.leave()
    with pytest.raises(Left):
        worker.join(timeout=20)
    with pytest.raises(Left, match="start it again"):
        agent.run("Once more?")
    assert not asked.acquire(blocking=False)
    assert human.pending is None
    clock.close()
    assert [t.name for t in threading.enumerate() if t.name == "game"] == []


def test_an_interrupt_ends_a_wait_and_a_late_answer_is_refused(
    asked: threading.Semaphore,
) -> None:
    human, clock, agent = seat(asked)
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        asked.acquire()
        signal.pthread_kill(main, signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        agent.run("Wait for me.")
    helper.join()
    with pytest.raises(lk.UsageError, match="no request waits"):
        human.send(lk.say("too late"))
    clock.close()


def test_an_answer_needs_a_question(asked: threading.Semaphore) -> None:
    human, clock, agent = seat(asked)
    with pytest.raises(lk.UsageError, match="no request waits"):
        human.send(lk.say("too early"))

    def answer_twice(request: Any) -> None:
        human.send(lk.say("once", latency=0.0))
        with pytest.raises(lk.UsageError, match="no request waits"):
            human.send(lk.say("twice"))

    human.asked = answer_twice
    with clock:
        assert agent.run("hello").text == "once"


def test_other_agents_are_scripted(asked: threading.Semaphore) -> None:
    human, _, agent = seat(asked)
    human.leave()
    child = lk.Agent(agent.client, name="lead.1")
    assert child.run("hello").text == "I am scripted"
    with pytest.raises(lk.LearnkitError):
        Human(lk.SystemClock(), others="no function")  # type: ignore[arg-type]
