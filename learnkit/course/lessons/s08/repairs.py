"""Lesson 8's repairs: the thread, the list that is emptied, the model that has left, the frame."""

from __future__ import annotations

import contextlib
import itertools
import linecache
import os
import re
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

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import with_settings

REPAIRS = Repairs()

#: Seconds that a job takes which nobody ends, and for which a result may stay away.
LONG, PATIENCE = 1.0, 3.0
#: A job goes on until the learner's code has slept so often, or for so many seconds.
NAPS, SECONDS = 5_000, 1_000
#: What ends the frame around results; also with capitals or blanks, to a model.
END = "</background-results>"
_ENDS = re.compile(r"</\s*background-results\s*>", re.IGNORECASE)
#: What leaves an end when a part of it is only taken out.
PARTS = END, "</background", "</", "background-results"
NESTED = [f"{END[:at]}{part}{END[at:]}" for part in PARTS for at in (1, 7)]


@REPAIRS.add("It returns at once, and the job goes on.")
def check_background_run(agent: Any) -> Verdict:
    """Check that a job runs on while the tool has returned, and leaves its result."""
    with _lead(agent) as lead, _thread_errors() as errors:
        before = {*threading.enumerate()}
        id = agent.background_run(lead, f"sleep {LONG}; echo done")
        if id not in lead.jobs:
            return f"it returned {id!r}; it should return the job's id"
        if lead.jobs[id] != "running":
            why = ": give `Thread` the function and its arguments apart, and wait for nothing"
            makes = "Thread" in agent.background_run.__code__.co_names
            return f"it returned only when the command had ended{why * makes}"
        if not all(one.daemon for one in {*threading.enumerate()} - before):
            return "Python waits for this thread when it exits, an hour if need be: `daemon=True`"
        _kill(agent, id)
        _within(PATIENCE, lambda: bool(lead.ended or errors))
        if errors:
            return f"the thread of the job has ended with {errors[0]}"
        if not lead.ended:
            return "the job has ended, and left no result: is the thread started?"
    return None


def fates(agent: Any) -> dict[str, str]:
    """Each line of ``deliver``, and what becomes of a job that ends just before it runs."""
    found = dict[str, str]()
    try:
        for line, told in _races(agent):
            times = "".join(told).count("late")
            if found.get(line) != "lost":  # a loop runs it more than once
                found[line] = {0: "lost", 1: "delivered"}.get(times, f"delivered {times} times")
    except Exception as error:  # the learner's own; the verdict says where
        found[f"{type(error).__name__}: {error}"] = "fails"
    return found


