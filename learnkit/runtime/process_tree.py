"""Finding and ending all the processes that one command has started.

Killing the main process, or its group, is not enough: ``setsid`` leaves the group, and a child
whose parent has ended has lost its place in the tree. A ``Family`` finds those as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

#: Seconds that a program may take to be loaded, and to have its environment once it has arguments.
LOADING, SETTLING = 5.0, 0.25

_PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD in linux/sched.h


class Family:
    """The processes of one command, with those that left its session or lost their parent.

    On Linux they are known by their session, or by a mark in the environment that they inherit;
    elsewhere only by their process group.

    Args:
        process: the main process, just started in a session of its own, not yet waited for.
        mark: ``NAME=value``, a variable in its environment that no other command has.
    """

    def __init__(self, process: subprocess.Popen[bytes], mark: bytes) -> None:
        self._process, self._mark = process, mark
        self._born = _stat(process.pid).born if _PROC.is_dir() else 0

    def end(self, grace: float) -> None:
        """SIGTERM to every member, after ``grace`` seconds SIGKILL; return when none is left.

        Args:
            grace: seconds.
        """
        kill_at = time.monotonic() + grace
        asked: set[int] = set()
        while members := self._members():
            now = time.monotonic()
            if now > kill_at + 2:
                return  # the kernel is holding it (a dead network disk): nothing more can be done
            for pid in members:
                if now >= kill_at:
                    _kill(pid, signal.SIGKILL)
                elif pid not in asked:
                    _kill(pid, signal.SIGTERM)
                    asked.add(pid)
            time.sleep(0.005)
            self._process.poll()  # reaps it
        self._process.wait()  # it has ended, so this does not wait

    def _members(self) -> list[int]:
        if not _PROC.is_dir():
            group = -self._process.pid
            return [group] if _kill(group, 0) else []
        pids = (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())
        return [pid for pid in pids if self._is_member(pid)]

    def _is_member(self, pid: int) -> bool:
        try:
            stat = _stat(pid)
            if stat.state in "ZX" or stat.born < self._born or stat.flags & _KERNEL_THREAD:
                return False
            return stat.session == self._process.pid or self._mark in _environ(f"/proc/{pid}")
        except OSError:  # it has just ended, or is another user's
            return False


def _environ(process: str) -> list[bytes]:
    """The environment of a process, by its folder in /proc; empty if it has none.

    While the kernel loads a program, its environment and its arguments read as blank, on a busy
    machine for long. The arguments come first, so what has some may still have no environment.
    """
    give_up, settled = time.monotonic() + LOADING, False
    while not (environ := _read(f"{process}/environ")):
        if time.monotonic() > give_up:
            return []
        if not settled and _read(f"{process}/cmdline"):
            settled, give_up = True, time.monotonic() + SETTLING
        time.sleep(0.001)
    return environ.split(b"\0")


class _Stat(NamedTuple):
    """State, session, flags and start time (kernel ticks) of a process."""

    state: str
    session: int
    flags: int
    born: int


def _stat(pid: int) -> _Stat:
    # The name, in parentheses, may hold anything; what follows the last one is numbers: proc(5).
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return _Stat(fields[0].decode(), int(fields[3]), int(fields[6]), int(fields[19]))


def _read(path: str) -> bytes:
    # Twice as fast as pathlib, and it is done for every process after every command.
    fd = os.open(path, os.O_RDONLY)
    try:
        return b"".join(iter(lambda: os.read(fd, 1 << 16), b""))
    finally:
        os.close(fd)


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
