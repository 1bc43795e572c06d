"""Choosing an answer with a widget: radio buttons, and a button that commits.

A choice counts when the button is pressed, not when a radio button is selected: with the arrow
keys one passes over the others on the way. Everything is native HTML controls, so keyboards and
screen readers work, and colours come from JupyterLab, ink and ground together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import ipywidgets as widgets

from learnkit.card import FRAME, inline
from learnkit.cards import explained, scored
from learnkit.lessons import Option, Question

#: Radio labels may be long: let them wrap. The reason beside a mark is never colour alone.
STYLE = (
    f"<style>.lk-choice{{{FRAME}}}.lk-choice .widget-radio{{width:auto;height:auto}}"
    ".lk-choice .widget-radio-box label{height:auto;line-height:1.45;white-space:normal;"
    "padding:2px 0;display:block;color:inherit}"
    ".lk-choice .widget-radio-box input{height:1.2em;margin-right:.5em}"
    ".lk-choice .widget-html,.lk-choice .widget-html-content{height:auto;color:inherit;"
    "line-height:1.45;overflow-wrap:anywhere}</style>"
)


class Choice:
    """One question to commit an answer to, once.

    Args:
        question: raw text.
        options: letter -> option.
        action: what the button says.
        on_answer: called with the letter, before anything else happens.
        feedback: HTML to show after an answer; by default only that it is noted.

    Attributes:
        box: the widget to show.
    """

    def __init__(
        self,
        question: str,
        options: Mapping[str, Option],
        action: str,
        on_answer: Callable[[str], object],
        feedback: Callable[[str], str] | None = None,
    ) -> None:
        self._on_answer, self._feedback = on_answer, feedback
        labels = [(f"{letter}: {option.text}", letter) for letter, option in options.items()]
        self.radio = widgets.RadioButtons(options=labels, value=None, layout={"width": "auto"})
        self.button = widgets.Button(description=action, disabled=True, layout={"width": "auto"})
        self.status = widgets.HTML('<div role="status" aria-live="polite"></div>')
        head = widgets.HTML(f"{STYLE}<strong>{inline(question)}</strong>")
        self.radio.observe(self._selected, names="value")
        self.button.on_click(self._committed)
        self.box = widgets.VBox([head, self.radio, self.button, self.status])
        self.box.add_class("lk-choice")

    def _selected(self, _: object) -> None:
        self.button.disabled = self.radio.value is None

    def _committed(self, _: object) -> None:
        letter = self.radio.value
        if letter is None or self.radio.disabled:
            return  # a second click that was on its way
        self._on_answer(letter)
        self.radio.disabled = self.button.disabled = True
        said = self._feedback(letter) if self._feedback else f"✓ noted: {letter}"
        self.status.value = f'<div role="status" aria-live="polite">{said}</div>'


def quiz_box(
    questions: Mapping[str, Question], on_answer: Callable[[str, str], object]
) -> widgets.VBox:
    """A quiz: each question explains its options as soon as it is answered, and the score grows.

    Args:
        questions: name -> question.
        on_answer: called with name and letter.
    """
    given: dict[str, str] = {}
    score = widgets.HTML()

    def tell() -> None:
        line = f"<strong>{scored(questions, given)}</strong>"
        score.value = f'<div role="status" aria-live="polite">{line}</div>'

    def ask(name: str, question: Question) -> Choice:
        def noted(letter: str) -> None:
            given[name] = letter
            on_answer(name, letter)
            tell()

        def feedback(letter: str) -> str:
            head = "✓ right" if letter == question.right else f"✗ it is {question.right}"
            why = explained(question.options, question.right, letter)
            return f"<strong>{head}</strong>{why}"

        return Choice(f"{name}. {question.text}", question.options, "Check", noted, feedback)

    tell()
    asked = [ask(name, question).box for name, question in questions.items()]
    return widgets.VBox([*asked, score])
