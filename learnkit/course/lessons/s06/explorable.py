"""Lesson 6's explorable: clear old results when that frees enough. How much is enough?

A session of 36 files is calculated as :class:`learnkit.Compaction` would run it with another
least, and as the offline client would count it. A test compares both with a real run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from learnkit.course.lessons.bills import OUT, PRICE, READ, WRITE
from learnkit.course.lessons.plots import LEFT, scale
from learnkit.events.text import count
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import Canvas
from learnkit.views.drawing.plot import legend
from learnkit.widget.explore import Answer, Explorable, drag, explore

#: The session: so many files, one a turn; from so many tokens on, a summary replaces it.
FILES, THRESHOLD = 36, 8_000
#: Lengths in tokens: the system prompt with the tools, the user's request, a call, and its result
#: before and after it is cleared.
HEAD, REQUEST, CALL, RESULT, CLEARED = 550, 29, 31, 381, 29
#: The tokens of its text, which clearing counts as freed, and how many of the last results stay.
FREED, KEEP = 350, 3
#: Tokens that the model writes: a turn, and a summary; and the message that a summary becomes.
WRITTEN, SUMMARY, FIRST = 23, 407, 466
#: A request for a summary begins with instructions, and each message is so much shorter as text.
INSTRUCTIONS, AS_TEXT = 150, 20
#: What can be dragged: the least that a clearing must free, in tokens.
LEAST = range(0, 6_001, 500)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request, in tokens.

    Attributes:
        cached: read from the cache.
        new: all others that were sent.
        written: by the model.
        before: what was done before it: ``cleared``, ``summarised``, or nothing.
    """

    cached: int
    new: int
    written: int = WRITTEN
    before: str = ""

    @property
    def cost(self) -> tuple[float, float, float]:
        """What was read, what was new and what was written, in tokens of plain input."""
        # Nothing that follows begins like a request for a summary, so that it isn't cached.
        rate = 1 if self.before == "summarised" else WRITE
        return self.cached * READ, self.new * rate, self.written * OUT


@cache
def session(least: int) -> tuple[Sent, ...]:
    """Every request of the session, those for summaries among them."""
    parts = [HEAD, REQUEST]
    results: list[int] = []  # where in the parts results stand that aren't cleared
    sent, known = [], 0  # tokens from the start on that the cache holds
    for _ in range(FILES + 1):
        before, old = "", results[: max(len(results) - KEEP, 0)]
        freed, total = len(old) * FREED, sum(parts)
        if old and freed >= least and not total - freed > THRESHOLD:
            before, known = "cleared", sum(parts[: old[0]])
            for place in old:
                parts[place] = CLEARED
            results = results[len(old) :]
        if sum(parts) > THRESHOLD:
            text = INSTRUCTIONS + sum(part - AS_TEXT for part in parts[1:-2])
            sent.append(Sent(0, text, SUMMARY, "summarised"))
            parts = [HEAD, FIRST, *parts[-2:]]
            results, known, before = [3], 0, ""
        sent.append(Sent(known, sum(parts) - known, before=before))
        known = sum(parts)
        parts += [CALL, RESULT]
        results.append(len(parts) - 1)
    return tuple(sent)


@cache
def bill(least: int) -> tuple[float, float, float]:
    """What a hundred sessions cost for reading, new tokens and output, in dollars."""
    read, new, written = zip(*(one.cost for one in session(least)), strict=True)
    dollars = 100 * PRICE.input / 1_000_000
    return dollars * sum(read), dollars * sum(new), dollars * sum(written)


def cheapest() -> int:
    """The choice at which the session costs least."""
    return min(LEAST, key=lambda least: sum(bill(least)))


def draw(width: float, least: int) -> Answer:
    """The requests of the session, and below them the bill for every value of the cause."""
    canvas = Canvas(width)
    slots = max(len(session(one)) for one in LEAST)
    _sawtooth(canvas, session(least), (width - LEFT) / slots, width)
    _bills(canvas, least, width)
    half = (width - LEFT) / len(LEAST) / 2
    axis = LEFT + half, _BILL_BASE, width - half, _BILL_BASE
    return Answer(_finding(least), canvas, _assumes(), _because(least), axis)


def explorable() -> Explorable:
    """The saw-tooth and the bill, with the least that clearing must free to drag."""
    label = "clear only when it frees at least"
    return explore(draw, least=drag(LEAST, 2_000, label, unit="tokens"))


def _finding(least: int) -> str:
    now = _cost(least)
    if least == 0:
        return f"Clearing every turn costs {now} for a hundred sessions."
    if not _done(least, "cleared"):
        return f"Clearing never frees {least:,} tokens here. Summaries alone cost {now}."
    if least == cheapest():
        return f"Clearing at least {least:,} tokens at a time is the cheapest choice: {now}."
    return f"Clearing at least {least:,} tokens at a time costs {now}."


def _because(least: int) -> str:
    best = cheapest()
    costs = f"The cheapest choice, {best:,}, costs {_cost(best)}; clearing every turn, {_cost(0)}."
    return f"{_reason(least)} {costs}"


