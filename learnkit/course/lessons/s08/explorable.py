"""Lesson 8's explorable: when a job ends, when the model reads of it, and what waiting would cost.

An agent starts a job in its first turn, and has much, little or no other work for the next ones.
The same job in the foreground comes between its first turn and the second. So the learner finds
both: where the background saves time, and where it costs a request and saves none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: Seconds that a reply takes.
LATENCY = 2.0
#: How many requests an agent needs that has so much to do beside the job: with nothing else to do,
#: one that starts the job and one that answers.
TURNS = {"plenty": 8, "a little": 4, "nothing": 2}
#: The most of them.
MOST = max(TURNS.values())
#: Seconds that the job takes.
JOBS = tuple(2 * number + 0.5 for number in range(11))
#: The scale of the picture, in seconds: the longest serial run.
SCALE = MOST * LATENCY + JOBS[-1] + LATENCY
#: Where the axis is, in pixels.
_LOW = 218.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """A run.

    Attributes:
        requests: when each request is sent, in seconds.
        job: when the job begins and ends, in seconds.
        read: number of the request in which the model reads the job's result.
        end: when the last reply is there, in seconds.
    """

    requests: tuple[float, ...]
    job: tuple[float, float]
    read: int
    end: float


def background(seconds: float, turns: int = MOST) -> Schedule:
    """The job in the background."""
    job = LATENCY, LATENCY + seconds
    turn = math.ceil(job[1] / LATENCY)  # the first reply after its end
    requests = [LATENCY * number for number in range(turns)]
    if turn < turns:  # its result follows those of this turn
        return Schedule(tuple(requests), job, turn + 1, turns * LATENCY)
    requests.append(max(turns * LATENCY, job[1]))  # the agent has stopped, and waits for it
    return Schedule(tuple(requests), job, turns + 1, requests[-1] + LATENCY)


def foreground(seconds: float, turns: int = MOST) -> Schedule:
    """The same job as a call for which the agent waits."""
    job = LATENCY, LATENCY + seconds
    requests = (0.0, *(job[1] + LATENCY * number for number in range(turns - 1)))
    return Schedule(requests, job, 2, turns * LATENCY + seconds)


def draw(width: float, seconds: float, other_work: str = "plenty") -> Answer:
    """Both runs on one axis."""
    canvas = Canvas(width)
    turns = TURNS[other_work]
    one, other = background(seconds, turns), foreground(seconds, turns)
    canvas.text("legend", 0, 12, "blue: the request that reads the result", "q")
    end = width * one.job[1] / SCALE
    canvas.edge("end", f"M0 0V20M0 42V{_LOW - 98:g}", "cause", "d", x=end, y=98)
    _row(canvas, "background", one, 50)
    _row(canvas, "foreground", other, 142)
    saved = other.end - one.end
    if saved > 0:
        x, wide = width * one.end / SCALE, width * saved / SCALE
        canvas.edge("gain", f"M0 -5v10m0 -5H{wide:g}m0 -5v10", "done", x=x, y=63)
        spot, style = (wide / 2, "bc") if wide > 44 else (wide + 6, "b")
        canvas.text("say gain", x + spot, 57 if wide > 44 else 67, f"{saved:g} s", style, "done")
    for mark in range(0, int(SCALE) + 1, 10):
        x = width * mark / SCALE
        canvas.edge(f"tick {mark}", "M0 0V6", x=x, y=_LOW)
        canvas.text(f"time {mark}", x, _LOW + 18, f"{mark} s", "q" if mark == 0 else "qc", width=40)
    canvas.height = _LOW + 24
    turn = one.read - 1
    late = one.job[1] - turns * LATENCY
    if one.read > turns and late > 0:
        ends = f"The job ends {late:g} s after the agent's other turns"
    else:
        ends = f"The job ends during request {turn}"
    read = "one request more" if one.read > turns else f"request {one.read}"
    waits = "" if saved > 0 else " The agent waits in both, and the late result costs a request."
    needs = ", ".join(f"{number} with {much}" for much, number in TURNS.items())
    assumes = (
        f"each reply takes {LATENCY:g} s; requests that the agent needs: {needs} to do beside the "
        "job; every other call takes no time"
    )
    first, last = (width * (LATENCY + job) / SCALE for job in (JOBS[0], JOBS[-1]))
    because = f"{ends}, and its result is read in {read}.{waits}"
    return Answer(_finding(saved), canvas, assumes, because, (first, _LOW, last, _LOW))


def _finding(saved: float) -> str:
    if not saved:
        return "In the background the run takes just as long."
    return f"In the background the run is {abs(saved):g} s {'shorter' if saved > 0 else 'longer'}."


def _row(canvas: Canvas, name: str, run: Schedule, y: float) -> None:
    def at(seconds: float) -> float:
        return canvas.width * seconds / SCALE

    canvas.text(f"name {name}", 0, y - 10, f"in the {name}: {run.end:g} s", "b")
    if name == "foreground":  # what is not done while the agent waits
        x, wide = at(run.job[0]), at(run.job[1]) - at(run.job[0])
        canvas.box("waits", x, y, wide - 2, 26, style="d")
        if wide > 40:
            says = "the agent waits" if wide > 104 else "waits"
            canvas.text("is waits", x + wide / 2, y + 17, says, "qcn", width=wide)
    for number, begin in enumerate(run.requests, start=1):
        reads = number == run.read
        wide = at(begin + LATENCY) - at(begin)
        mark = "cause" if reads else "assistant"
        key = f"{name} {number}"
        says = f"request {number}, {begin:g} s{': reads the result' if reads else ''}"
        canvas.bar(key, at(begin), y, wide - 2, 26, mark, "p", says=says)
        if wide >= 14:
            canvas.text(
                f"n {key}", at(begin) + wide / 2, y + 17, str(number), "cn", mark, width=wide
            )
    begin, end = run.job
    wide = at(end) - at(begin)
    canvas.bar(
        f"job {name}",
        at(begin),
        y + 34,
        wide,
        14,
        "done",
        "p",
        says=f"the job, {end - begin:g} s",
    )
    if wide >= 30:
        canvas.text(f"is job {name}", at(begin) + wide / 2, y + 45, "job", "cn", "done")
    read = at(run.requests[run.read - 1])
    path = f"M0 0H{read + 5 - at(end):g}V-13m-4 7l4 -7l4 7"
    canvas.edge(f"way {name}", path, "cause", "w", x=at(end), y=y + 41)


def explorable() -> Explorable:
    """Let the job take longer, and give the agent less to do beside it."""
    beside = pick([*TURNS], label="the agent's other work")
    return explore(draw, seconds=drag(JOBS, 6.5, "the job takes", unit="s"), other_work=beside)
