"""Lesson 4's picture of a decision: when to start a subagent, and which."""

from __future__ import annotations

from typing import Any

from learnkit.runtime.notebook import is_live
from learnkit.views.drawing.display import WIDE, Canvas
from learnkit.views.drawing.text import esc

#: What to ask about a piece of work, in this order; what to do if the answer is yes, and why.
QUESTIONS = (
    ("One file, a few steps?", "Do it yourself", "a child would start from nothing"),
    ("Does each step need the one before?", "In series", "pass each report on"),
    ("Do two parts write to one file?", "In series", "files are shared"),
    ("Does it need other skills or tools?", "A special kind", "such as explore, which can't write"),
)
#: What to do if all answers are no.
ELSE = ("In parallel", "one child for each part")
#: From one question to the next, the height of a box, and where the answers begin, in pixels.
_EACH, _HIGH, _ANSWERS = 62, 42, 386


class Decision:
    """The questions as a tree; a notebook shows it when it is the value of a cell."""

    def draw(self) -> Canvas:
        """Draw the tree."""
        canvas, wide = Canvas(WIDE), _ANSWERS - 46
        for place, (question, *answer) in enumerate(QUESTIONS):
            y = place * _EACH + 2
            canvas.box(f"ask {place}", 2, y, wide, _HIGH, "cause", [question])
            canvas.edge(f"yes {place}", f"M{wide + 2} {y + 21}H{_ANSWERS}", "cause", "w")
            canvas.text(f"if {place}", wide + 23, y + 15, "yes", "c")
            canvas.box(f"do {place}", _ANSWERS, y, WIDE - _ANSWERS - 2, _HIGH, "done", answer)
            canvas.edge(f"no {place}", f"M24 {y + _HIGH}V{y + _EACH}", "cause", "w")
            canvas.text(f"else {place}", 32, y + _HIGH + 15, "no")
        canvas.box("else", 2, len(QUESTIONS) * _EACH + 2, wide, _HIGH, "done", ELSE)
        return canvas

    def __str__(self) -> str:
        rows = [f"{question} Yes: {answer} ({why})." for question, answer, why in QUESTIONS]
        return " No: ".join([*rows, f"{ELSE[0]} ({ELSE[1]})."])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        canvas, said = self.draw(), str(self)
        html = canvas.inline(said) if is_live() else f"{canvas.img(said)}<p>{esc(said)}</p>"
        return {"text/html": html, "text/plain": said}
