"""Lesson 10's explorable: three plans wait for an answer, and the answers arrive in some order.

Without ids the first answer counts for the first plan, the second for the second. A plan may then
get the right word, which was meant for another one: both are counted. With ids the order makes no
difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from learnkit.events.text import listed
from learnkit.views.drawing.display import Canvas
from learnkit.widget.explore import Answer, Explorable, drag, explore, pick

WITHOUT, WITH = "without ids", "with ids"
#: From this many pixels on, a plan and its answer are written on one line. Below it the boxes are
#: narrow and tall, so that the lines that cross between them can be seen.
_ROOMY = 560


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that waits for the lead.

    Attributes:
        id: of the request.
        teammate: who wants to do it.
        does: what it wants to do.
        approved: what the lead answers.
    """

    id: str
    teammate: str
    does: str
    approved: bool

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


def draw(width: float, order: tuple[int, ...], way: str) -> Answer:
    """The plans, the answers as they arrive, and which answer each plan gets."""
    canvas = Canvas(width)
    got = reaches(order, way)
    is_wide = width >= _ROOMY
    wide, last = (width * 0.4, width * 0.4) if is_wide else (140.0, 98.0)
    tall = 44 if is_wide else 60
    row, right = tall + 18, width - last - 6
    canvas.text("plans", 6, 16, "open plans", "q", width=wide)
    head = "answers, as they arrive" if is_wide else "answers"
    canvas.text("answers", right, 16, head, "q", width=last)
    for number, plan in enumerate(PLANS):
        meant = PLANS[got[number]]
        y, at = 28 + row * number, 28 + row * order.index(got[number])
        may = "may" if meant.approved else "may not"
        is_right = meant.approved == plan.approved
        mark = "done" if is_right else "failed"
        glyph = "✓" if is_right else "✗"
        canvas.edge(
            f"way {plan.id}",
            f"M0 0C-40 0 {wide + 46 - right:g} {y - at:g} {wide + 6 - right:g} {y - at:g}",
            mark,
            "w",
            x=right,
            y=at + tall / 2,
            says=f"{plan.teammate}'s plan gets the answer to {meant.teammate}'s",
        )
        name = f"{plan.id} · {plan.teammate}" if way == WITH else plan.teammate
        word = f"gets “{meant.answer}”"
        lines = [f"{glyph} {name} {word}"] if is_wide else [f"{glyph} {name}", word]
        lines.append(plan.does)
        canvas.box(f"plan {plan.id}", 6, y, wide, tall, mark, lines, says=f"{plan.teammate} {may}")
    for place, number in enumerate(order):
        plan = PLANS[number]
        y = 28 + row * place
        name = f"“{plan.answer}” to {plan.id}" if way == WITH else f"“{plan.answer}”"
        meant_for = f"meant for {plan.teammate}"
        lines = [name, meant_for] if is_wide else [name, *meant_for.rsplit(" ", 1)]
        canvas.box(f"answer {plan.id}", right, y, last, tall, "user", lines, says=name)
    canvas.height += 10
    assumes = (
        f"three plans, submitted in this order; the lead approves {_named(True)} and rejects "
        f"{_named(False)}; without ids, the first answer counts for the first plan, and so on; "
        f"✓ marks a plan that gets the right word, ✗ one that gets the wrong word"
    )
    because = ""
    if way == WITH:  # not before, because the lesson asks the reader to count
        taken = [reaches(one, WITHOUT) for one in ORDERS]
        words = sum(not _wrong(got) for got in taken)
        own = sum(all(plan == meant for plan, meant in got.items()) for got in taken)
        because = (
            f"Without ids, every plan gets the right word in {words} of the {len(ORDERS)} orders, "
            f"and its own answer in {own}."
        )
    return Answer(_finding(order, way), canvas, assumes, because)


def _wrong(got: dict[int, int]) -> list[int]:
    """The plans that get another answer than the one meant for them."""
    return [n for n, plan in enumerate(PLANS) if PLANS[got[n]].approved != plan.approved]


def _named(approved: bool) -> str:
    return listed([f"{one.teammate}'s" for one in PLANS if one.approved == approved])


def _finding(order: tuple[int, ...], way: str) -> str:
    if way == WITH:
        return f"With ids, every plan gets its own answer in all {len(ORDERS)} orders."
    got = reaches(order, way)
    wrong = _wrong(got)
    if not wrong:
        if crossed := [PLANS[n].teammate for n, meant in got.items() if n != meant]:
            return (
                f"Every plan gets the right word by luck: {listed(crossed)} get each other's “ok”."
            )
        return "Every plan gets its own answer by luck: they arrive in the order of the plans."
    done = [f"{PLANS[n].teammate} {PLANS[n].does}" for n in wrong if not PLANS[n].approved]
    kept = [PLANS[n].teammate for n in wrong if PLANS[n].approved]
    return f"Without ids, {listed(kept)} gets the “no”, and {listed(done)}."


def explorable() -> Explorable:
    """Let the answers arrive in another order, with and without ids."""

    def said(order: tuple[int, ...]) -> str:
        return ", ".join(PLANS[number].teammate for number in order)

    orders = drag(ORDERS, ORDERS[1], "answers arrive for", said=said)
    return explore(draw, order=orders, way=pick([WITHOUT, WITH], label="messages"))
