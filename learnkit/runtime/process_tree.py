"""Finding and ending all the processes that one command has started.

Killing the main process, or its group, is not enough: ``setsid`` leaves the group, and a child
whose parent has ended has lost its place in the tree. A ``Family`` finds those as well.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

#: Seconds for which a program that is loaded has to be without an environment, until it has none.
SETTLING = 0.25

_PROC = Path("/proc")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD in linux/sched.h


class Family:
    """The processes of one command, with those that left its session or lost their parent.

    On Linux they are known by their session, or by a mark in the environment that they inherit;
    elsewhere only by their process group.
    """

    def __init__(self, process: subprocess.Popen[bytes], mark: bytes) -> None:
        self._process, self._mark = process, mark
        self._born = _stat(f"/proc/{process.pid}").born if _PROC.is_dir() else 0
        self._environments = Environments()

    def end(self, grace: float) -> None:
        """SIGTERM to every member, after ``grace`` seconds SIGKILL; return when none is left.

        After two more seconds it returns as well: they are too many, or the kernel is holding one
        (a dead network disk).
        """
        self._end_members(grace)
        self._process.kill()  # it has ended, unless the others were too many
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)  # reaps it

    def _end_members(self, grace: float) -> None:
        kill_at = time.monotonic() + grace
        give_up = kill_at + 1.5
        asked: set[int] = set()
        others: set[int] = set()
        ended: set[int] = set()
        killing = False
        while True:
            now = time.monotonic()
            alive = missed = loading = False
            # The oldest first: a shell whose child is killed before it would print that.
            for pid in sorted(self._candidates(others), reverse=killing):
                if time.monotonic() > give_up:  # one look at all of them may take long
                    return
                found = self._look_at(pid)
                if found == "ended":
                    missed |= pid not in ended
                    ended.add(pid)
                elif found == "loading":
                    loading = True
                elif found == "another":
                    others.add(pid)
                else:
                    alive = True
                    if now >= kill_at:
                        _kill(pid, signal.SIGKILL)
                    elif pid not in asked:
                        _kill(pid, signal.SIGTERM)
                        asked.add(pid)
            if not (alive or missed or loading):
                return
            killing = now >= kill_at
            if killing and missed:
                self._overtake()
            time.sleep(0 if missed else 0.005)
            self._process.poll()  # reaps it

    def _overtake(self) -> None:
        """Kill the newest process as soon as it is a member, or give up after a moment.

        Each link of a chain is the newest, for less time than it takes to list all processes.
        """
        until = time.monotonic() + 0.05
        with open("/proc/loadavg", "rb", buffering=0) as loads:  # noqa: PTH123 (faster)
            while time.monotonic() < until:
                loads.seek(0)
                newest = int(loads.read(100).split()[-1])
                with suppress(OSError):
                    if self._mark in _read(f"/proc/{newest}/environ"):
                        _kill(newest, signal.SIGKILL)
                        return

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

    def _look_at(self, pid: int) -> Literal["member", "another", "loading", "ended"]:
        """What a process is to the command, or on macOS a group."""
        if pid < 0:
            return "member" if _kill(pid, 0) else "another"
        try:
            stat = _stat(process := f"/proc/{pid}")
            if stat.born < self._born or stat.flags & _KERNEL_THREAD:
                return "another"
            if stat.state in "ZX":
                return "ended"
            if stat.session == self._process.pid:
                return "member"
            environment = self._environments.of(process)
        except PermissionError:  # another user's
            return "another"
        except OSError:
            return "ended"
        if environment is None:
            return "loading"
        return "member" if self._mark in environment else "another"


class Environments:
    """The environments of processes.

    While the kernel loads a program, its environment reads as blank, on a busy machine for long.
    The addresses of its code come last. No look waits for that: there may be many such processes.
    """

    def __init__(self) -> None:
        self._blank: dict[str, float] = {}  # since when loaded programs are without one

    def of(self, process: str) -> list[bytes] | None:
        """The environment of a process, empty if it has none; None if that is not known yet."""
        if environment := _read(f"{process}/environ"):
            return environment.split(b"\0")
        if not _stat(process).loaded:
            return None
        if environment := _read(f"{process}/environ"):  # it has been loaded just now
            return environment.split(b"\0")
        now = time.monotonic()
        return [] if now - self._blank.setdefault(process, now) > SETTLING else None


class _Stat(NamedTuple):
    """State, session, flags and start time (kernel ticks) of a process; whether it has its code."""

    state: str
    session: int
    flags: int
    born: int
    loaded: bool


def _stat(process: str) -> _Stat:
    # The name, in parentheses, may hold anything; what follows the last one is numbers: proc(5).
    state, *fields = _read(f"{process}/stat").rpartition(b")")[2].split()
    session, flags, born, end_of_code = (int(fields[place]) for place in (2, 5, 18, 23))
    return _Stat(state.decode(), session, flags, born, end_of_code != 0)


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
