"""Lesson 7's explorable: kill a worker while it marks a task as completed.

The moment of the kill and the way to write (in place, or beside the file with a rename at the end)
decide what the next process reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache

from learnkit.backends.task import Task
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

NAIVE, ATOMIC = "write in place", "write beside, then rename"
#: Bytes between two moments of the write.
STEP = 8
_TASK = Task(1, "parse the readings", status="in_progress", owner="alice")
_LINES, _LEADING = 9, 16


@dataclass(frozen=True, slots=True)
class Disk:
    """The files that the killed worker leaves.

    Attributes:
        file: the content of ``task_1.json``.
        part: the content of the file beside it; None if there is none.
    """

    file: str
    part: str | None = None


@cache
def texts() -> tuple[str, str]:
    """The file before the write, and after it."""
    done = replace(_TASK, status="completed")
    before, after = (f"{json.dumps(one.to_json(), indent=2)}\n" for one in (_TASK, done))
    return before, after


def moments() -> tuple[int, ...]:
    """Bytes that are written when the worker dies: -1 before it begins; one more is the rename."""
    size = len(texts()[1])
    return (-1, *range(0, size, STEP), size, size + 1)


def disk(moment: int, way: str) -> Disk:
    """What the kill leaves."""
    before, after = texts()
    if moment < 0:
        return Disk(before)
    if moment > len(after):
        return Disk(after)
    return Disk(after[:moment]) if way == NAIVE else Disk(before, after[:moment])


def found(text: str) -> str | None:
    """The status that the next process finds; None if it cannot read the file."""
    try:
        status: str = json.loads(text)["status"]
    except ValueError:
        return None
    return status


def draw(width: float, moment: int, way: str) -> Answer:
    """The write with the moment of the kill, the files, and what the next process reads."""
    canvas, size = Canvas(width), len(texts()[1])
    left, right = 12.0, width - 12
    begin, end = left + 0.16 * (right - left), right - 0.16 * (right - left)
    spots = {-1: (left + begin) / 2, size + 1: (end + right) / 2}
    x = spots.get(moment, begin + (end - begin) * max(moment, 0) / size)
    canvas.bar("before", left, 28, begin - left - 2, 12, "pending", "p")
    canvas.bar("writing", begin, 28, end - begin, 12, "active", "p")
    canvas.bar("written", begin, 28, (end - begin) * min(max(moment, 0), size) / size, 12, "active")
    canvas.bar("after", end + 2, 28, right - end - 2, 12, "done", "p")
    canvas.text("say before", left, 58, "before", "q", width=begin - left)
    canvas.text("say writing", (begin + end) / 2, 58, f"{size} bytes are written", "qc")
    last = "done" if way == NAIVE else "renamed"
    canvas.text("say after", right, 58, last, "qe", width=right - end)
    canvas.edge("kill", "M0 0V36", "cause", "w", x=x, y=16)
    canvas.text("say kill", x, 12, "kill", "bc", "cause")

    left_over = disk(moment, way)
    status = found(left_over.file)
    mark = {"completed": "done", "in_progress": "active", None: "failed"}[status]
    wide = width - 24 if width < 560 else (width - 36) / 2
    tall = 24 + _LEADING * _LINES
    _file(canvas, "file", 12, 76, wide, tall, mark, "task_1.json", left_over.file)
    low = 76 + tall + 12
    x, top = (12.0, low) if width < 560 else (24 + wide, 76.0)
    if way == ATOMIC and left_over.part is not None:
        _file(canvas, "part", x, top, wide, tall, "pending", "the file beside it", left_over.part)
    y = top + tall + 12
    reads = {
        "completed": "✓ The next process: task 1 completed",
        "in_progress": "▶ The next process: task 1 in progress",
        None: "✗ The next process: can't read it",
    }[status]
    canvas.box("reads", 12, y, width - 24, 28, mark, [reads], says=reads)
    canvas.height = y + 36
    assumes = (
        f"one file of {size} bytes, written from its beginning in steps of {STEP}; a rename is one "
        "step of the file system; the process dies, not the power"
    )
    return Answer(_finding(moment, way, status), canvas, assumes)


def _finding(moment: int, way: str, status: str | None) -> str:
    size = len(texts()[1])
    if moment < 0:
        when = "before its first byte"
    elif moment > size:
        when = "after the last step"
    else:
        when = f"after {moment} of {size} bytes"
    end = {
        "completed": "the next process finds the task completed",
        "in_progress": "the next process finds the task as it was, in progress",
        None: "the file is torn, and the next process can't read it",
    }[status]
    how = "in place" if way == NAIVE else "beside the file"
    return f"Killed {when}, writing {how}: {end}."


def _file(
    canvas: Canvas,
    key: str,
    x: float,
    y: float,
    wide: float,
    tall: float,
    mark: str,
    name: str,
    text: str,
) -> None:
    says = f"{name}, {len(text)} bytes"
    shown = text.rstrip("\n").replace(" ", "\u00a0").split("\n")[:_LINES] if text else []
    canvas.box(key, x, y, wide, tall, mark, [f"{name} · {len(text)} bytes", *shown], "m", says=says)


def explorable() -> Explorable:
    """Kill the worker at any moment of its write."""
    size = len(texts()[1])

    def said(moment: int) -> str:
        if moment < 0:
            return "before"
        return "at the end" if moment > size else f"{moment} bytes"

    moment = drag(moments(), 6 * STEP, "the worker is killed at", said=said)
    return explore(draw, moment=moment, way=pick([NAIVE, ATOMIC], label="it writes"))
