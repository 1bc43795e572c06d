"""Lesson 11's explorable: a task arrives while two teammates work, are idle, or are shut down.

An idle teammate looks at the board once in an interval, and shuts down when it has found nothing
for its idle limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from learnkit.course.lessons.plots import signs
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: Seconds for which each teammate has work of its own, from the beginning.
BUSY = {"alice": 6.0, "bob": 9.0}
#: Seconds that the task takes.
TASK = 6.0
#: Seconds between two looks at the board, and the idle limit; when the task may come.
HABITS = {
    f"every {every:g} s for {limit:g} s": (every, limit)
    for every, limit in ((5.0, 20.0), (2.0, 20.0), (5.0, 30.0))
}
ARRIVALS = tuple(second + 0.5 for second in range(41))
_SIGNS = (
    ("bar", "working", "works"),
    ("bar", "idle", "idle"),
    ("line", "idle", "looks"),
    ("c", "shutdown", "shuts down"),
)
At = Callable[[float], float]
#: Room for the names, the lane of the task, those of the teammates, and how tall they are.
_LEFT, _TASK, _LANES, _LANE, _TALL = 44.0, 54.0, 92.0, 46.0, 30.0


@dataclass(frozen=True, slots=True)
class Life:
    """What a teammate does, in seconds.

    Attributes:
        working: when each piece of work begins and ends.
        looks: when it looks at the board.
        shutdown: when it shuts down.
    """

    working: tuple[tuple[float, float], ...]
    looks: tuple[float, ...]
    shutdown: float


@dataclass(frozen=True, slots=True)
class Day:
    """What happens to the task.

    Attributes:
        lives: by name.
        taker: who claims the task; empty for nobody.
        claimed: when, in seconds; the arrival if nobody does.
    """

    lives: dict[str, Life]
    taker: str
    claimed: float

    @property
    def last(self) -> float:
        """When the last teammate shuts down, in seconds."""
        return max(life.shutdown for life in self.lives.values())


def _looks(begin: float, every: float, limit: float) -> tuple[float, ...]:
    """When a teammate looks that is idle from ``begin`` on; with its last look it shuts down."""
    times = [begin]
    while times[-1] < begin + limit:
        times.append(times[-1] + every)
    return tuple(times)


def day(arrival: float, every: float, limit: float) -> Day:
    """Follow both teammates until they have shut down."""
    looks = {name: _looks(begin, every, limit) for name, begin in BUSY.items()}
    chances = [(look, name) for name in BUSY for look in looks[name] if look >= arrival]
    claimed, taker = min(chances, default=(arrival, ""))
    lives = {}
    for name, begin in BUSY.items():
        working, mine = [(0.0, begin)], looks[name]
        if name == taker:
            end = claimed + TASK
            again = _looks(end, every, limit)
            working.append((claimed, end))
            mine = (*(look for look in mine if look <= claimed), *again)
        lives[name] = Life(tuple(working), mine, mine[-1])
    return Day(lives, taker, claimed)


def draw(width: float, arrival: float, habit: str) -> Answer:
    """The task and both teammates on one axis."""
    canvas = Canvas(width)
    every, limit = HABITS[habit]
    run = day(arrival, every, limit)
    room = width - _LEFT - 12
    end = max(day(one, every, limit).last for one in ARRIVALS)

    def at(time: float) -> float:
        return round(_LEFT + room * time / end)

    signs(canvas, 14, _SIGNS)
    low = _LANES + _LANE * len(BUSY)
    x = at(arrival)
    canvas.edge("arrival", f"M0 0V{low - _TASK:g}", "cause", "d", x=x, y=_TASK)
    _task(canvas, run, arrival, at)  # its arrow lies under the lanes
    for number, (name, life) in enumerate(run.lives.items()):
        _life(canvas, name, life, number + 1, at)
    for mark in range(0, int(end) + 1, 10):
        canvas.edge(f"tick {mark}", "M0 0V6", x=at(mark), y=low)
        canvas.text(f"time {mark}", at(mark), low + 18, f"{mark} s", "qc", width=40)
    canvas.height = low + 24
    busy = ", ".join(f"{name.capitalize()} until {time:g} s" for name, time in BUSY.items())
    assumes = (
        f"both are busy at first, {busy}; an idle teammate looks a last time when its "
        f"limit is over; the task suits both and takes {TASK:g} s; no message "
        "arrives; a look takes no time"
    )
    axis = at(ARRIVALS[0]), low, at(ARRIVALS[-1]), low
    because = _because(run, arrival, every, limit)
    return Answer(_finding(run, arrival), canvas, assumes, because, axis)


def _life(canvas: Canvas, name: str, life: Life, place: int, at: At) -> None:
    y = _LANES + _LANE * (place - 1)
    canvas.text(f"name {name}", 0, y + 19, name, "b", theme.agent(place).key, width=_LEFT)
    begin = life.working[0][1]
    wide = at(life.shutdown) - at(begin)
    canvas.bar(f"idle {name}", at(begin), y + 10, wide, 10, "idle", "p")
    path = "".join(f"M{at(look):g} 0V18" for look in life.looks)
    canvas.edge(f"looks {name}", path, "idle", "w", y=y + 6)
    for (begin, end), said in zip(life.working, ("busy", "task"), strict=False):
        x, wide = at(begin), at(end) - at(begin)
        says, mark = f"{name}: {said} until {end:g} s", "cause" if said == "task" else "working"
        canvas.bar(f"{said} {name}", x, y, wide, _TALL, mark, "p", says=says)
        if wide >= 36:
            canvas.text(f"says {said} {name}", x + wide / 2, y + 19, said, "cn", mark)
    says = f"{name} looks a last time, and shuts down"
    canvas.dot(f"end {name}", at(life.shutdown), y + 15, 6, "shutdown", says=says)


def _task(canvas: Canvas, run: Day, arrival: float, at: At) -> None:
    """The task from when it arrives until somebody takes it, or as a ghost where nobody does."""
    canvas.text("name task", 0, _TASK + 5, "task", "b", "cause", width=_LEFT)
    x, end = at(arrival), at(run.claimed)
    mark, place, style, said = "cause", end + 14, "", f"waits {run.claimed - arrival:g} s"
    if run.taker:
        canvas.bar("task", x, _TASK - 4, end - x, 8, "cause", "p")
        drop = _LANES + _LANE * [*BUSY].index(run.taker) - _TASK - 7
        canvas.edge("claim", f"M0 0V{drop:g}m-4 -7l4 7l4 -7", "cause", "w", x=end, y=_TASK + 4)
    else:
        mark, place, style, said = "failed", x - 14, "be", "✗ nobody takes it"
        canvas.bar("task", x, _TASK - 15, at(arrival + TASK) - x, _TALL, "failed", "pd")
    canvas.dot("here", x, _TASK, 8, mark, says=f"the task arrives at {arrival:g} s")
    canvas.text("waits", place, _TASK + 5, said, style, mark)


def _finding(run: Day, arrival: float) -> str:
    if not run.taker:
        late = arrival - run.last
        return f"Nobody takes the task: it arrives {late:g} s after the last shutdown."
    name, waits = run.taker.capitalize(), run.claimed - arrival
    gone = [one.capitalize() for one, life in run.lives.items() if life.shutdown < arrival]
    if arrival < min(BUSY.values()):
        when = f"both are busy, and {name} is done first"
    elif gone:
        when = f"{gone[0]} has shut down, and {name} looks next"
    else:
        when = f"{name} looks next"
    return f"The task waits {waits:g} s: {when}."


def _because(run: Day, arrival: float, every: float, limit: float) -> str:
    if run.taker:
        return f"An idle teammate looks at the board every {every:g} s and claims what is there."
    enough = [most for _, most in HABITS.values() if day(arrival, every, most).taker]
    if enough:
        return (
            f"Both had found nothing for {limit:g} s and shut down. With a limit of "
            f"{enough[0]:g} s one of them would have taken it."
        )
    return (
        f"Both had found nothing for {limit:g} s. None of these limits keeps them idle that long."
    )


def explorable() -> Explorable:
    """Let the task come earlier or later, and teammates that look more often, or for longer."""
    arrival = drag(ARRIVALS, 20.5, "the task arrives at", unit="s")
    habits = [*HABITS]
    return explore(draw, arrival=arrival, habit=pick(habits, label="idle teammates look"))
