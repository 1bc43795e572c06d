"""Lesson 9's picture of a teammate's lifecycle: three statuses, and what leads from one to another.

It is as wide as a phone, so that its words can be read there.
"""

from __future__ import annotations

from learnkit.course.display.card import Card
from learnkit.views.drawing.display import NARROW, Canvas

#: The statuses from top to bottom, as in the table of ``Teammate``; each is the key of its mark.
STATUSES = ("working", "idle", "shutdown")
#: From a status to another one, or from none, and by what.
WAYS = (
    ("", "working", "spawn"),
    ("working", "idle", "last reply: a report to the lead"),
    ("idle", "working", "a message"),
    ("idle", "shutdown", "shutdown"),
    ("shutdown", "working", "spawn again"),
)
_LEFT, _WIDE, _HIGH, _APART, _TOP = 8.0, 96.0, 30.0, 74.0, 38.0


def drawn() -> Canvas:
    """The statuses as boxes, and an arrow for each way from one to another."""
    canvas = Canvas(NARROW)
    tops = {name: _TOP + _APART * number for number, name in enumerate(STATUSES)}
    middle, right, bends = _LEFT + 26, _LEFT + _WIDE, iter((250.0, 304.0))
    for number, (start, end, said) in enumerate(WAYS):
        begin, goal = tops.get(start, 4 - _HIGH), tops[end]
        if begin < goal:  # down, on the left
            low = begin + _HIGH
            path = f"M0 0V{goal - low:g}m-4 -7l4 7l4 -7"
            canvas.edge(f"way {number}", path, "system", "w", x=middle, y=low)
            canvas.text(f"said {number}", middle + 10, (low + goal) / 2 + 4, said)
        else:  # up, in a bend on the right; the longer one is further out, and ends higher
            bend = next(bends)
            low, high = begin + _HIGH / 2, goal + (20 if bend < 300 else 9)
            path = f"M0 0H{bend - right:g}V{high - low:g}H0m7 -4l-7 4l7 4"
            canvas.edge(f"way {number}", path, "system", "w", x=right, y=low)
            canvas.text(f"said {number}", right + 12, low + 16, said)
    for name, top in tops.items():
        canvas.box(f"box {name}", _LEFT, top, _WIDE, _HIGH, name, [name])
    canvas.height += 4
    return canvas


def lifecycle() -> Card:
    """The picture, and the same in words."""
    ways = "; ".join(
        f"{f'from {start} ' if start else ''}to {end}: {said}" for start, end, said in WAYS
    )
    said = f"A teammate's lifecycle. {ways[:1].upper()}{ways[1:]}."
    canvas = drawn()

    def live() -> dict[str, str]:
        return {"text/html": canvas.inline(said)}

    return Card(canvas.img(said), said, live)
