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
    """

    def __init__(self, process: subprocess.Popen[bytes], mark: bytes) -> None:
        self._process, self._mark = process, mark
        self._born = _stat(process.pid).born if _PROC.is_dir() else 0

    def end(self, grace: float) -> None:
        """SIGTERM to every member, after ``grace`` seconds SIGKILL; return when none is left."""
        kill_at = time.monotonic() + grace
        asked: set[int] = set()
        others: set[int] = set()
        ended: set[int] = set()
        killing = False
        while True:
            now = time.monotonic()
            alive = missed = False
            # The oldest first: a shell whose child is killed before it would print that.
            for pid in sorted(self._candidates(others), reverse=killing):
                member = self._is_member(pid)
                if member is None:
                    missed |= pid not in ended
                    ended.add(pid)
                elif not member:
                    others.add(pid)
                else:
                    alive = True
                    if now >= kill_at:
                        _kill(pid, signal.SIGKILL)
                    elif pid not in asked:
                        _kill(pid, signal.SIGTERM)
                        asked.add(pid)
            if not (alive or missed):
                break
            if now > kill_at + 2:
                return  # the kernel is holding it (a dead network disk): nothing more can be done
            killing = now >= kill_at
            time.sleep(0 if missed else 0.005)
            self._process.poll()  # reaps it
        self._process.wait()  # it has ended, so this does not wait

    def _candidates(self, others: set[int]) -> set[int]:
        """The processes that may be members.

        In a chain, each process starts the next one and ends. A list of all processes always has
        one of them, but it may have ended before it can be asked. So none is left only when every
        process of a list could be asked; and who looks only at what is new, and at the newest
        first once the others have been killed, is fast enough for that.
        """
        if not _PROC.is_dir():
            return {-self._process.pid}
        pids = {int(name) for name in os.listdir(_PROC) if name.isdigit()}  # noqa: PTH208 (faster)
        others &= pids
        return pids - others

    def _is_member(self, pid: int) -> bool | None:
        """Whether a process, or on macOS a group, belongs to the command; None if it has ended."""
        if pid < 0:
            return _kill(pid, 0)
        try:
            stat = _stat(pid)
            if stat.born < self._born or stat.flags & _KERNEL_THREAD:
                return False
            if stat.state in "ZX":
                return None
            return stat.session == self._process.pid or self._mark in _environ(f"/proc/{pid}")
        except PermissionError:  # another user's
            return False
        except OSError:
            return None


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
