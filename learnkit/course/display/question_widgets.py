"""The questions of a lesson as widgets: a button for each option; pressing one commits.

These are buttons and not radio buttons, because JupyterLab uses the arrow keys itself, so that only
the first button of a radio group could be reached. Tab, Space and Enter work, a screen reader reads
the answer aloud, and both foreground and background colours come from JupyterLab's theme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from learnkit.course.content import Option, Question
from learnkit.course.display.card import FRAME, explained, inline
from learnkit.errors import lab_extra
from learnkit.views.drawing import theme

with lab_extra():
    import ipywidgets as widgets

_CSS = Path(__file__).with_name("choice.css").read_text("utf-8")
#: What an option turns out to be -> how it looks.
_LOOKS = {"chosen": theme.CAUSE, "right": theme.DONE, "wrong": theme.ERROR}


def _colours(name: str, shade: str, within: str = "") -> str:
    tone = getattr(_LOOKS[name], shade)
    return (
        f"{within}.lk-choice button.widget-button.lk-{name}{{color:{tone.fg};"
        f"background:{tone.bg};border-color:{tone.edge};opacity:1}}"
    )


_DARK = ':is([data-jp-theme-light="false"],.vscode-dark) '


#: The style of the class ``lk-choice``.
STYLE = (
    f"<style>.lk-choice{{{FRAME}}}\n{_CSS}"
    + "".join(_colours(name, "light") + _colours(name, "dark", _DARK) for name in _LOOKS)
    + "</style>"
)


class Choice:
    """One question, which can be answered once.

    Attributes:
        box: the widget to show.
        buttons: letter -> the button that chooses it.
    """

    def __init__(
        self,
        question: str,
        options: Mapping[str, str],
        on_answer: Callable[[str], object],
        feedback: Callable[[str], str] | None = None,
        right: str = "",
    ) -> None:
        self._on_answer, self._feedback, self._right = on_answer, feedback, right
        self._chosen = False
        self.buttons = {
            letter: widgets.Button(description=f"{letter}: {text.replace('`', '')}")
            for letter, text in options.items()
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
            # The chosen one stays enabled, or the keyboard's focus would be lost.
            button.disabled = other != letter
            if other == self._right:
                _mark(button, "right", "✓ right")
            elif other == letter:
                _mark(button, *(("wrong", "✗ wrong") if self._right else ("chosen", "● chosen")))
            if other == letter and self._right:
                button.description = f"● {button.description}"
        again = f"● noted: {letter}. To choose again, run the cell again."
        self.status.value = spoken(self._feedback(letter) if self._feedback else again)


def _mark(button: widgets.Button, name: str, said: str) -> None:
    button.add_class(f"lk-{name}")
    button.description = f"{said} · {button.description}"


def quiz_box(
    questions: Mapping[str, Question], on_answer: Callable[[str, str], object]
) -> widgets.VBox:
    """Return a quiz that explains the options of each question once it is answered."""
    given: dict[str, str] = {}
    total = widgets.HTML()

    def show_score() -> None:
        right = sum(questions[name].right == letter for name, letter in given.items())
        missing = len(questions) - len(given)
        left = f", {missing} to answer" if missing else ""
        total.value = spoken(f"<strong>{right} of {len(questions)} right{left}</strong>")

    def ask(name: str, question: Question) -> Choice:
        def note(letter: str) -> None:
            given[name] = letter
            on_answer(name, letter)
            show_score()

        def feedback(letter: str) -> str:
            head = "✓ right" if letter == question.right else f"✗ it is {question.right}"
            why = explained(question.options, question.right, letter)
            return f"<strong>{head}</strong>{why}"

        return Choice(
            f"{name}. {question.text}", texts(question.options), note, feedback, question.right
        )

    show_score()
    asked = [ask(name, question).box for name, question in questions.items()]
    return widgets.VBox([*asked, total])


def texts(options: Mapping[str, Option]) -> dict[str, str]:
    """Return letter -> text, without the reasons."""
    return {letter: option.text for letter, option in options.items()}


def spoken(html: str) -> str:
    """Return HTML that a screen reader reads aloud when it changes."""
    return f'<div role="status" aria-live="polite">{html}</div>'
