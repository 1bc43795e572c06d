"""Choosing an answer with a widget: a button for each option; pressing one commits.

They are buttons and not radio buttons, because JupyterLab takes the arrow keys for itself, and
without them only the first of a group could be reached. Tab, Space and Enter work, a screen reader
hears the answer, and colours come from JupyterLab, ink and ground together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from learnkit.course.display.card import FRAME, inline
from learnkit.course.display.cards import explained, scored
from learnkit.course.lessons import Option, Question
from learnkit.errors import lab_extra

with lab_extra():
    import ipywidgets as widgets

#: Options may be long: let them wrap. What is chosen is marked by a sign, never by colour alone.
STYLE = (
    f"<style>.lk-choice{{{FRAME}}}.lk-choice button.widget-button{{height:auto;width:auto;"
    "align-self:flex-start;max-width:100%;padding:3px 10px;line-height:1.45;text-align:left;"
    "white-space:normal;color:var(--jp-content-font-color1,#1f2328);"
    "background:var(--jp-layout-color2,#eee);border:1px solid var(--jp-border-color1,#8a9099)}"
    ".lk-choice button.widget-button:focus-visible{outline-offset:1px;"
    "outline:2px solid var(--jp-brand-color1,#1c4e96)}"
    ".lk-choice .widget-html,.lk-choice .widget-html-content{"
    "height:auto;color:inherit;line-height:1.45;overflow-wrap:anywhere}</style>"
)


class Choice:
    """One question to commit an answer to, once.

    Args:
        question: text; what stands between backticks is code.
        options: letter -> option; a button holds no code, so backticks in a text are left out.
        on_answer: called with the letter, before anything else happens.
        feedback: HTML to show after an answer; by default only that it is noted.

    Attributes:
        box: the widget to show.
        buttons: letter -> the button that chooses it.
    """

    def __init__(
        self,
        question: str,
        options: Mapping[str, Option],
        on_answer: Callable[[str], object],
        feedback: Callable[[str], str] | None = None,
    ) -> None:
        self._on_answer, self._feedback, self._chosen = on_answer, feedback, False
        self.buttons = {
            letter: widgets.Button(description=f"{letter}: {option.text.replace('`', '')}")
            for letter, option in options.items()
        }
        for letter, button in self.buttons.items():
            button.on_click(partial(self._choose, letter))
        head = widgets.HTML(f"{STYLE}<strong>{inline(question)}</strong>")
        self.status = widgets.HTML(spoken(""))
        self.box = widgets.VBox([head, *self.buttons.values(), self.status])
        self.box.add_class("lk-choice")

    def _choose(self, letter: str, _: object) -> None:
        if self._chosen:
            return
        self._chosen = True
        self._on_answer(letter)
        for other, button in self.buttons.items():
            if other == letter:  # it stays enabled, or the keyboard's focus would be lost
                button.description = f"✓ {button.description}"
            else:
                button.disabled = True
        again = f"✓ noted: {letter}. To choose anew, run the cell again."
        self.status.value = spoken(self._feedback(letter) if self._feedback else again)


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
        score.value = spoken(f"<strong>{scored(questions, given)}</strong>")

    def ask(name: str, question: Question) -> Choice:
        def noted(letter: str) -> None:
            given[name] = letter
            on_answer(name, letter)
            tell()

        def feedback(letter: str) -> str:
            head = "✓ right" if letter == question.right else f"✗ it is {question.right}"
            why = explained(question.options, question.right, letter)
            return f"<strong>{head}</strong>{why}"

        return Choice(f"{name}. {question.text}", question.options, noted, feedback)

    tell()
    asked = [ask(name, question).box for name, question in questions.items()]
    return widgets.VBox([*asked, score])


def spoken(html: str) -> str:
    """HTML that a screen reader says when it changes."""
    return f'<div role="status" aria-live="polite">{html}</div>'
