"""Workers of lessons 9 to 11: real processes that meet at the wrong moment, or are killed.

A race that happens once in a thousand runs teaches nothing, so the bad luck is arranged here: two
processes wait for each other just before the first byte is written, or a process is killed when a
file reaches a certain size. What the processes do is real.
"""

from __future__ import annotations

import linecache
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from learnkit.errors import UsageError

_KILL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python would make an OSError of it
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""

# All processes begin together, after their boards are made. A process that is about to write waits
# until every other one is about to write too, or waits at a lock, where it cannot get any further.
_MEET = """
import sys, time
from pathlib import Path
meeting, me, many = Path({meeting!r}), {me!r}, {many}
def arrived(place):
    (meeting / me).write_text(place) if not (meeting / me).exists() else None
def meet(event, details):
    global met
    if event == "fcntl.flock" and not met:
        met = True
        arrived("at the lock")
        met = False
    writes = event == "open" and isinstance(details[1], str) and set(details[1]) & set("wx")
    if writes and not met:
        met = True
        arrived("about to write")
        end = time.monotonic() + 20
        while len(list(meeting.iterdir())) < 2 * many and time.monotonic() < end:
            time.sleep(0.002)
met = False
(meeting / f"ready {{me}}").touch()
while len(list(meeting.glob("ready *"))) < many:
    time.sleep(0.002)
sys.addaudithook(meet)
"""


# What processes need to take turns: one reaches a place, and the other one waits for that.
_TURNS = """
import time
from pathlib import Path
meeting = Path({meeting!r})
def reached(place):
    (meeting / place).touch()
def until(place):
    end = time.monotonic() + 20
    while not (meeting / place).exists():
        if time.monotonic() > end:
            raise TimeoutError("nobody has reached " + place)
        time.sleep(0.002)
"""


def source_of(board: type) -> str:
    """Return Python text that defines a class as ``Board``: its cells, or an import.

    A class that inherits from one of another cell needs both.
    """
    if board.__module__ != "__main__":
        return f"from {board.__module__} import {board.__name__} as Board"
    mine = [one for one in reversed(board.__mro__) if one.__module__ == "__main__"]
    cells = dict.fromkeys(map(_cell_of, mine))  # a class and its base may share one
    return "\n".join([*cells, f"Board = {board.__name__}"])


def _cell_of(board: type) -> str:
    """The text of the cell that defines a class."""
    functions = [one for one in vars(board).values() if hasattr(one, "__code__")]
    for function in functions:
        if lines := linecache.getlines(function.__code__.co_filename):
            return "".join(lines)
    raise UsageError(f"the cell that defines {board.__name__} cannot be found; run it again")


def in_process(board: type, folder: Path, code: str, *, dies_at: int | None = None) -> bool:
    """Run code on a board in a separate process."""
    begin = "" if dies_at is None else _KILL.format(size=dies_at)
    process = _start(board, folder, begin, code)
    _check(process.communicate()[1], process.returncode)
    return process.returncode < 0


def race(board: type, folder: Path, codes: Sequence[str]) -> None:
    """Run several pieces of code, each in its own process; they meet at their first write."""
    with tempfile.TemporaryDirectory() as meeting:
        begins = [
            _MEET.format(meeting=meeting, me=str(number), many=len(codes))
            for number in range(len(codes))
        ]
        started = [
            _start(board, folder, begin, code) for begin, code in zip(begins, codes, strict=True)
        ]
        try:
            while any(process.poll() is None for process in started):
                if any((process.returncode or 0) > 0 for process in started):
                    break  # the others wait for one that will not come
                time.sleep(0.005)
        finally:
            for process in started:
                process.kill()
        said = [(process.communicate()[1], process.returncode) for process in started]
    for text, code in said:
        _check(text, code)


def in_turns(board: type, folder: Path, codes: Sequence[str]) -> list[str]:
    """Run pieces of code, each in its own process; they wait for each other where the code says."""
    with tempfile.TemporaryDirectory() as meeting:
        begin = _TURNS.format(meeting=meeting)
        started = [_start(board, folder, begin, code) for code in codes]
        said = [process.communicate() for process in started]
    for process, (_, text) in zip(started, said, strict=True):
        _check(text, process.returncode)
    return [printed.strip() for printed, _ in said]


def _start(board: type, folder: Path, begin: str, code: str) -> subprocess.Popen[str]:
    text = f"{source_of(board)}\nboard = Board({str(folder)!r})\n{begin}\n{code}\n"
    command = [sys.executable, "-c", text]
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **options)


def _check(said: str, code: int) -> None:
    if code > 0:
        last = (said.strip().splitlines() or ["it said nothing"])[-1]
        raise UsageError(f"the process failed: {last}")
