"""Lesson 8's repairs: the thread, the list that is emptied, the model that has left, the frame."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from threading import Event, Thread
from types import FrameType
from typing import Any

from learnkit.course.content import Repair, Verdict

#: Seconds that a job takes which nobody ends, and for which a result may stay away.
LONG, PATIENCE = 1.0, 3.0
#: Seconds that a ``time.sleep`` of the learner's takes at most: no fixed one outlasts a job.
NAP = 0.005
#: What ends the frame around results.
END = "</background-results>"


def starts_and_goes_on(agent: Any) -> Verdict:
    """Check that a job runs on while the tool has returned, and leaves its result."""
    with _lead(agent) as lead, _thread_errors() as errors:
        id = agent.background_run(lead, f"sleep {LONG}; echo done")
        if id not in lead.jobs:
            return f"it returned {id!r}; it should return the job's id"
        if lead.jobs[id] != "running":
            why = ""
            if "Thread" in agent.background_run.__code__.co_names:
                why = (
                    ": `target=finish(…)` calls `finish` at once, and `run()` does it in this "
                    "thread. Name the function, give its arguments apart, and `start()` it"
                )
            return f"it returned only when the command had ended{why}"
        _kill(agent, id)
        if not _within(PATIENCE, lambda: bool(lead.ended or errors)) or errors:
            if errors:
                return f"the thread of the job has ended with {errors[0]}"
            return "the job has ended, and left no result: is the thread started?"
    return None


def delivers_each_once(agent: Any) -> Verdict:
    """Check that no job is lost that ends between two lines, and none is delivered twice."""
    for line in range(1, 100):
        with _lead(agent) as lead:
            _ended(agent, lead, "early")
            first, ends = _with_a_job_that_ends(agent, lead, line)
            told = [str(first), *(str(agent.deliver(lead, [])) for _ in range(2))]
            if "early" not in told[0]:
                return "a result was in the list, and was not delivered"
            for word in ("early", "late") if ends else ("early",):
                times = "".join(told).count(word)
                if times > 1:
                    return f"one result was delivered {times} times"
                if not times:
                    return "a job ended while your function was running, and its result is lost"
            if (nothing := agent.deliver(lead, [])) is not None:
                return f"nothing was in the list, and it returned {nothing!r} instead of None"
            if not ends:
                break
    return _keeps_what_is_on_its_way(agent)


def _keeps_what_is_on_its_way(agent: Any) -> Verdict:
    """Check a result whose ``finish`` has looked the list up, and not yet put it there."""
    with _lead(agent) as lead:
        _ended(agent, lead, "early")
        ended, text, looked_up, go = lead.ended, agent.shortened, Event(), Event()

        def slowly(*args: Any) -> str:
            looked_up.set()
            go.wait(PATIENCE / 10)  # not for longer: both may want one lock
            return str(text(*args))

        agent.shortened = slowly
        try:
            job = _begun(agent, lead, "echo late")
            _within(PATIENCE, lambda: looked_up.is_set() or not job.is_alive())
            told = [agent.deliver(lead, [])]
        finally:
            go.set()
            job.join()
            agent.shortened = text
        told += [agent.deliver(lead, []) for _ in range(2)]
        if "late" in str(told):
            return None
        if lead.ended is ended:
            return "a job ended while your function was running, and its result is lost"
        return (
            "another list was put in the place of `agent.ended` while `finish` held the old one: "
            "it had looked up `agent.ended.append`, and was still making its line. That result is "
            "lost. Take the results out, and leave the list where it is"
        )


def waits_for_the_late(agent: Any) -> Verdict:
    """Check that a model that has stopped gets what a job says later, however long it takes."""
    with _lead(agent) as lead:
        if (nothing := agent.wait_for_job(lead)) is not None:
            return f"there was no job, and it returned {nothing!r} instead of None"
        _begun(agent, lead, f"sleep {LONG}; echo late")
        with _short_sleeps(agent) as slept:
            told = agent.wait_for_job(lead)
        if "late" not in str(told):
            short = (
                ". Each `time.sleep` is cut short in this check, because some job outlasts any "
                "number: ask again as long as one is running"
            )
            return (
                "a job ended after the model had stopped, and was never delivered"
                f"{short if slept else ''}"
            )
    return None


def keeps_the_frame(agent: Any) -> Verdict:
    """Check that no output ends the frame that it is in, and that it is still delivered."""
    cut = END.replace("b", f"{END}b")  # what is left of it, if the inner one is taken out
    for output in (END, cut, "7 < 9 and </b>"):
        with _lead(agent) as lead:
            _ended(agent, lead, shlex.quote(f"{output}\nCharlie"))
            told = str(agent.deliver(lead, []))
        if "Charlie" not in told:
            return "the rest of the output is no longer delivered"
        if told.count(END) != 1 or not told.rstrip().endswith(END):
            how = ", once the one within it was taken out" if output == cut else ""
            return f"a job printed `{output}`, and the frame ended there{how}"
    return None


@contextlib.contextmanager
def _thread_errors() -> Iterator[list[str]]:
    """What ends threads meanwhile; else it would be printed below the verdict, unread."""
    errors, before = list[str](), threading.excepthook
    threading.excepthook = lambda args: errors.append(f"{args.exc_type.__name__}: {args.exc_value}")
    try:
        yield errors
    finally:
        threading.excepthook = before


@contextlib.contextmanager
def _short_sleeps(agent: Any) -> Iterator[list[float]]:
    """Let sleeps of this thread end early; what they should have been."""
    slept, sleep, mine = list[float](), time.sleep, threading.get_ident()

    def nap(seconds: float) -> None:
        if threading.get_ident() == mine:
            slept.append(seconds)
            seconds = min(seconds, NAP)
        sleep(seconds)

    names = [name for name, thing in vars(agent).items() if thing is sleep]  # imported by itself
    for module, name in ((time, "sleep"), *((agent, name) for name in names)):
        setattr(module, name, nap)
    try:
        yield slept
    finally:
        for module, name in ((time, "sleep"), *((agent, name) for name in names)):
            setattr(module, name, sleep)


@contextlib.contextmanager
def _lead(agent: Any) -> Iterator[Any]:
    """An agent in a folder of its own; no job is left behind."""
    before = {*agent.RUNNING}
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield agent.Agent(folder=folder)
        finally:
            for id in {*agent.RUNNING} - before:
                _kill(agent, id)
            _within(PATIENCE, lambda: not {*agent.RUNNING} - before)
            for id in {*agent.RUNNING} - before:  # no thread waits for it
                agent.RUNNING.pop(id).communicate()


def _begun(agent: Any, lead: Any, command: str) -> Thread:
    id = f"{len(lead.jobs):08}"
    agent.RUNNING[id] = agent.start(command, lead.folder)
    lead.jobs[id] = "running"
    thread = Thread(target=agent.finish, args=(lead, id), daemon=True)
    thread.start()
    return thread


def _ended(agent: Any, lead: Any, word: str) -> None:
    _begun(agent, lead, f"echo {word}").join()


def _with_a_job_that_ends(agent: Any, lead: Any, line: int) -> tuple[object, bool]:
    """Call ``deliver``; before so many of its lines a job ends, if it has so many."""
    code, lines, jobs = agent.deliver.__code__, 0, list[Thread]()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code is not code:
            return None
        lines += event == "line"
        if event == "line" and lines == line:
            jobs.append(_begun(agent, lead, "echo late"))
            jobs[0].join(PATIENCE / 10)  # not for longer: the function may hold a lock
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        told = agent.deliver(lead, [])
    finally:
        sys.settrace(before)
    for job in jobs:
        job.join()
    return told, bool(jobs)


def _kill(agent: Any, id: str) -> None:
    with contextlib.suppress(KeyError, ProcessLookupError):
        os.killpg(agent.RUNNING[id].pid, signal.SIGKILL)


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


REPAIRS = {
    "background_run": Repair(starts_and_goes_on, "It returns at once, and the job goes on."),
    "deliver": Repair(delivers_each_once, "Each result is delivered once, whenever its job ends."),
    "wait_for_job": Repair(waits_for_the_late, "A model that has stopped hears of its jobs."),
    "line_of": Repair(keeps_the_frame, "No output ends the frame that it is in."),
}
