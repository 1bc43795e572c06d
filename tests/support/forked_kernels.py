"""Kernels as forks of a process that has imported what each lesson imports.

The imports take a kernel two seconds, and the course has sixteen notebooks. Each worker of pytest
has a process of this kind; it ends with its stdin, so it doesn't outlive the worker.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from typing import Any

LAUNCHER = "ipykernel_launcher"
_SOURCES: list[subprocess.Popen[str]] = []


class Kernel:
    """A kernel, with what Jupyter asks of a ``Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid, self._process = pid, os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Zero once it has ended: only its parent would be told how."""
        return 0 if select.select([self._process], [], [], 0)[0] else None

    def wait(self) -> int:
        select.select([self._process], [], [])
        return 0

    def send_signal(self, number: int) -> None:
        signal.pidfd_send_signal(self._process, number)


def launch(command: list[str], env: dict[str, str], cwd: str | None = None, **_: Any) -> Kernel:
    """Start a kernel, as Jupyter's ``launch_kernel`` does."""
    if not _SOURCES:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        _SOURCES.append(subprocess.Popen([sys.executable, "-u", __file__], **pipes))
    source = _SOURCES[0]
    assert source.stdin
    assert source.stdout
    arguments = command[command.index(LAUNCHER) :]
    env = {**env, "JPY_PARENT_PID": str(source.pid)}
    source.stdin.write(json.dumps({"argv": arguments, "env": env, "cwd": cwd or "."}) + "\n")
    source.stdin.flush()
    return Kernel(int(source.stdout.readline()))


def main() -> None:
    """Fork a kernel for each line of stdin."""
    for name in ("ipykernel.kernelapp", "learnkit.course.lab", "anthropic.resources.messages"):
        importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    for line in sys.stdin:
        if os.fork() == 0:
            _become(**json.loads(line))
            return
    return


def _become(argv: list[str], env: dict[str, str], cwd: str) -> None:
    """Be a kernel, as if it had just been started."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    print(os.getpid())
    for number in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    tempfile.tempdir = None
    sys.argv[:] = argv
    sys.modules["ipykernel.kernelapp"].launch_new_instance()


if __name__ == "__main__":
    sys.path.pop(0)  # this folder
    main()
