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
    room = width - 16
    _row(canvas, "background", one, 26, room)
    _row(canvas, "foreground", other, 128, room)
    for mark in range(0, int(SCALE) + 1, 10):
        x = 8 + room * mark / SCALE
        canvas.edge(f"tick {mark}", "M0 0V6", x=x, y=212)
        canvas.text(f"time {mark}", x, 230, f"{mark} s", "q" if mark == 0 else "qc", width=40)
    words = "boxes: requests (blue: reads the result)"
    canvas.text("legend", 8, 252, words, "q", width=room)
    canvas.height = 260
    saved = other.end - one.end
    late = one.read > turns
    turn = one.read - 1
    read = "one request more" if late else f"request {one.read}"
    if late and one.job[1] > turns * LATENCY:
        ends = f"The job ends {one.job[1] - turns * LATENCY:g} s after the agent's other turns"
    else:
        ends = f"The job ends during request {turn}"
    if saved > 0:
        cost = f"in the foreground the run takes {saved:g} s longer"
    elif saved < 0:
        cost = f"in the foreground the run is {-saved:g} s shorter"
    else:
        cost = "in the foreground the run takes just as long"
    needs = ", ".join(f"{number} with {much}" for much, number in TURNS.items())
    assumes = (
        f"each reply takes {LATENCY:g} s; requests that the agent needs: {needs} to do beside the "
        "job; every other call takes no time"
    )
    because = "" if saved > 0 else "The agent waits in both, and the late result costs a request."
    return Answer(f"{ends}; its result is read in {read}; {cost}.", canvas, assumes, because)


def _row(canvas: Canvas, name: str, run: Schedule, y: float, room: float) -> None:
    def at(seconds: float) -> float:
        return 8 + room * seconds / SCALE

    total = f"in the {name}: {run.end:g} s"
    canvas.text(f"name {name}", 8, y - 10, total, "b", width=room)
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
