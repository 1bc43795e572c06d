"""Lesson 7's explorable: kill a worker while it marks a task as completed.

The moment of the kill and the way to write (in place, or beside the file with a rename at the end)
decide what the next process reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache

from learnkit.backends.task import Task
from learnkit.events.text import one_line
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.widget.explore import Answer, Explorable, drag, explore

NAIVE, ATOMIC = "write in place", "write beside, then rename"
#: Bytes between two moments of the write.
STEP = 8
_TASK = Task(1, "parse the readings", status="in_progress", owner="alice")


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


def draw(width: float, moment: int) -> Answer:
    """Both ways to write below the moment of the kill, and what the next process reads."""
    canvas, size = Canvas(width), len(texts()[1])
    first, last = 8.0, width - 8
    every = moments()

    def at(moment: int) -> float:
        return first + (last - first) * every.index(moment) / (len(every) - 1)

    x = at(moment)
    line = f"M0 0V14M0 36V66M0 90V102M0 124V{_LOW - 18:g}"  # around what is written at the edge
    side = "e" if x > width / 2 else ""
    canvas.text("say kill", x - 12 if side else x + 12, 14, "killed here", f"b{side}", "cause")
    canvas.dot("here", x, 10, 6, "cause", says=_when(moment))
    for way, y in ((NAIVE, 48.0), (ATOMIC, 136.0)):
        left = disk(moment, way)
        mark, says = _READ[found(left.file)]
        canvas.text(way, 0, y, way, "b")
        canvas.text(f"reads {way}", width, y, says, "be", mark)
        end = at(size) if found(left.file) else at(moment)
        _file(canvas, f"file {way}", y + 10, (at(0), end, at(size)), mark, "task_1.json", x)
        if way == NAIVE:
            canvas.text("tail", 0, y + 52, f"task_1.json: {_tail(left.file)}", "mq", width=width)
            continue
        # Without a part it isn't there yet, or has taken the other's name.
        end, name = (at(0), "") if left.part is None else (at(moment), "the file beside it")
        _file(canvas, "part", y + 40, (at(0), end, at(size)), "pending", name)
    canvas.edge("kill", line, "cause", "w", x=x, y=18)
    canvas.edge("ticks", f"M{at(0):g} 0v6M{at(size):g} 0v6", y=_LOW)
    canvas.text("say before", first, _LOW + 18, "before", "q")
    canvas.text("say bytes", width / 2, _LOW + 18, f"{size} bytes are written", "qc")
    canvas.text("say after", last, _LOW + 18, "renamed", "qe")
    canvas.height = _LOW + 24
    assumes = (
        f"one file of {size} bytes, written from its beginning in steps of {STEP}; a rename is one "
        "step of the file system; the process dies, not the power"
    )
    axis = first, _LOW, last, _LOW
    return Answer(_finding(moment), canvas, assumes, _because(moment), axis)


def _file(
    canvas: Canvas,
    key: str,
    y: float,
    ends: tuple[float, float, float],
    mark: str,
    name: str,
    kill: float = 0,
) -> None:
    """A file as long as what is written of it; the rest is a ghost."""
    begin, end, whole = ends
    canvas.box(f"ghost of {key}", begin, y, whole - begin, 24, style="d")
    canvas.bar(key, begin, y, end - begin, 24, mark, "p", says=name)
    if name and end - begin > text_width(name) + 16:
        left = kill if begin < kill < begin + text_width(name) + 16 else begin
        canvas.text(f"name of {key}", left + 8, y + 16, name, "n", mark)


def _tail(text: str) -> str:
    """The status that a file holds, or how its text ends."""
    if not text:
        return "(empty)"
    status = found(text)
    return f'"status": "{status}"' if status else f"…{one_line(text[-18:])} ✂"


def _when(moment: int) -> str:
    size = len(texts()[1])
    if moment < 0:
        return "before the first byte"
    return "after the rename" if moment > size else f"after {moment} of {size} bytes"


def _finding(moment: int) -> str:
    statuses = {found(disk(moment, way).file) for way in (NAIVE, ATOMIC)}
    if None in statuses:
        return "Written in place: torn. Written beside, then renamed: whole."
    if len(statuses) == 2:
        return "Written in place: new. Written beside, not yet renamed: still the old one."
    return f"Killed {_when(moment)}: both files are whole."


def _because(moment: int) -> str:
    size = len(texts()[1])
    if moment < 0:
        return "Nothing is written yet, and the next process finds the task in progress."
    if moment > size:
        return "Everything is written, and the next process finds the task completed."
    return (
        f"Killed {_when(moment)}. A rename is one step: until then, the next process finds the old "
        "file."
    )


#: What the next process finds: its mark, and in a few words.
_READ = {
    "completed": ("done", "✓ completed"),
    "in_progress": ("active", "▶ in progress"),
    None: ("failed", "✗ can't be read"),
}
_LOW = 224.0


def explorable() -> Explorable:
    """Kill the worker at any moment of its write, in place and beside the file."""
    return explore(draw, moment=drag(moments(), 64, "the worker is killed", said=_when))
