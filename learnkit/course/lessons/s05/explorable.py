"""Lesson 5's explorable: preload all skills, or load those that are needed.

Bills are calculated. A test compares them with real runs of :class:`learnkit.Skills` on the
lesson's manuals, as the offline client counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from learnkit.course.lessons.bills import OUT, READ, WRITE
from learnkit.course.lessons.plots import BASE, LEFT, NAMES, bills, cheapest
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: How many skills there are, and how many turns the work has.
SKILLS, TURNS = 20, 8
#: When skills are loaded: each by a reply of its own, or all beside the first call of the work.
ALONE, BESIDE = "one by one", "beside other calls"
#: The ways, and how many skills are preloaded in each.
WAYS = {"preload": SKILLS, "on demand": 0}
#: The first request in tokens: system prompt with the catalogue, tools, and what is asked; and what
#: it has more for each skill that is preloaded.
FIRST, PRELOADED = 2_241, 5_013
#: Tokens of a call that loads a skill, and of what comes back; of a call of the work, and of what
#: comes back; and what the model writes for a call.
LOAD, LOADED, CALL, RESULT, WRITTEN = 32, 5_103, 29, 245, 21


def requests(used: int, preloaded: int, loads: str) -> Iterator[tuple[int, int, int]]:
    """Tokens of each request read from the cache, and new ones; and how many calls the reply has.

    The last reply is a text, which is as long as a call.
    """
    needed = max(used - preloaded, 0)
    calls = [1] * needed if loads == ALONE else []
    work = [1] * TURNS
    work[0] += 0 if loads == ALONE else needed
    known, new = 0, FIRST + preloaded * PRELOADED
    for turn, count in enumerate([*calls, *work]):
        yield known, new, count
        known += new
        loaded = 1 if turn < len(calls) else count - 1
        new = loaded * (LOAD + LOADED) + (count - loaded) * (CALL + RESULT)


@cache
def bill(used: int, preloaded: int, loads: str) -> float:
    """What all requests cost, in tokens of plain input; nothing is cached before the first one."""
    sent = requests(used, preloaded, loads)
    return sum(known * READ + new * WRITE + calls * WRITTEN * OUT for known, new, calls in sent)


def draw(width: float, used: int, loads: str) -> Answer:
    """Draw the bills, and how far they were dragged."""
    canvas = Canvas(width)
    ways = {way: partial(bill, preloaded=n, loads=loads) for way, n in WAYS.items()}
    axis, costs = range(0, SKILLS + 1, 5), range(0, 240_001, 80_000)
    bills(canvas, ways, used, axis, "skills", costs, "preloading costs least")
    best, line = cheapest(ways, used), (LEFT, BASE, width - NAMES, BASE)
    return Answer(_finding(used, best), canvas, _assumes(), _because(used, loads, best), line)


def explorable() -> Explorable:
    """The bills, with the number of skills that are used to drag."""
    said = f"{{}} of {SKILLS}".format
    number = drag(range(SKILLS + 1), 10, "skills used", said=said)
    return explore(draw, used=number, loads=pick((ALONE, BESIDE), label="skills are loaded"))


def _finding(used: int, best: str) -> str:
    skills = "1 skill" if used == 1 else f"{used} skills"
    return f"With {skills} used, {_NAMED[best]} costs least."


def _because(used: int, loads: str, best: str) -> str:
    costs = {way: f"{bill(used, number, loads) / 1000:.1f}k" for way, number in WAYS.items()}
    other = next(way for way in WAYS if way != best)
    extra = used if loads == ALONE else 0
    return (
        f"It costs {costs[best]} tokens of plain input, against {costs[other]}. Loading takes "
        f"{extra or 'no'} request{'' if extra == 1 else 's'} more."
    )


def _assumes() -> str:
    return (
        f"simulated: {TURNS} turns of work, and one more turn for each skill that is loaded "
        f"one by one. In tokens: system prompt, tools and request {FIRST:,}; each of {SKILLS} "
        f"skills {PRELOADED:,} when it is preloaded, and {LOADED:,} when it is loaded, by a "
        f"call of {LOAD}; a call of the work {CALL}, its result {RESULT}; {WRITTEN} written "
        f"for a call. The cache is empty at first, and every prefix is cached (the API caches "
        f"none below a minimum, which depends on the model). The bill counts plain input as 1,"
        f" read from the cache as {READ:g}, written to it as {WRITE:g}, output as {OUT:g}: the"
        f" default model's prices, see lk.Price."
    )


_NAMED = {"preload": "preloading all", "on demand": "loading on demand"}