def _reason(least: int) -> str:
    done = _done(least, "cleared")
    clearings = count(done, "clearing")
    if summaries := _done(least, "summarised"):
        more = "one more request" if summaries == 1 else f"{summaries} more requests"
        return (
            f"With {clearings if done else 'no clearing'}, the conversation passes "
            f"{THRESHOLD:,} tokens, and summaries take {more} that read nothing from the cache."
        )
    if least < cheapest():
        return (
            f"Each of {clearings} changes an early message, so everything after it is written to "
            "the cache again."
        )
    if least > cheapest():
        return f"Only {clearings} break the cache, but each request carries old results for longer."
    return f"Only {clearings} break the cache, and the conversation never needs a summary."


def _assumes() -> str:
    return (
        f"simulated: {FILES} files, one a turn. In tokens: system prompt and tools {HEAD}, request "
        f"{REQUEST}, call {CALL}, result {RESULT} or, once cleared, {CLEARED} "
        f"(clearing counts {FREED} as freed; the last {KEEP} stay), {WRITTEN} written in a turn. "
        f"Above {THRESHOLD:,}, a summary of {SUMMARY} becomes a message of {FIRST}; the request "
        f"for it has {INSTRUCTIONS} tokens of instructions, and the messages as text, each "
        f"{AS_TEXT} shorter. "
        f"Every prefix is cached (the API caches none below a minimum, which depends on the "
        f"model). The bill is for a hundred sessions at the default model's prices: "
        f"${PRICE.input:g} for a million tokens of plain input, {READ:g} of that for tokens read "
        f"from the cache, {WRITE:g} for those written to it, and {OUT:g} for output."
    )


#: The heights of the two pictures, from their upper edge to their 0, in pixels.
_TOP, _BASE, _BILL_TOP, _BILL_BASE = 52, 192, 250, 360


def _sawtooth(canvas: Canvas, sent: tuple[Sent, ...], step: float, right: float) -> None:
    unit = (_BASE - _TOP) / THRESHOLD
    canvas.text("sent with", 0, 12, "tokens sent with each request", "b")
    legend(canvas, 0, 18, [(mark.key, mark.word) for mark in (theme.CACHED, theme.FRESH)])
    scale(canvas, "sent", range(0, THRESHOLD + 1, 2_000), _BASE, unit, right)
    for number, one in enumerate(sent):
        x = LEFT + number * step + 1
        whole, cached = (round(tokens * unit) for tokens in (one.cached + one.new, one.cached))
        canvas.bar(f"c{number}", x, _BASE - cached, step - 2, cached, "cached")
        canvas.bar(f"n{number}", x, _BASE - whole, step - 2, whole - cached, "fresh")
        if one.before == "summarised":
            canvas.text(f"s{number}", x + step - 2, _TOP - 6, "summary", "qe")


def _bills(canvas: Canvas, least: int, right: float) -> None:
    top, step = 30, (right - LEFT) / len(LEAST)
    unit = (_BILL_BASE - _BILL_TOP) / top
    canvas.text("bill in", 0, _BILL_TOP - 14, "dollars for a hundred sessions", "b")
    canvas.bar("key output", right - 56, _BILL_TOP - 23, 10, 10, theme.OUTPUT.key)
    canvas.text("key of output", right - 42, _BILL_TOP - 14, theme.OUTPUT.word, "q")
    scale(canvas, "bill", range(0, top + 1, 10), _BILL_BASE, unit, right, "${:g}".format)
    for number, one in enumerate(LEAST):
        x, y, chosen = LEFT + number * step + 2, _BILL_BASE, one == least
        parts = zip(("cached", "fresh", "output"), bill(one), strict=True)
        for mark, cost in parts if chosen else [("", sum(bill(one)))]:
            high = round(cost * unit)
            y -= high
            canvas.bar(f"{mark} {one}", x, y, step - 4, high, mark)
        if chosen:
            middle = x + (step - 4) / 2
            says = _cost(one) if step > 40 else f"${sum(bill(one)):.0f}"
            canvas.text("now", middle, y - 5, says, "bc", "cause", width=60)
            canvas.text("cause", middle, _BILL_BASE + 16, _portion(one), "bc", "cause")
        elif step > 40 or (number % 2 == 0 and abs(one - least) > 500):
            canvas.text(f"least {one}", x + (step - 4) / 2, _BILL_BASE + 16, _portion(one), "qc")
    best = LEFT + (LEAST.index(cheapest()) + 0.5) * step
    canvas.text("best", best, _BILL_BASE + 32, "▲", "bc")
    canvas.text("cheapest", best + 8, _BILL_BASE + 32, "cheapest", "b")
    canvas.height = _BILL_BASE + 38


def _portion(least: int) -> str:
    """The least that a clearing must free, for the axis."""
    return f"{least / 1000:g}k" if least else "0"


def _done(least: int, what: str) -> int:
    return [one.before for one in session(least)].count(what)


def _cost(least: int) -> str:
    return f"${sum(bill(least)):.2f}"
