"""Lesson 5's explorable: preload all skills, load on demand, or preload the few that are used most.

Contexts and bills are calculated. A test compares them with real runs of :class:`learnkit.Skills`
on the lesson's manuals, as the offline client counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from learnkit.course.lessons.bills import OUT, READ, WRITE
from learnkit.course.lessons.plots import LEFT, legend, scale, short
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore

#: How many skills there are, how many the mixed strategy preloads, and how many turns the work has.
SKILLS, FEW, TURNS = 20, 10, 8
#: The ways, and how many skills are preloaded in each.
WAYS = {"preload all": SKILLS, "on demand": 0, f"preload {FEW}": FEW}
#: The first request in tokens: system prompt with the catalogue, tools, and what is asked; and what
#: it has more for each skill that is preloaded.
FIRST, PRELOADED = 2_241, 5_013
#: Tokens of a call that loads a skill, and of what comes back; of a call of the work, and of what
#: comes back; and what the model writes in a turn.
LOAD, LOADED, CALL, RESULT, WRITTEN = 32, 5_103, 29, 245, 21


def requests(used: int, preloaded: int) -> Iterator[tuple[int, int]]:
    """Tokens read from the cache, and new ones, of each request."""
    known, new = 0, FIRST + preloaded * PRELOADED
    loads = max(used - preloaded, 0)
    yield known, new
    for more in [LOAD + LOADED] * loads + [CALL + RESULT] * (TURNS - 1):
        known, new = known + new, more
        yield known, new


@cache
def bill(used: int, preloaded: int) -> float:
    """What all requests cost, in tokens of plain input; nothing is cached before the first one."""
    sent = requests(used, preloaded)
    return sum(known * READ + new * WRITE + WRITTEN * OUT for known, new in sent)


def context(used: int, preloaded: int) -> tuple[int, int, int, int]:
    """The last request: prompt and tools, instructions that are used, others, and the work."""
    loads = max(used - preloaded, 0)
    needed = min(used, preloaded) * PRELOADED + loads * LOADED
    idle = max(preloaded - used, 0) * PRELOADED
    return FIRST, needed, idle, loads * LOAD + (TURNS - 1) * (CALL + RESULT)


def cheapest(used: int) -> str:
    """The way that costs least."""
    return min(WAYS, key=lambda way: bill(used, WAYS[way]))


def crossings() -> Iterator[tuple[int, str, float]]:
    """Find where another way becomes the cheapest one."""
    for used in range(1, SKILLS + 1):
        before, after = cheapest(used - 1), cheapest(used)
        if before != after:
            left, right = (
                bill(number, WAYS[after]) - bill(number, WAYS[before])
                for number in (used - 1, used)
            )
            yield used, after, used - 1 + left / (left - right)


def draw(width: float, used: int) -> Answer:
    """Draw the longest request of each way, on one scale; and below it the bills."""
    canvas = Canvas(width)
    best = cheapest(used)
    _contexts(canvas, used, best)
    _bills(canvas, used, best)
    axis = LEFT, _BASE, width - _WAYS, _BASE
    return Answer(_finding(used, best), canvas, _assumes(), _because(used, best), axis)


def explorable() -> Explorable:
    """The contexts and the bills, with the number of skills that are used to drag."""
    said = f"{{}} of {SKILLS}".format
    return explore(draw, used=drag(range(SKILLS + 1), 12, "skills used", said=said))


def _finding(used: int, best: str) -> str:
    skills = "1 skill" if used == 1 else f"{used} skills"
    return f"With {skills} used, {_NAMED[best]} costs least."


def _costs(used: int, best: str) -> str:
    costs = {way: f"{bill(used, number) / 1000:.1f}k" for way, number in WAYS.items()}
    others = " and ".join(f"{cost} for {_NAMED[way]}" for way, cost in costs.items() if way != best)
    return f"It costs {costs[best]} tokens of plain input, against {others}."


def _because(used: int, best: str) -> str:
    costs = _costs(used, best)
    tokens, most = (short(sum(context(used, WAYS[way]))) for way in (best, "preload all"))
    instead = "" if best == "preload all" else f" The longest request has {tokens}, not {most}."
    if best == "on demand":
        return f"{costs} Instructions that the work doesn't need are never sent.{instead}"
    if best == "preload all":
        return (
            f"{costs} On demand, loading takes {used} more requests, and each of them sends "
            "everything before it again."
        )
    saved = 1 - bill(used, FEW) / bill(used, 0)
    return (
        f"{costs} The {min(used, FEW)} that are needed anyway take no request of their own. That "
        f"saves {saved:.0%} against loading on demand.{instead}"
    )


def _assumes() -> str:
    return (
        f"simulated: {TURNS} turns of work, and one more turn for each skill that is loaded; the "
        f"{FEW} preloaded skills are the first ones that are used. In tokens: system prompt, tools "
        f"and request {FIRST:,}; each of {SKILLS} skills {PRELOADED:,} when it is preloaded, "
        f"and {LOADED:,} when it is loaded, by a call of {LOAD}; a call of "
        f"the work {CALL}, its result {RESULT}; {WRITTEN} written in a turn. The cache is empty at "
        f"first, and every prefix is cached (the API caches none below a minimum, which depends on "
        f"the model). The bill counts plain input as 1, read from the cache as {READ:g}, written "
        f"to it as {WRITE:g}, output as {OUT:g}: the default model's prices, see lk.Price."
    )


_NAMED = {
    "preload all": "preloading all",
    "on demand": "loading on demand",
    f"preload {FEW}": f"preloading {FEW}",
}
#: Room for the names of the ways, on both sides, in pixels.
_NAMES, _WAYS = 78, 88
#: Upper edges of the rows, of the second picture, and its 0, in pixels.
_ROWS, _EACH, _TOP, _BASE = 24, 26, 240, 424
_PARTS = (
    (theme.SYSTEM, "", "catalogue, tools"),
    (theme.RESULT, "", "used"),
    (theme.RESULT, "p", "not used"),
    (theme.CALL, "", "work"),
)


def _contexts(canvas: Canvas, used: int, best: str) -> None:
    most = 110_000
    unit = (canvas.width - _NAMES - 40) / most
    low = _ROWS + _EACH * len(WAYS)
    canvas.text("contexts", 0, 12, "longest request, in tokens", "b")
    for tick in range(0, most, 50_000):
        x = round(_NAMES + tick * unit)
        canvas.edge(f"tick {tick}", f"M{x} {_ROWS - 4}V{low}")
        canvas.text(f"ticks {tick}", x, low + 14, short(tick), "qc")
    for row, (way, preloaded) in enumerate(WAYS.items()):
        y, x, tokens = _ROWS + row * _EACH, _NAMES, 0
        for (mark, style, word), part in zip(_PARTS, context(used, preloaded), strict=True):
            tokens += part
            end = round(_NAMES + tokens * unit)
            canvas.bar(f"{row} {word}", x, y, end - x, 18, mark.key, style)
            x = end
        bold = "b" if way == best else "q"
        canvas.text(f"{row} is", 0, y + 13, way, bold)
        canvas.text(f"{row} has", x + 5, y + 13, short(tokens), bold)
    legend(canvas, low + 24, *_PARTS)


def _some(way: str) -> bool:
    """Whether some of the skills are preloaded, not none and not all."""
    return 0 < WAYS[way] < SKILLS


def _bills(canvas: Canvas, used: int, best: str) -> None:
    most, right = 240_000, canvas.width - _WAYS
    unit, step = (_BASE - _TOP) / most, (right - LEFT) / SKILLS
    canvas.text("bill in", 0, _TOP - 64, "bill, in tokens of plain input", "b")
    scale(canvas, "bill", range(0, most + 1, 80_000), _BASE, unit, right)
    x = LEFT + used * step
    canvas.edge("cause", f"M0 0V{_BASE - _TOP}", "cause", "d", x=x, y=_TOP)
    for number in range(0, SKILLS + 1, 5):
        place = LEFT + number * step
        canvas.edge(f"used line {number}", f"M{place:g} {_BASE}V{_BASE + 5}")
        canvas.text(f"used tick {number}", place, _BASE + 18, str(number), "qc")
    canvas.text("used of", right + 18, _BASE + 18, "skills", "q")
    for way in sorted(WAYS, key=lambda way: (_some(way), way == best)):
        row, costs = [*WAYS].index(way), [bill(number, WAYS[way]) for number in range(SKILLS + 1)]
        spots = [
            f"{LEFT + number * step:.0f} {_BASE - cost * unit:.0f}"
            for number, cost in enumerate(costs)
        ]
        mark = "cause" if way == best else "system"
        style = ("w" if way == best else "") + ("d" if _some(way) else "")
        canvas.edge(f"{row} curve", f"M{'L'.join(spots)}", mark, style)
        canvas.dot(f"{row} now", x, _BASE - costs[used] * unit, 5 if way == best else 3, mark)
    low = 0.0  # two names never share a line
    for way in sorted(WAYS, key=lambda way: -bill(SKILLS, WAYS[way])):
        low = max(low + 14, _BASE - bill(SKILLS, WAYS[way]) * unit + 4)
        look = ("b", "cause") if way == best else ("q", "system")
        canvas.text(f"{[*WAYS].index(way)} line", right + 8, low, way, *look)
    y = _TOP - 40
    for first, way, place in crossings():
        cost = bill(first - 1, WAYS[way]) * (first - place)
        cost += bill(first, WAYS[way]) * (place - first + 1)
        at = LEFT + place * step, _BASE - cost * unit
        canvas.dot(f"crossing {first}", *at, 9, glyph=str(first))
        canvas.dot(f"crossing key {first}", 9, y - 4, 9, glyph=str(first))
        canvas.text(
            f"crossing of {first}", 24, y, f"from {first} skills on, {way} costs least", "q"
        )
        y += 22
    canvas.height = _BASE + 24
