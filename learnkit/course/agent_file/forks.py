"""A program that has imported the SDK, and runs ``agent.py`` in forks of itself.

The import takes a second, and a lesson starts a dozen processes. Each line of its stdin is a job;
it ends with its stdin, so it doesn't outlive who started it.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_PROGRAMS: list[subprocess.Popen[str]] = []


def start(job: dict[str, Any]) -> None:
    """Start a process, and before it the program, if it does not run."""
    if not _PROGRAMS or _PROGRAMS[-1].poll() is not None:
        command = [sys.executable, "-u", __file__]
        _PROGRAMS[:] = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True)]
    pipe = _PROGRAMS[-1].stdin
    assert pipe
    pipe.write(f"{json.dumps(job)}\n")
    pipe.flush()


def end() -> None:
    """End the program; the next process gets another one."""
    while _PROGRAMS:
        _PROGRAMS.pop().communicate()


def main() -> None:
    """Start what stdin asks for."""
    import anthropic
    import yaml  # noqa: F401 (these take long)

    anthropic.Anthropic(api_key="offline").messages  # noqa: B018 (so is this: it is lazy)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that watch
    for line in sys.stdin:
        if os.fork() == 0:
            _watch(json.loads(line))


def _watch(job: dict[str, Any]) -> None:
    """Run a job in a fork, and write down its id, and how it has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if not (pid := os.fork()):
        _become(job)
    _write(Path(job["reports"], "pid"), pid)
    _, status = os.waitpid(pid, 0)
    _write(Path(job["reports"], "code"), os.waitstatus_to_exitcode(status))
    os._exit(0)


def _write(path: Path, number: int) -> None:
    path.with_suffix(".new").write_text(str(number))
    path.with_suffix(".new").replace(path)


def _become(job: dict[str, Any]) -> None:
    """Be the process of ``agent.py``, which ends as any program does."""
    files = {0: os.devnull, 1: f"{job['reports']}/out", 2: f"{job['reports']}/err"}
    for number, path in files.items():
        os.dup2(os.open(path, os.O_RDWR), number)
    os.environ.clear()
    os.environ.update(job["env"])
    os.chdir(job["folder"])
    sys.argv, sys.path[:0], sys.dont_write_bytecode = job["argv"], [job["reports"]], True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    agent: Any = importlib.import_module("agent")
    if job["hold"]:
        _hold(agent, job["hold"], Path(job["meeting"]), job["many"])
    if job["dies_at"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would make an OSError of it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["dies_at"], job["dies_at"]))
    exec(job["program"], {"agent": agent})
    sys.exit()


def _hold(agent: Any, name: str, meeting: Path, many: int) -> None:
    """Let a function of ``agent.py`` wait at its first call until the others call it, too.

    Then they act one after the other. One that holds a lock must not wait for ever.
    """
    act, me = getattr(agent, name), str(os.getpid())

    def held(*args: Any, **named: Any) -> Any:
        setattr(agent, name, act)
        (meeting / me).touch()
        end = time.monotonic() + 0.5
        while len(here := sorted(meeting.glob("[0-9]*"))) < many and time.monotonic() < end:
            time.sleep(0.002)
        before = [meeting / f"after {other.name}" for other in here if other.name < me]
        while not all(map(Path.exists, before)) and time.monotonic() < end:
            time.sleep(0.002)
        try:
            return act(*args, **named)
        finally:
            (meeting / f"after {me}").touch()

    setattr(agent, name, held)


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: it is not where agent.py looks
    main()
