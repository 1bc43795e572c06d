"""Lesson 4's explorable: files read by one agent, or by a subagent each. Who carries what?

The lengths and the cost of all requests are worked out; a test compares them with real runs of
:class:`learnkit.Subagents`, by the offline client's counts, the price table and its clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from learnkit.course.lessons.bills import READ, WRITE
from learnkit.course.lessons.plots import LEFT, legend, scale, short
from learnkit.events.text import count
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore

#: What can be dragged, and chosen.
FILES, WAYS = range(1, 13), ("alone", "series", "parallel")
#: The first request in tokens: system prompt, tools and what is asked; by who sends it.
ALONE, PARENT, CHILD = 499, 749, 554
#: Tokens of a call that reads a file, of the file, of a call that hands it out, and of its report.
CALL, FILE, TASK, REPORT = 32, 630, 51, 41
#: Tokens by which each further task in one reply, with its report, is shorter.
LESS = 15.5
#: How many children run side by side, and the seconds that a reply takes.
BESIDE, SECONDS = 3, 1


@dataclass(frozen=True, slots=True)
class Context:
    """The longest request of an agent: tokens of its prompt and tools, calls and results."""

    prompt: float
    calls: float = 0
    results: float = 0

    @property
    def tokens(self) -> float:
        """All of it."""
        return self.prompt + self.calls + self.results


@dataclass(frozen=True, slots=True)
class Run:
    """What a run comes to.

    Attributes:
        own: the longest request of the agent that was asked.
        child: the longest request of each child; None without children.
        sent: tokens of all requests of all agents together.
        cost: of these, in tokens of plain input. An agent writes each of its tokens to the cache
            once, and reads it from there in every later request.
        seconds: from the question to the answer.
    """

    own: Context
    child: Context | None
    sent: float
    cost: float
    seconds: int


@cache
def run(files: int, way: str) -> Run:
    """Work out a run."""
    if way == "alone":
        own = Context(ALONE, files * CALL, files * FILE)
        sent = _growing(ALONE, CALL + FILE, files)
        return Run(own, None, sent, _cost(sent, own.tokens), SECONDS * (files + 1))
    child = Context(CHILD, CALL, FILE)
    sent = files * (CHILD + child.tokens)
    if way == "series":
        own = Context(PARENT, files * TASK, files * REPORT)
        sent += _growing(PARENT, TASK + REPORT, files)
        turns = 3 * files + 1
    else:
        own = Context(PARENT, files * TASK - LESS * (files - 1), files * REPORT)
        sent += PARENT + own.tokens
        turns = 2 + 2 * -(-files // BESIDE)
    cost = _cost(sent, own.tokens + files * child.tokens)
    return Run(own, child, sent, cost, SECONDS * turns)


def _cost(sent: float, written: float) -> float:
    """What requests cost, in tokens of plain input, when all but the new tokens are cached."""
    return (sent - written) * READ + written * WRITE


def _growing(first: float, more: float, times: int) -> float:
    """All requests of an agent together, when each is longer than the one before."""
    return sum(first + number * more for number in range(times + 1))


def draw(width: float, files: int) -> Answer:
    """Who has what in context, on one scale; and below it what all requests cost."""
    canvas = Canvas(width)
    _contexts(canvas, files)
    _costs(canvas, files)
    right = width - _WAYS
    axis = LEFT + (right - LEFT) / len(FILES), _BASE, right, _BASE
    return Answer(_finding(files), canvas, _assumes(), _because(files), axis)


def explorable() -> Explorable:
    """The contexts and the costs, with the number of files to drag."""
    files = drag(FILES, 8, "files to read", said=lambda number: count(number, "file"))
    return explore(draw, files=files)


def _finding(files: int) -> str:
    alone, shared = run(files, "alone"), run(files, "parallel")
    if shared.own.tokens > alone.own.tokens:
        kept = f"The parent carries {_k(shared.own.tokens)} tokens, more than one agent alone"
    else:
        kept = f"The parent carries {_k(shared.own.tokens)} tokens, not {_k(alone.own.tokens)}"
    return f"{kept}, and all requests cost more."


def _because(files: int) -> str:
    now, alone = run(files, "parallel"), run(files, "alone")
    who = "With a subagent" if files == 1 else f"With {files} subagents"
    return (
        f"{who}, the requests cost {_k(now.cost)} ({_k(alone.cost)} alone), send {_k(now.sent)} "
        f"tokens ({_k(alone.sent)}), and take {now.seconds} s ({alone.seconds} s)."
    )


def _assumes() -> str:
    return (
        "simulated token counts. Costs are of input, in tokens of plain input: a token that is "
        f"read from the cache costs {READ:g}, and one that is written to it {WRITE:g} (the default "
        "model's prices). The first request has "
        f"{ALONE} tokens alone, {PARENT} of the parent, {CHILD} of a child. A call has {CALL} "
        f"tokens, a file {FILE}, a call of task {TASK}, and a report {REPORT}. After the first "
        f"task in a reply, each one takes {LESS:g} tokens less, its report included. One file a "
        f"turn, or a child for each file; {BESIDE} children side by side; {SECONDS} s a reply."
    )


#: Room for the names of the agents, and for those of the ways, in pixels.
_NAMES, _WAYS = 62, 64
#: Upper edges of the rows, and of the second picture and its 0, in pixels.
_ALONE, _PARENT, _CHILDREN, _EACH, _TOP, _BASE = 24, 50, 76, 10, 278, 388
_PARTS = (
    (theme.SYSTEM, "prompt, tools"),
    (theme.CALL, "calls"),
    (theme.RESULT, "results"),
)


def _contexts(canvas: Canvas, files: int) -> None:
    most = 9_000
    unit = (canvas.width - _NAMES - 34) / most
    low = _CHILDREN + _EACH * FILES[-1] + 2
    canvas.text("contexts", 0, 12, "longest request of each agent, in tokens", "b")
    for tick in range(0, most + 1, 3_000):
        x = round(_NAMES + tick * unit)
        canvas.edge(f"tick {tick}", f"M{x} {_ALONE - 4}V{low}")
        canvas.text(f"ticks {tick}", x, low + 14, short(tick), "qc")
    shared = run(files, "parallel")
    rows = [("alone", run(files, "alone").own, _ALONE, 18), ("parent", shared.own, _PARENT, 18)]
    rows += [
        (f"child {number}", shared.child or shared.own, _CHILDREN + _EACH * number, _EACH - 2)
        for number in range(files)
    ]
    for name, context, y, height in rows:
        x = _NAMES
        lengths = context.prompt, context.calls, context.results
        for (mark, word), tokens in zip(_PARTS, lengths, strict=True):
            end = round(_NAMES + (tokens + (x - _NAMES) / unit) * unit)
            canvas.bar(f"{name} {word}", x, y, end - x, height, mark.key)
            x = end
        if height > _EACH or name == "child 0":
            said, each = ("children", " each") if name == "child 0" else (name, "")
            canvas.text(name, 0, y + height / 2 + 4, said)
            canvas.text(f"{name} is", x + 5, y + height / 2 + 4, _k(context.tokens) + each, "b")
    legend(canvas, low + 24, *((mark, "", word) for mark, word in _PARTS))


def _costs(canvas: Canvas, files: int) -> None:
    most, right = 24_000, canvas.width - _WAYS
    unit, step = (_BASE - _TOP) / most, (right - LEFT) / len(FILES)
    canvas.text("all", 0, _TOP - 14, "cost, in tokens of plain input, by files", "b")
    scale(canvas, "cost", range(0, most + 1, 8_000), _BASE, unit, right)
    for tick in range(FILES[0], FILES[-1] + 1):
        place = round(LEFT + tick * step)
        canvas.edge(f"files tick {tick}", f"M{place} {_BASE}v4")
        if tick == 1 or tick % 3 == 0:
            canvas.text(f"{tick} files", place, _BASE + 17, str(tick), "qc")
    x = LEFT + files * step
    canvas.edge("cause", f"M0 0V{_BASE - _TOP}", "cause", "d", x=x, y=_TOP)
    for one in WAYS:
        spots = [
            f"{LEFT + number * step:.0f} {_BASE - run(number, one).cost * unit:.0f}"
            for number in FILES
        ]
        mark = "system" if one == "alone" else "cause"
        canvas.edge(f"{one} curve", f"M{'L'.join(spots)}", mark, "" if one == "series" else "w")
        now = _BASE - run(files, one).cost * unit
        canvas.dot(f"{one} now", x, now, 3 if one == "series" else 5, mark)
        # The lines with subagents end side by side; one name goes above, and not onto the other.
        last = _BASE - run(FILES[-1], one).cost * unit - 9 * (one == "series")
        canvas.text(f"{one} line", right + 8, last + 4, one, "", mark)
    canvas.height = _BASE + 24


def _k(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k"
