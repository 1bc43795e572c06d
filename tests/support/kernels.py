"""Kernels forked from a process that has imported what all of them import.

Each of some thirty kernels of a run would import Jupyter, the SDK and the lab anew: more than a
second of a core each. A forked one has these in memory, unchanged, and nothing that a cell has
made. What a learner's kernel does at its start, JupyterLab's kernels do in ``tests/browser``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from jupyter_client import launcher
from jupyter_client.provisioning import local_provisioner


def begin() -> None:
    """From now on, the kernels of this process are made like this."""
    local_provisioner.launch_kernel = launched  # type: ignore[assignment]


def end() -> None:
    """End the process that they are forked from."""
    if server.cache_info().currsize:
        with server():
            pass


def launched(
    command: list[str], *, env: dict[str, str], cwd: str | None = None, **more: Any
) -> Any:
    """Start a kernel; where another Python would begin, or with other paths, as usual."""
    same = all(env.get(name) == os.environ.get(name) for name in ("PATH", "PYTHONPATH"))
    if command[:3] != [sys.executable, "-m", "ipykernel_launcher"] or not same:
        return launcher.launch_kernel(command, env=env, cwd=cwd, **more)
    process = server()
    assert process.stdin is not None
    assert process.stdout is not None
    print(json.dumps([command[3:], env, cwd or str(Path.cwd())]), file=process.stdin, flush=True)
    return Forked(int(process.stdout.readline()))


@cache
def server() -> subprocess.Popen[str]:
    """The process that they are forked from, begun when it is first needed."""
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


class Forked:
    """A kernel's process, with what a kernel manager asks of a ``Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its server reaps it, so whether it is still there is all there is to know."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            self.returncode = 0
        return self.returncode

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(0.01)
        return 0

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def reap(*_: Any) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def serve() -> None:
    """Fork for each line, say the child's number; return in the child with its arguments."""
    signal.signal(signal.SIGCHLD, reap)
    for line in sys.stdin:
        if child := os.fork():
            with contextlib.suppress(OSError):  # the child was first
                os.setpgid(child, child)
            print(child, flush=True)
            continue
        os.setpgid(0, 0)  # whoever interrupts it interrupts the group
        arguments, environment, folder = json.loads(line)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        tempfile.tempdir = None  # of this environment
        kernelapp.launch_new_instance(arguments)
        return


if __name__ == "__main__":
    del sys.path[0]
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # read on import: kernels end with this process
    import anthropic.types  # noqa: F401
    import ipykernel.zmqshell  # noqa: F401
    from ipykernel import kernelapp

    import learnkit.course.lab  # noqa: F401

    serve()
