"""Lesson 4's picture of a decision: when to start subagents, and how.

It is laid out for a phone, at every width: on a wide page, a short list of questions needs no more.
"""

from __future__ import annotations

from typing import Any

from learnkit.runtime.notebook import is_live
from learnkit.views.drawing.display import NARROW, Canvas
from learnkit.views.drawing.text import esc

#: What to ask about a piece of work, in this order, in two lines; what to do if the answer is yes,
#: and why.
QUESTIONS = (
    (("One file,", "a few steps?"), "Do it yourself", "no child is needed"),
    (("Do two parts", "write to one file?"), "In series", "files are shared"),
    (("Does a step need", "the one before?"), "In series", "pass reports on"),
)
#: What to do if all answers are no.
ELSE = ("In parallel", "one child a part")
#: From one question to the next, the height of a box, its width, and where the answers begin, in
#: pixels.
_EACH, _HIGH, _WIDE, _ANSWERS = 64, 44, 146, 182


class Decision:
    """The questions as a tree; a notebook shows it when it is the value of a cell."""

    def draw(self) -> Canvas:
        """Draw the tree."""
        canvas = Canvas(NARROW)
        for place, (question, *answer) in enumerate(QUESTIONS):
            y = place * _EACH + 2
            canvas.box(f"ask {place}", 2, y, _WIDE, _HIGH, "cause", question, "b")
            canvas.edge(f"yes {place}", f"M{_WIDE + 2} {y + 22}H{_ANSWERS}", "cause", "w")
            canvas.text(f"if {place}", (_WIDE + _ANSWERS) / 2 + 1, y + 16, "yes", "c")
            canvas.box(f"do {place}", _ANSWERS, y, NARROW - _ANSWERS - 2, _HIGH, "done", answer)
            canvas.edge(f"no {place}", f"M24 {y + _HIGH}V{y + _EACH}", "cause", "w")
            canvas.text(f"else {place}", 32, y + _HIGH + 15, "no")
        canvas.box("else", 2, len(QUESTIONS) * _EACH + 2, _WIDE, _HIGH, "done", ELSE)
        canvas.height += 2
        return canvas

    def __str__(self) -> str:
        rows = [f"{' '.join(asked)} Yes: {answer} ({why})." for asked, answer, why in QUESTIONS]
        return " No: ".join([*rows, f"{ELSE[0]} ({ELSE[1]})."])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        canvas, said = self.draw(), str(self)
        html = canvas.inline(said) if is_live() else f"{canvas.img(said)}<p>{esc(said)}</p>"
        return {"text/html": html, "text/plain": said}
