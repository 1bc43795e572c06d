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

#: Jobs that have ended, one of each kind.
ENDED = {"00000001": "completed", "00000002": "failed", "00000003": "timeout"}
#: Id -> a job, and what of it lives on if it is stopped in a naive way.
JOBS = {
    "00000001": ("sleep 60 & echo; wait", ""),
    "00000002": (
        "(sleep 60 & echo; wait) & wait",
        "the job's shell may be gone, but what it has started is still running",
    ),
    "00000003": (
        "trap '' TERM; sleep 60 & echo; wait",
        "a job that ignores SIGTERM is still running. Which signal can't be ignored?",
    ),
}


def check_at_most_two(at_most_two: Any) -> Verdict:
    """Check that only a third running job is refused."""
    for tool, running, refused in (
        ("background_run", 0, False),
        ("background_run", 1, False),
        ("background_run", 2, True),
        ("background_run", 3, True),
        ("bash", 2, False),
        ("check_background", 2, False),
    ):
        jobs = ENDED | {f"0000001{number}": "running" for number in range(running)}
        agent = SimpleNamespace(jobs=jobs, messages=[], ended=[])
        reason = at_most_two(agent, {"type": "tool_use", "name": tool, "id": "x", "input": {}})
        what = (
            f"for {tool} with {running} running jobs, and {len(ENDED)} that have ended, your hook "
            f"returned {short(reason)}"
        )
        if refused and not (isinstance(reason, str) and reason.strip()):
            return f"{what}. It should return a reason: a third job would start"
        if not refused and reason is not None:
            return f"{what}. It should return None: nothing speaks against this call"
    return None


def check_stop_job(stop_job: Any) -> Verdict:
    """Check that a job ends with all that it has started, and that the others go on."""
    with _jobs() as (running, pipes):
        other, *stopped = JOBS
        for id in stopped:
            said = stop_job(running, id)
            if not isinstance(said, str) or not said:
                return f"it returned {short(said)}; the model needs a sentence"
            if not _gone(pipes[id]):
                return JOBS[id][1]
            if _gone(pipes[other], seconds=0.1):
                return "another job was stopped as well"
            if id not in running:
                return (
                    "the job is stopped, but `finish` still looks for its id in `running`, raises "
                    "KeyError, and no result is delivered. Leave the id to `finish`"
                )
        unknown = "no-such-job"
        answer = stop_job(running, unknown)
        if not isinstance(answer, str) or answer.replace(unknown, id) == said:
            return f"for an id that there isn't, it returned {short(answer)}"
    return None


@contextlib.contextmanager
def _jobs() -> Iterator[tuple[dict[str, Any], dict[str, int]]]:
    """The jobs: id -> process, and id -> a pipe that all of its processes hold open."""
    running, pipes = dict[str, Any](), dict[str, int]()
    try:
        for id, (command, _) in JOBS.items():
            pipes[id], end = os.pipe()
            running[id] = subprocess.Popen(
                ["bash", "-c", command], stdout=end, start_new_session=True
            )
            os.close(end)
            os.read(pipes[id], 1)  # its last process has started
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
