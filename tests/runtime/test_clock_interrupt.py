"""A real SIGINT, in a process of its own: main gets it, the agents stop, nobody runs beside main.

And the end of a script: parked threads of a virtual clock do not hold it up, and those of a system
clock are stopped, and get some seconds to end.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PRELUDE = """
import random, signal, sys, threading, time
import learnkit, learnkit.runtime.virtual_clock, learnkit as lk
from learnkit.runtime.clock import StuckError, SystemClock
from learnkit.runtime.virtual_clock import VirtualClock

MAIN = threading.main_thread().ident
inside, most = 0, 0

def interrupt():
    signal.pthread_kill(MAIN, signal.SIGINT)

def step(seconds=0.0):
    # Real work of a participant; another one inside at the same time would be noticed.
    global inside, most
    inside += 1
    most = max(most, inside)
    time.sleep(seconds)
    most = max(most, inside)
    inside -= 1

def foreign(function):
    threading.Thread(target=function, daemon=True).start()

def until(condition):
    while not condition():
        time.sleep(0.001)
"""


def child(code: str, folder: Path) -> str:
    """Run a script in a Python of its own; return what it printed.

    A script that hangs is killed and fails the test, so does one that ends in an error.
    """
    script = folder / "script.py"
    script.write_text(PRELUDE + textwrap.dedent(code), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_main_gets_the_interrupt_and_the_agents_stop(tmp_path: Path) -> None:
    out = child(
        """
        clock = VirtualClock()
        stops = [clock.signal(f"stop {i}") for i in range(4)]

        def agent(number):
            with clock.interruptible(stops[number]):
                for round in range(1000):
                    step(0.002)
                    if number == 2 and round == 10:
                        foreign(interrupt)
                        step(0.2)  # the interrupt comes while this one works
                    if clock.sleep(1, stops[number]):
                        return f"agent {number} stopped"
            return "never"

        agents = [clock.spawn(f"agent {i}", agent, i) for i in range(4)]
        try:
            clock.wait(clock.signal("never"))
        except KeyboardInterrupt:
            print("interrupted at", clock.time())
        for _ in range(20):
            step(0.005)
        print([stop.is_set() for stop in stops])
        print([one.join() for one in agents])
        print("at most", most, "at a time")
        before = clock.time()
        clock.sleep(5)
        print(clock.time() - before, clock.spawn("new", lambda: "works").join())
        clock.close()
        print(threading.active_count() <= 2)
        """,
        tmp_path,
    )
    assert out.splitlines() == [
        "interrupted at 10.0",
        "[True, True, True, True]",
        "['agent 0 stopped', 'agent 1 stopped', 'agent 2 stopped', 'agent 3 stopped']",
        "at most 1 at a time",
        "5.0 works",
        "True",
    ]


def test_a_second_interrupt_does_not_wait_for_work_that_does_not_stop(tmp_path: Path) -> None:
    out = child(
        """
        clock = VirtualClock()
        stop, release, ended = clock.signal("stop"), threading.Event(), []

        def stubborn():
            foreign(lambda: (interrupt(), until(stop.is_set), interrupt()))
            release.wait()
            ended.append("work")
            clock.sleep(1)
            ended.append("never comes here")

        def patient():
            return clock.sleep(1000, stop)

        worker, other = clock.spawn("stubborn", stubborn), clock.spawn("patient", patient)
        with clock.interruptible(stop):
            try:
                clock.wait(clock.signal("never"))
            except KeyboardInterrupt:
                print("main is back, at work:", not worker.done)
        print(other.join(), clock.time())
        try:
            worker.join()
        except StuckError as error:
            print(error)
        release.set()
        until(lambda: worker.done)
        print(ended, worker.join(), clock.sleep(3), clock.time())
        clock.close()
        """,
        tmp_path,
    )
    assert out.splitlines() == [
        "main is back, at work: True",
        "True 0.0",
        "nobody can go on at 0 s: main waits for the end of 'stubborn'. "
        "Set one of these signals, or wait with a timeout.",
        "['work'] None False 3.0",
    ]


def test_a_system_clock_passes_the_interrupt_on_as_well(tmp_path: Path) -> None:
    out = child(
        """
        clock = SystemClock()
        results = []

        def agent():
            stop = clock.signal("stop")
            with clock.interruptible(stop):
                results.append(clock.sleep(1e6, stop))

        agents = [clock.spawn(f"agent {i}", agent) for i in range(3)]
        # Not before main is in its wait as well: elsewhere an interrupt is main's own affair.
        foreign(lambda: (until(lambda: len(clock._changed._waiters) == 4), interrupt()))
        try:
            clock.wait()
        except KeyboardInterrupt:
            print("interrupted")
        for one in agents:
            one.join()
        clock.close()
        print(results, clock.spawn if clock.time() > 1e5 else "early")
        """,
        tmp_path,
    )
    assert out.splitlines() == ["interrupted", "[True, True, True] early"]


def test_interrupts_at_any_moment_leave_a_clock_that_works(tmp_path: Path) -> None:
    out = child(
        """
        clock, rng = VirtualClock(), random.Random(1)
        live, caught, enough = True, 0, 60

        def agent(number):
            stop = clock.signal("stop")
            with clock.interruptible(stop):
                while live:
                    step()
                    clock.sleep(1, stop)
                    stop.clear()
            return number

        ready = threading.Event()

        def tease():
            for _ in range(enough):
                ready.wait()
                ready.clear()
                time.sleep(rng.random() * 0.003)
                interrupt()

        agents = [clock.spawn(f"agent {i}", agent, i) for i in range(5)]
        foreign(tease)
        while caught < enough:
            try:
                ready.set()
                while True:
                    clock.sleep(0.5)
                    step()
            except KeyboardInterrupt:
                caught, inside = caught + 1, 0  # main's own step may have been cut short
        live = False
        print([one.join() for one in agents], most)
        clock.close()
        """,
        tmp_path,
    )
    assert out.splitlines() == ["[0, 1, 2, 3, 4] 1"]


@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)", "clock.close()"])
def test_a_script_ends_although_threads_are_parked(tmp_path: Path, ending: str) -> None:
    out = child(
        f"""
        clock = VirtualClock()
        for i in range(10):
            clock.spawn(f"parked {{i}}", lambda: clock.wait(clock.signal("nothing")))
            clock.spawn(f"sleeper {{i}}", clock.sleep, 1000)
        clock.sleep(1)
        clock.spawn("not begun", print, "never" if not {ending!r}.startswith("clock") else "joined")
        print("the end")
        {ending}
        """,
        tmp_path,
    )
    expected = ["the end", "joined"] if "close" in ending else ["the end"]
    assert out.splitlines() == expected


@pytest.mark.slow
def test_an_agent_that_is_interrupted_can_go_on(tmp_path: Path) -> None:
    out = child(
        """
        @lk.tool(parallel=3)
        def wait(agent: lk.Agent, seconds: float) -> str:
            "Wait."
            if seconds == 2:
                foreign(interrupt)
                until(agent.stop.is_set)
                step()
            return "stopped" if agent.clock.sleep(seconds, agent.stop) else "waited"

        calls = [lk.use("wait", seconds=s) for s in (50, 2, 70, 80)]
        client = lk.scripted([lk.reply(*calls), lk.say("done")])
        agent = lk.Agent(client, [lk.Toolbox(wait)])
        try:
            agent.run("Wait.")
        except KeyboardInterrupt:
            print("interrupted", agent.events[-1].data["reason"])
        print([block["content"] for block in agent.messages[-1]["content"]])
        print(agent.run("Go on."), most)
        """,
        tmp_path,
    )
    assert out.splitlines() == [
        "interrupted cancelled",
        "['stopped', 'stopped', 'Cancelled before it ran.', 'Cancelled before it ran.']",
        "Outcome(text='done', reason='end_turn', turns=1) 1",
    ]
