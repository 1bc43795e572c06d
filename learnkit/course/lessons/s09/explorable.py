"""Lesson 9's explorable: two agents write to an inbox while its owner reads and empties it.

Their four steps can happen in twelve orders. A message that arrives between the owner's two steps
is lost, unless a lock makes them one step. It opens on an order that loses nothing, and says which
messages are lost, but not why: that is for the learner to find by dragging.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from learnkit.course.lessons.plots import strip
from learnkit.events.text import count, listed
from learnkit.views.drawing.display import Canvas, text_width
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

UNLOCKED, LOCKED = "read, then empty", "both under one lock"
READ, EMPTY = "read", "empty"
#: What the owner does, which is no state of the inbox.
_VERBS = {READ: "reads", EMPTY: "empties"}
_LEFT = 44.0
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
    each = (width - _LEFT + 4) / len(order)
    lanes = {name: 2.0 + 38 * number for number, name in enumerate((*WRITERS, OWNER))}
    for name, y in lanes.items():
        canvas.text(f"lane {name}", 0, y + 19, name, "b", width=_LEFT)
        canvas.edge(f"line {name}", f"M0 0H{width - _LEFT:g}", x=_LEFT, y=y + 15)
    steps = [moment.step for moment in played.moments]
    if way == LOCKED:  # from before she reads until after she has emptied it
        x, end = (each * steps.index(READ), each * (steps.index(EMPTY) + 1))
        canvas.bar("gap", _LEFT + x - 2, 0, end - x - 2, 112, "idle", "p")
        says = ("locked: who writes here waits", "locked")
        (said, *_) = [text for text in says if text_width(text) <= end - x - 8]
        canvas.text("in gap", _LEFT + (x + end) / 2 - 2, 62, said, "cn", "idle")
    canvas.text("inbox", 0, 141, "inbox", "q", width=_LEFT)
    written: list[str] = []
    for number, moment in enumerate(played.moments):
        x, writes = _LEFT + each * number, moment.step in WRITERS
        lane = moment.step if writes else OWNER
        is_lost = moment.step in played.lost
        mark = "failed" if is_lost else "done" if writes else "active"
        said = _said(moment, is_lost, each < 140)
        canvas.box(
            f"step {moment.step}", x, lanes[lane], each - 4, 30, mark, [said],
            says=f"{lane} {said}",
        )  # fmt: skip
        written += [moment.step] * writes
        for place, name in enumerate(written):
            spot = x, 124 + 26.0 * place, each - 4, 22
            if name in moment.inbox:
                canvas.box(f"in {number} {name}", *spot, "user", [name], "l")
            elif name in played.lost:  # what was lost stays as a ghost where it was
                canvas.box(f"in {number} {name}", *spot, "", [f"✗ {name}"], "dlq")
    canvas.text("orders", 0, 202, f"{losing(way)} of {len(ORDERS)} orders lose a message", "q")
    marks = ["failed" if day(one, way).lost else "done" for one in ORDERS]
    axis = strip(canvas, 210, marks, ORDERS.index(order))
    assumes = (
        f"{count(len(WRITERS), 'writer')} with one message each; {OWNER.capitalize()} reads the "
        "inbox once; all orders in which she reads before she empties it count the same"
    )
    return Answer(_finding(played, way), canvas, assumes, _because(played), axis)


def _said(moment: Moment, is_lost: bool, is_narrow: bool) -> str:
    if moment.step not in WRITERS:
        return _VERBS[moment.step]
    if is_lost:
        return "✗ lost" if is_narrow else "✗ writes: lost"
    if moment.waited:
        return "waits" if is_narrow else "waits, then writes"
    return "writes"


def _finding(played: Day, way: str) -> str:
    if way == LOCKED:
        waits = [moment.step.capitalize() for moment in played.moments if moment.waited]
        if waits:
            verb = "waits" if len(waits) == 1 else "wait"
            return f"{listed(waits)} {verb} for the lock, and no message is lost."
        return "No writer has to wait, and no message is lost."
    if not played.lost:
        return (
            f"No message is lost in this order, but {losing(way)} of {len(ORDERS)} orders lose a "
            "message."
        )
    names = listed([f"{name.capitalize()}'s" for name in played.lost])
    return f"{names} {'message is' if len(played.lost) == 1 else 'messages are'} lost."


def _because(played: Day) -> str:
    steps = [_VERBS.get(moment.step, f"{moment.step} writes") for moment in played.moments]
    got = f"what {listed(list(played.got))} wrote" if played.got else "nothing"
    return f"What happens: {', '.join(steps)}. {OWNER.capitalize()} has read {got}."


def explorable() -> Explorable:
    """Let the steps happen in another order, with and without a lock."""

    def said(order: tuple[str, ...]) -> str:
        return ", ".join(_VERBS.get(step, step) for step in order)

    start = ("bob", READ, EMPTY, "carol")
    orders = drag(ORDERS, start, "order without a lock", said=said)
    return explore(draw, order=orders, way=pick([UNLOCKED, LOCKED], label=f"{OWNER}'s steps"))
