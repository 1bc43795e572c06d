"""Lesson 10's explorable: three plans wait for an answer, and the answers arrive in some order.

Without ids the first answer counts for the first plan, the second for the second. A plan may then
get the right word, which was meant for another one: both are counted. With ids the order makes no
difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from learnkit.course.lessons.plots import strip
from learnkit.events.text import listed
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore

WITHOUT, WITH = "without ids", "with ids"
#: From this many pixels on, both ways stand side by side.
_ROOMY = 600
#: Width of an answer, height of a row, and where the rows of a way begin, in pixels.
_PILL, _ROW, _TOP = 88, 58, 34


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that waits for the lead.

    Attributes:
        id: of the request.
        mate: who wants to do it.
        does: what it wants to do.
        approved: what the lead answers.
    """

    id: str
    mate: str
    does: str
    approved: bool

    @property
    def name(self) -> str:
        """Who it is, in a sentence."""
        return self.mate.capitalize()

    @property
    def answer(self) -> str:
        """The lead's answer, as a message has it."""
        return "ok" if self.approved else "no"


PLANS = (
    Plan("r1", "alice", "writes tests", True),
    Plan("r2", "bob", "rewrites the parser", True),
    Plan("r3", "charlie", "deletes the archive", False),
)
#: In which order the answers arrive: numbers of the plans they are meant for.
ORDERS = tuple(permutations(range(len(PLANS))))


def reaches(order: tuple[int, ...], way: str) -> dict[int, int]:
    """Which plan each answer is taken for."""
    if way == WITH:
        return {plan: plan for plan in order}
    return dict(enumerate(order))


def draw(width: float, order: tuple[int, ...]) -> Answer:
    """Both ways with the same answers, and below them all orders in which these can arrive."""
    canvas, is_wide = Canvas(width), width >= _ROOMY
    wide = (width - 48) / 2 if is_wide else width
    tall = _TOP + _ROW * len(PLANS) + 30
    _way(canvas, WITHOUT, "first come, first matched", 0, 0, wide, order)
    x, y = (wide + 48, 0) if is_wide else (0, tall)
    _way(canvas, WITH, "each finds its plan", x, y, wide, order)
    if is_wide:
        canvas.edge("between", f"M0 0V{tall - 12:g}", x=width / 2)
    base = y + tall + 18
    canvas.text("orders", 0, base - 8, "the order in which the answers arrive", "q")
    marks = ["failed" if _wrong(reaches(one, WITHOUT)) else "done" for one in ORDERS]
    initials = [" ".join(PLANS[plan].name[0] for plan in one) for one in ORDERS]
    axis = strip(canvas, base, marks, ORDERS.index(order), initials)
    assumes = (
        f"three plans, submitted in this order; the lead approves {_named(True)} and rejects "
        f"{_named(False)}; without ids, the first answer counts for the first plan, and so on; "
        "green is an order in which every plan gets the right word without ids"
    )
    because = "Both sides have the same three answers in the same order. Only the ids differ."
    return Answer(_finding(order), canvas, assumes, because, axis)


def _way(
    canvas: Canvas, way: str, how: str, x: float, y: float, wide: float, order: tuple[int, ...]
) -> None:
    """The plans at the left, the answers as they arrive at the right, and which one each gets."""
    got, right = reaches(order, way), x + wide - _PILL
    last = x + wide * 0.5 if wide < 400 else x + wide * 0.54
    canvas.text(way, x, y + 12, f"{way[:1].upper()}{way[1:]}: {how}", "b", width=wide)
    for number, plan in enumerate(PLANS):
        meant, key = PLANS[got[number]], f"{way} {plan.id}"
        low, at = y + _TOP + _ROW * number, y + _TOP + _ROW * order.index(got[number])
        is_right = meant.approved == plan.approved
        mark = "done" if is_right else "failed"
        canvas.box(
            f"plan {key}", x, low - 8, last - x, 42, "" if is_right else mark,
            [plan.name, plan.does], says=f"{plan.name} gets “{meant.answer}”",
        )  # fmt: skip
        back, down = last + 6 - right, low - at
        bend = back / 2
        path = f"M0 0C{bend:g} 0 {bend:g} {down:g} {back:g} {down:g}m7 -4l-7 4l7 4"
        canvas.edge(f"way {key}", path, mark, "w", x=right - 4, y=at + 13)
    for place, number in enumerate(order):
        plan, low = PLANS[number], y + _TOP + _ROW * place
        whom = f"for {plan.name}" if way == WITH else "for whom?"
        lines = [f"“{plan.answer}”", whom]
        canvas.box(f"answer {way} {plan.id}", right, low - 8, _PILL, 42, "user", lines)
    wrong = [PLANS[n] for n in _wrong(got)]
    low = y + _TOP + _ROW * len(PLANS) + 6
    if wrong:
        canvas.text(f"end {way}", x, low, f"✗ {_done(wrong)}", "b", "failed", width=wide)
    else:
        own = all(plan == meant for plan, meant in got.items())
        said = "✓ Each gets its own answer." if own else "✓ Each gets the right word."
        canvas.text(f"end {way}", x, low, said, "b", "done", width=wide)


def _done(wrong: list[Plan]) -> str:
    """What the wrong answers lead to."""
    kept = listed([plan.name for plan in wrong if plan.approved])
    (done,) = (plan for plan in wrong if not plan.approved)
    return f"{done.name} {done.does}; {kept} may not."


def _wrong(got: dict[int, int]) -> list[int]:
    """The plans that get another answer than the one meant for them."""
    return [n for n, plan in enumerate(PLANS) if PLANS[got[n]].approved != plan.approved]


def _named(approved: bool) -> str:
    return listed([f"{one.name}'s" for one in PLANS if one.approved == approved])


def _finding(order: tuple[int, ...]) -> str:
    got = reaches(order, WITHOUT)
    wrong = [PLANS[n] for n in _wrong(got)]
    if wrong:
        kept = listed([plan.name for plan in wrong if plan.approved])
        (done,) = (plan for plan in wrong if not plan.approved)
        return f"{kept} gets {done.name}'s “no”, and {done.name} {done.does}."
    if crossed := [PLANS[n].name for n, meant in got.items() if n != meant]:
        return f"Every plan gets the right word by luck: {listed(crossed)} get each other's “ok”."
    return "Every plan gets its own answer by luck: they arrive in the order of the plans."


def explorable() -> Explorable:
    """Let the answers arrive in another order, without ids and with them."""

    def said(order: tuple[int, ...]) -> str:
        return ", ".join(PLANS[number].name for number in order)

    return explore(draw, order=drag(ORDERS, ORDERS[1], "answers arrive for", said=said))
