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

_PROC = Path("/proc")


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
        self._born = _stat(process.pid)[2] if _PROC.is_dir() else 0

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
            state, session, born = _stat(pid)
            if state in "ZX" or born < self._born:
                return False
            return session == self._process.pid or self._mark in _environ(pid)
        except OSError:  # it has just ended, or is another user's
            return False


def _environ(pid: int) -> list[bytes]:
    """A process's environment; empty if it has none."""
    for _ in range(5):
        if environ := _read(f"/proc/{pid}/environ"):
            return environ.split(b"\0")
        time.sleep(0.001)  # blank while the kernel loads a program: look again
    return []


def _stat(pid: int) -> tuple[str, int, int]:
    """State, session and start time (kernel ticks) of a process, from /proc."""
    # The name, in parentheses, may hold anything; what follows the last one is numbers.
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields[0].decode(), int(fields[3]), int(fields[19])


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