def with_a_log(deliver: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with a log of each of its lines, which takes half a millisecond."""

    def step(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            time.sleep(0.0005)
        return step

    def logged(*args: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(step)
        try:
            return deliver(*args)
        finally:
            sys.settrace(before)

    return logged


@REPAIRS.add("Each result is delivered once, whenever its job ends.")
def check_deliver(agent: Any) -> Verdict:
    """Check that no job is lost that ends between two lines, and none is delivered twice."""
    for _, told in _races(agent):
        if "early" not in told[0]:
            return "a result was in the list, and was not delivered"
        for word in ("early", "late"):
            times = "".join(told).count(word)
            if times > 1:
                return f"one result was delivered {times} times"
            if not times:
                return "a job ended while your function was running, and its result is lost"
        if told[-1] != "None":
            return f"nothing was in the list, and it returned {told[-1]!r} instead of None"
    with _lead(agent) as lead:
        lead.ended += ["first", "second"]
        both = str(agent.deliver(lead, []))
        if "second" not in both:
            why = " (a `for` over a list that shrinks is over too soon)"
            return f"two jobs had ended, and only the first came{why}"
        if both.index("first") > both.index("second"):
            return "two jobs have ended, and the later one's result comes first"
    with _lead(agent) as lead:
        with _job_in_between(agent, lead):
            first = agent.deliver(lead, [])
        if "late" not in f"{first}{agent.deliver(lead, [])}":
            return (
                "another list was put in the place of `agent.ended` while `finish` held the old "
                "one: it had looked up `agent.ended.append`, and was still making its line. That "
                "result is lost. Take the results out, and leave the list where it is"
            )
    return None


@REPAIRS.add("A model that has stopped hears of its jobs.")
def check_wait_for_job(agent: Any) -> Verdict:
    """Check that a model that has stopped gets what a job says later, however long it takes."""
    with _lead(agent) as lead:
        _begun(agent, lead, f"echo late; sleep {LONG}")
        told, naps = _waited(agent, lead, lambda: _kill(agent, *lead.jobs))
        if "late" not in str(told):
            if "running" not in lead.jobs.values():
                return f"the job had ended, and it returned {told!r}: return what `deliver` gives"
            why = (
                ". Each `time.sleep` is cut short in this check, because some job outlasts any "
                "number: ask again as long as one is running"
            ) * bool(naps)
            return f"a job ended after the model had stopped, and was never delivered{why}"
    with _lead(agent) as lead:
        _begun(agent, lead, "true").join()
        agent.deliver(lead, [])
        told, naps = _waited(agent, lead, lambda: lead.ended.append("the end of this check"))
        if naps or told is not None:
            return "the only job had ended and was delivered, and your hook waits for ever"
    with _lead(agent) as lead:
        _begun(agent, lead, "echo late").join()
        _begun(agent, lead, "sleep 60")
        _, naps = _waited(agent, lead, lambda: _kill(agent, *lead.jobs))
        if naps:
            return (
                "one job had ended, another was running, and your hook waited for it: a result of "
                "a second must not wait for one of 25 minutes. Wait only while `agent.ended` is "
                "empty"
            )
    with _lead(agent) as lead:
        with _job_in_between(agent, lead):
            told = agent.wait_for_job(lead)
        if "late" not in str(told):
            return (
                "a job was out of `RUNNING`, and its result not yet in `agent.ended`; just then "
                "your hook ended the run. Ask `agent.jobs`: `finish` changes that last"
            )
    return None


def _waited(agent: Any, lead: Any, end: Callable[[], object]) -> tuple[Any, int]:
    """What the hook returns, and how often it has slept; ``end`` ends a wait that is too long."""
    clock = _FastClock(end)
    with with_settings(agent, **clock.names(agent)):
        return agent.wait_for_job(lead), clock.naps


@REPAIRS.add("No output ends the frame that it is in.")
def check_line_of(agent: Any) -> Verdict:
    """Check that no output ends the frame that it is in, and that it is still delivered."""
    others = END.upper(), END.replace("b", "B"), END.replace(">", " >"), END.replace("/", "/ ")
    for output in (END, f"{END} {END}", *NESTED, *others, "7 < 9 and </b>"):
        with _lead(agent) as lead:
            _begun(agent, lead, f"echo {shlex.quote(output)} Charlie").join()
            told = str(agent.deliver(lead, []))
        if "Charlie" not in told:
            return "the rest of the output is no longer delivered"
        if len(_ENDS.findall(told)) != 1 or not told.rstrip().endswith(END):
            return f"a job printed `{output}`, and the frame ended there"
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
def _job_in_between(agent: Any, lead: Any) -> Iterator[None]:
    """Hold the ``finish`` of a job while it makes its line: not running, and not in the list."""
    text, holds, go = agent.shortened, Event(), Event()

    def slowly(*args: Any) -> str:
        holds.set()
        go.wait(PATIENCE / 10)  # not for longer: both may want one lock
        return str(text(*args))

    with with_settings(agent, shortened=slowly):
        job = _begun(agent, lead, "echo late")
        try:
            _within(PATIENCE, lambda: holds.is_set() or not job.is_alive())
            yield
        finally:
            go.set()
            job.join()


def _races(agent: Any) -> Iterator[tuple[str, list[str]]]:
    """A job ends before a line of ``deliver``: the line, what it delivers, and two more calls."""
    for number in itertools.count(1):
        with _lead(agent) as lead:
            _begun(agent, lead, "echo early").join()
            line, first = _with_a_job_that_ends(agent, lead, number)
            told = [str(first), *(str(agent.deliver(lead, [])) for _ in range(2))]
        if not line:
            return
        yield line, told


def _with_a_job_that_ends(agent: Any, lead: Any, number: int) -> tuple[str, object]:
    """Call ``deliver``; a job ends before its line of this number, which is returned, if any."""
    code, lines, found, jobs = agent.deliver.__code__, 0, "", list[Thread]()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines, found
        if frame.f_code is not code:
            return None
        lines += event == "line"
        if event == "line" and lines == number:
            found = linecache.getline(code.co_filename, frame.f_lineno).strip()
            jobs.append(_begun(agent, lead, "echo late"))
            jobs[0].join(PATIENCE / 10)  # not for longer: the function may hold a lock
        if lines > NAPS:
            raise TimeoutError("`deliver` does not come to an end")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        told = agent.deliver(lead, [])
    finally:
        sys.settrace(before)
    for job in jobs:
        job.join()
    return found, told


class _FastClock:
    """In the place of ``time``: a sleep only moves the clock; at last, ``end`` is called."""

    def __init__(self, end: Callable[[], object]) -> None:
        self.end, self.naps, self.slept = end, 0, 0.0

    def sleep(self, seconds: float) -> None:
        self.naps, self.slept = self.naps + 1, self.slept + seconds
        if over := self.naps >= NAPS or self.slept >= SECONDS:
            self.end()
        time.sleep(0.005 * over)

    def monotonic(self) -> float:
        return time.monotonic() + self.slept

    time = perf_counter = monotonic

    def names(self, agent: Any) -> dict[str, object]:
        """What the module has of ``time``, and what stands in for it."""
        functions = time.sleep, time.monotonic, time.time, time.perf_counter
        return {
            name: self if thing is time else getattr(self, thing.__name__)
            for name, thing in vars(agent).items()
            if thing is time or thing in functions
        }


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


def _kill(agent: Any, *ids: str) -> None:
    for id in ids:
        with contextlib.suppress(KeyError, ProcessLookupError):
            os.killpg(agent.RUNNING[id].pid, signal.SIGKILL)


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()
