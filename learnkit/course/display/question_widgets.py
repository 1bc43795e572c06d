"""The questions of a lesson as a widget: a row for each option; pressing one commits.

Python draws the card, and draws anew the parts that an answer changes; ``questions.js`` says which
row was pressed. The rows are buttons and not radio buttons, because JupyterLab uses the arrow keys
itself, so that only the first button of a radio group could be reached. Tab, Space and Enter work,
and a screen reader reads aloud what an answer has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from learnkit.course.content import Prediction, Question
from learnkit.course.display.card import LOOK, inline, rows, situation
from learnkit.course.display.page import Page, script_beside
from learnkit.views.drawing import theme


class Questions(Page):
    """A card with questions of which each can be answered once.

    One without a right answer is not explained: what happens is the answer.
    """

    _esm = script_beside(__file__, "questions.js")

    def __init__(
        self, questions: Mapping[str, Question], on_answer: Callable[[str, str], object]
    ) -> None:
        self._questions, self._on_answer = questions, on_answer
        self._given: dict[str, str] = {}
        html = "".join(
            f'<section role="group" aria-labelledby="{name}"><div><b class="lk-label">'
            f"{f'{n} of {len(questions)}' if one.right else 'Predict'}"
            f"{'<span role=status data-part=score></span>' * (n == 1)}</b>"
            f'<p class="lk-question" id="{name}">{inline(one.question)}</p>'
            f"<div{' class=lk-steps' * bool(one.steps)}>{situation(one)}</div></div>"
            f'<div><div data-part="{name}"></div><p role="status" data-part="{name} said"></p>'
            "</div></section>"
            for n, (name, one) in enumerate(questions.items(), start=1)
        ).replace("<li>✗ ", "<li class=lk-error>")
        super().__init__([LOOK], {"html": html, "parts": self.parts()}, self.answer)

    def answer(self, chosen: Mapping[str, str]) -> None:
        """Take the first answer to a question: its ``name``, and a letter as its ``value``."""
        name = chosen.get("name", "")
        if name in self._questions and name not in self._given:
            self._on_answer(name, chosen["value"])
            self._given[name] = chosen["value"]
        self.send({"parts": self.parts()})

    def parts(self) -> dict[str, str]:
        """Return what an answer changes, as HTML by its name."""
        parts = {"score": self._score()}
        for name, one in self._questions.items():
            given = self._given.get(name)
            parts[name] = rows(one.options, one.right if given else "", given, name)
            parts[f"{name} said"] = _said(one, given) if given else ""
        return parts

    def _score(self) -> str:
        if not all(one.right for one in self._questions.values()):
            return ""
        marks = [self._mark(name) for name in self._questions]
        dots = "".join(f'<i class="lk-{mark.key}">{mark.glyph}</i>' for mark in marks)
        right, left = marks.count(theme.DONE), marks.count(theme.PENDING)
        return f"{dots} <s>{right} of {len(marks)} right, {left} to answer</s>"

    def _mark(self, name: str) -> theme.Mark:
        given = self._given.get(name)
        right = theme.DONE if given == self._questions[name].right else theme.ERROR
        return right if given else theme.PENDING


def prediction_box(prediction: Prediction, on_answer: Callable[[str], object]) -> Questions:
    """Return the question of a prediction, which keeps to itself what happens."""
    asked = {"prediction": replace(prediction, right="")}
    return Questions(asked, lambda _, letter: on_answer(letter))


def _said(question: Question, given: str) -> str:
    """What an answer leads to, of which the rows show the rest."""
    if not question.right:
        return f"● noted: {given}. To choose again, run the cell again."
    head = "✓ right" if given == question.right else f"✗ it is {question.right}"
    return f"<s>{head}. {inline(question.options[question.right].why)}</s>"
