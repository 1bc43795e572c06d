"""Lesson b3's explorable: what many tools cost in each request, listed or searched for.

Bills are calculated; a test compares a schema's tokens with those of the lesson's own tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from learnkit.course.lessons.bills import OUT, READ, WRITE
from learnkit.course.lessons.plots import BASE, LEFT, NAMES, bills, cheapest, short
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

#: Tokens of a tool: its name, a description of two sentences, three arguments.
TOOL = 150
#: Turns of work, and tokens of what each turn adds; of system prompt, own tools and prompt.
TURNS, RESULT, FIRST = 8, 300, 2_000
#: Tokens of the search tool; of a call of it and what comes back; what the model writes for a call.
SEARCH, FOUND, WRITTEN = 120, 160, 30
#: How many tools a search adds, and how many tools there are at most.
ADDED, MOST = 5, 200
LISTED, SEARCHED = "listed", "searched"


def requests(tools: int, searches: int, way: str) -> Iterator[tuple[int, int]]:
    """Tokens of each request that are read from the cache, and new ones.

    What a search finds is added at the end, as the API's own tool search does it.
    """
    size = FIRST + (tools * TOOL if way == LISTED else SEARCH)
    found = 0 if way == LISTED else searches
    known = 0
    for turn in range(TURNS + found):
        yield known, size - known
        known = size
        size += FOUND + ADDED * TOOL if turn < found else RESULT


@cache
def bill(tools: int, searches: int, way: str) -> float:
    """What all requests cost, in tokens of plain input."""
    sent = requests(tools, searches, way)
    return sum(known * READ + new * WRITE + WRITTEN * OUT for known, new in sent)


def draw(width: float, tools: int, searches: str) -> Answer:
    """Draw both bills, and how far they were dragged."""
    canvas, times = Canvas(width), int(searches[0])
    ways = {way: partial(bill, searches=times, way=way) for way in (LISTED, SEARCHED)}
    axis, costs = range(0, MOST + 1, 50), range(0, 60_001, 20_000)
    bills(canvas, ways, tools, axis, "tools", costs, "searching costs less")
    listed, searched = (short(round(cost(tools))) for cost in ways.values())
    because = (
        f"Listed, they cost {listed} tokens of plain input, and {searched} with {searches}. Each "
        "search is one more request, which reads from the cache what was there before."
    )
    best = {LISTED: "have them listed", SEARCHED: "search for them"}[cheapest(ways, tools)]
    finding = f"With {tools} tools, it costs less to {best}."
    return Answer(finding, canvas, _ASSUMES, because, (LEFT, BASE, width - NAMES, BASE))


def explorable() -> Explorable:
    """The bills, with the number of tools to drag."""
    number = drag(range(0, MOST + 1, _EACH), 40, "tools of servers")
    return explore(draw, tools=number, searches=pick(("1 search", "3 searches"), label="with"))


_ASSUMES = (
    f"simulated: {TURNS} turns of work. In tokens: system prompt, own tools and prompt {FIRST:,}; "
    f"a tool {TOOL}; a turn adds {RESULT}; the search tool {SEARCH}, a search {FOUND}, and it adds "
    f"{ADDED} tools; {WRITTEN} written for a call. The cache is empty at first, and every prefix "
    f"is cached. The bill counts plain input as 1, read from the cache as {READ:g}, written to it "
    f"as {WRITE:g}, output as {OUT:g}: the default model's prices, see lk.Price."
)
#: From one place of the slider to the next.
_EACH = 5
