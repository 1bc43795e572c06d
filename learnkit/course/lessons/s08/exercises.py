"""Lesson 8's exercises: what is wrong with an answer."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import short


def check_at_most_two(at_most_two: Any) -> Verdict:
    """Check that only a third running job is refused."""
    states = {"00000001": "running", "00000002": "completed", "00000003": "running"}
    for tool, more, refused in (
        ("background_run", {"00000001": "completed"}, False),
        ("background_run", {}, True),
        ("background_run", {"00000004": "running"}, True),
        ("bash", {}, False),
        ("check_background", {}, False),
    ):
        agent = SimpleNamespace(jobs={**states, **more}, messages=[])
        running = [*agent.jobs.values()].count("running")
        reason = at_most_two(agent, {"type": "tool_use", "name": tool, "id": "x", "input": {}})
        what = f"for {tool} with {running} running jobs, your hook returned {short(reason)}"
        if refused and not (isinstance(reason, str) and reason.strip()):
            return f"{what}. It should return a reason: a third job would start"
        if not refused and reason is not None:
            return f"{what}. It should return None: nothing speaks against this call"
    return None


def check_stop_job(stop_job: Any) -> Verdict:
    """Check that a job ends with all that it has started, and that the others go on."""
    with _jobs() as (running, pipes):
        known = dict(running)
        said = stop_job(running, "00000002")
        if not isinstance(said, str) or not said:
            return f"it returned {short(said)}; the model needs a sentence"
        if not _gone(pipes["00000002"]):
            return "the job's shell may be gone, but what it has started is still running"
        if _gone(pipes["00000001"], seconds=0.1):
            return "another job was stopped as well"
        try:
            said = stop_job(known, "deadbeef")
        except KeyError:
            return "for an id that there isn't, it raised KeyError; return a sentence"
        if not isinstance(said, str) or "stopped" in said.lower().partition("not")[0]:
            return f"for an id that there isn't, it returned {short(said)}"
    return None


@contextlib.contextmanager
def _jobs() -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    """Two jobs with a child each: id -> process, and id -> a pipe that both of them hold open."""
    running, pipes = dict[str, Any](), dict[str, int]()
    try:
        for id in ("00000001", "00000002"):
            pipes[id], end = os.pipe()
            command = ["bash", "-c", "sleep 60 & echo; wait"]
            running[id] = subprocess.Popen(command, stdout=end, start_new_session=True)
            os.close(end)
            os.read(pipes[id], 1)  # the child has started
        yield dict(running), pipes
    finally:
        for process in running.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in pipes.values():
            os.close(pipe)


def _gone(pipe: int, seconds: float = 3.0) -> bool:
    """Whether all that hold a pipe open end in so many seconds."""
    return bool(select.select([pipe], [], [], seconds)[0])


EXERCISES = {
    "at_most_two": check_at_most_two,
    "stop_job": check_stop_job,
}
