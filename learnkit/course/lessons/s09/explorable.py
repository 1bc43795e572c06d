"""Lesson 9's explorable: two agents write to an inbox while its owner reads and empties it.

Their four steps can happen in twelve orders. A message that arrives between the owner's two steps
is lost, unless a lock makes them one step. It opens on an order that loses nothing, and says which
messages are lost, but not why: that is for the learner to find by dragging.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from learnkit.events.text import count, listed
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

UNLOCKED, LOCKED = "read, then empty", "both under one lock"
READ, EMPTY = "read", "empty"
WRITERS = ("bob", "carol")
OWNER = "alice"
#: Every order of the steps in which the owner reads before it empties: those with most steps
#: between the two come last.
ORDERS = tuple(
    sorted(
        (
            order
            for order in permutations((*WRITERS, READ, EMPTY))
            if order.index(READ) < order.index(EMPTY)
        ),
        key=lambda order: order.index(EMPTY) - order.index(READ),
    )
)


@dataclass(frozen=True, slots=True)
class Moment:
    """One step, and the inbox after it.

    Attributes:
        step: who writes, or :data:`READ` or :data:`EMPTY`.
        inbox: whose messages are in it.
        waited: whether the step had to wait for the lock.
    """

    step: str
    inbox: tuple[str, ...]
    waited: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """What happens in one order of the steps.

    Attributes:
        moments: the steps as they happen.
        got: whose messages the owner has read.
        lost: whose messages are neither read nor in the inbox.
    """

    moments: tuple[Moment, ...]
    got: tuple[str, ...]
    lost: tuple[str, ...]


def day(order: tuple[str, ...], way: str) -> Day:
    """Play the steps in an order."""
    waited: set[str] = set()
    if way == LOCKED:  # a writer in between waits until the owner is done
        begin, end = order.index(READ), order.index(EMPTY)
        waited = set(order[begin + 1 : end])
        between = tuple(step for step in order[begin + 1 : end])
        order = (*order[:begin], READ, EMPTY, *between, *order[end + 1 :])
    inbox: tuple[str, ...] = ()
    got: tuple[str, ...] = ()
    moments = []
    for step in order:
        if step == READ:
            got = inbox
        elif step == EMPTY:
            inbox = ()
        else:
            inbox = (*inbox, step)
        moments.append(Moment(step, inbox, step in waited))
    lost = tuple(name for name in WRITERS if name not in got and name not in inbox)
    return Day(tuple(moments), got, lost)


def losing(way: str) -> int:
    """How many of the orders lose a message."""
    return sum(bool(day(order, way).lost) for order in ORDERS)


def draw(width: float, order: tuple[str, ...], way: str) -> Answer:
    """The steps on the lanes of those who take them, the inbox after each, and all orders."""
    canvas, played = Canvas(width), day(order, way)
    left = 52.0
    each = (width - left - 4) / len(order)
    lanes = {name: 8.0 + 40 * number for number, name in enumerate((*WRITERS, OWNER))}
    for name, y in lanes.items():
        canvas.text(f"lane {name}", 4, y + 19, name, "b", width=left)
        canvas.edge(f"line {name}", f"M0 0H{width - left - 4:g}", "", "", x=left, y=y + 15)
    read, emptied = (
        next(n for n, one in enumerate(played.moments) if one.step == step)
        for step in (READ, EMPTY)
    )
    # A message is lost between the two steps; a lock is held from before the first one until after
    # the second one.
    inside = 0.0 if way == LOCKED else each / 2
    gap = left + each * read + inside, left + each * (emptied + 1) - inside
    if played.lost or way == LOCKED:
        mark = "failed" if played.lost else "idle"
        canvas.bar("gap", gap[0], 2, gap[1] - gap[0], 120, mark, "p")
    if way == LOCKED:
        says = ("locked: who writes here waits", "locked")
        fits = [text for text in says if text_width(text) <= gap[1] - gap[0]]
        canvas.text("in gap", sum(gap) / 2, 137, fits[0], "qc")
    for number, moment in enumerate(played.moments):
        x, writes = left + each * number + 3, moment.step in WRITERS
        lane = moment.step if writes else OWNER
        is_lost = moment.step in played.lost
        mark = "failed" if is_lost else "done" if writes else "active"
        said = _said(moment, is_lost, each < 140)
        canvas.box(
            f"step {moment.step}", x, lanes[lane], each - 6, 30, mark, [said],
            says=f"{lane} {said}",
        )  # fmt: skip
        waiting = ", ".join(name if each > 90 else name[0] for name in moment.inbox) or "empty"
        canvas.text(f"inbox {number}", x + each / 2 - 3, 157, waiting, "c", width=each)
    canvas.text("inbox", 4, 157, "inbox", "q", width=left)
    got = "nothing"
    if played.got:
        what = "message" if len(played.got) == 1 else "messages"
        got = f"the {what} from {listed(list(played.got))}"
    canvas.text("got", 4, 182, f"{OWNER.capitalize()} read {got}.", width=width - 8)
    y, size = 208.0, (width - 8) / len(ORDERS)
    for number, one in enumerate(ORDERS):
        mark = "failed" if day(one, way).lost else "done"
        canvas.bar(f"order {number}", 4 + size * number + 1, y, size - 2, 16, mark, "p")
    place = ORDERS.index(order)
    canvas.dot("here", 4 + size * (place + 0.5), y + 8, 6, "cause", says=f"order {place + 1}")
    said = f"{losing(way)} of {len(ORDERS)} orders lose a message"
    canvas.text("orders", 4, y + 34, said, "q", width=width - 8)
    canvas.height = y + 42
    assumes = (
        f"{count(len(WRITERS), 'writer')} with one message each; {OWNER.capitalize()} reads the "
        "inbox once; all orders in which she reads before she empties count the same"
    )
    return Answer(_finding(played, way), canvas, assumes)


def _said(moment: Moment, is_lost: bool, is_narrow: bool) -> str:
    if moment.step not in WRITERS:
        return moment.step
    if is_lost:
        return "✗ lost" if is_narrow else "✗ writes: lost"
    if moment.waited:
        return "waits" if is_narrow else "waits, then writes"
    return "writes"


def _finding(played: Day, way: str) -> str:
    orders = f"{losing(way)} of {len(ORDERS)} orders lose a message"
    if way == LOCKED:
        waits = [moment.step for moment in played.moments if moment.waited]
        if waits:
            verb = "waits" if len(waits) == 1 else "wait"
            who = listed([name.capitalize() for name in waits])
            steps = ", ".join(moment.step for moment in played.moments)
            return f"{who} {verb} for the lock: {steps}. No message is lost: {orders}."
        return f"No writer has to wait, and no message is lost: {orders}."
    if not played.lost:
        return f"No message is lost in this order, but {orders}."
    names = listed([f"{name.capitalize()}'s" for name in played.lost])
    end = "message is lost" if len(played.lost) == 1 else "messages are lost"
    return f"{names} {end}; {orders}."


def explorable() -> Explorable:
    """Let the steps happen in another order, with and without a lock."""

    def said(order: tuple[str, ...]) -> str:
        return ", ".join(order)

    start = ("bob", READ, EMPTY, "carol")
    orders = drag(ORDERS, start, "order without a lock", said=said)
    return explore(draw, order=orders, way=pick([UNLOCKED, LOCKED], label=f"{OWNER}'s steps"))
