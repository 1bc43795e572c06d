"""What the lab shows around the code: badge, predictions, checks and hints, the quiz.

Each is a :class:`Card`: plain HTML and a line of text where outputs are committed, and a widget
where someone sits in front of it. A learner's answer is taken before anything is explained, and
no way through a card is a dead end: without an answer it explains all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from learnkit.course.display.card import FRAME, Card, bundle, inline, show
from learnkit.errors import UsageError
from learnkit.views.drawing.text import count, esc

__all__ = [
    "Card",
    "badge",
    "exercise",
    "predict",
    "quiz",
    "reveal",
    "show",
    "show_source",
]

if TYPE_CHECKING:
    from learnkit.course.lab import Lab
    from learnkit.course.lessons import Exercise, Option, Prediction, Question

#: What a mode means, for the badge.
MODES = {
    "replay": "replies come from the recording; no key, no network",
    "scripted": "replies are written in the notebook; no key, no network",
    "human": "you are the model; no key, no network",
    "live": "the API answers, and costs money",
    "record": "the API answers, costs money, and is written down",
    "keep": "replies come from the recording, which is written anew",
}


def badge(lab: Lab) -> Card:
    """Which lesson this is, and where its replies come from.

    Versions stand only in the live form: they differ from machine to machine.
    """
    title, mode = lab.lesson.title, lab.mode
    html = f"<p><strong>{esc(title)}</strong> · {esc(mode)}: {esc(MODES.get(mode, ''))}</p>"

    def live() -> dict[str, str]:
        return {"text/html": f'<div style="{FRAME}">{html}<p>{esc(_versions())}</p></div>'}

    return Card(html, f"{title} · {mode}: {MODES.get(mode, '')}", live)


def predict(prediction: Prediction, answer: str | None, on_answer: Callable[[str], object]) -> Card:
    """A question to answer before the cell below is run; nothing is explained yet.

    Args:
        prediction: the question and its options.
        answer: the letter, if it was given in the call.
        on_answer: called with the letter when the learner commits to one in the widget.

    Raises:
        UsageError: for a letter that is no option.
    """
    options, question = prediction.options, prediction.question
    _known("this prediction", answer, options)
    noted = f"noted: {answer}" if answer else f"choose one of {', '.join(options)}"
    rows = "".join(f"<li><strong>{k}</strong> · {inline(o.text)}</li>" for k, o in options.items())
    html = (
        f"<p><strong>Predict: {inline(question)}</strong></p><ul>{rows}</ul>"
        f"<p>{'✓ ' if answer else ''}{noted}</p>"
    )
    text = f"predict: {question} ({noted})"
    if answer:
        return Card(html, text)

    def live() -> Mapping[str, Any]:
        from learnkit.course.display.buttons import Choice

        return bundle(Choice(f"Predict: {question}", options, on_answer).box)

    return Card(html, text, live)


def reveal(prediction: Prediction, given: str | None) -> Card:
    """What happens, and why each option is right or wrong; marks the learner's.

    Args:
        prediction: the question and its options.
        given: the letter that the learner chose; None explains under a fold.
    """
    _known("this prediction", given, prediction.options)
    right = prediction.right
    why = explained(prediction.options, right, given)
    if given is None:
        head = "You have not predicted; choose first, or read on."
        why = f"<details><summary>read on</summary>{why}</details>"
    elif given == right:
        head = f"✓ You said {given}, and so it is."
    else:
        head = f"You said {given}; it is {right}: {prediction.options[right].text}"
    return Card(f"<p><strong>{inline(head)}</strong></p>{why}", head)


def exercise(
    number: int, exercise: Exercise, on_pass: Callable[[], object] = lambda: None
) -> tuple[Callable[[Any], None], Callable[[], None]]:
    """The two functions that stand below an exercise.

    Args:
        number: from 1.
        exercise: its check and its hints.
        on_pass: called each time that the learner's object is right.

    Returns:
        ``check(thing)``, which prints ✓ or what is not right yet and does not raise, and
        ``hint()``, which prints the next of three hints.
    """
    given = 0

    def check(thing: Any) -> None:
        from learnkit.course.exercise_checks import judge

        wrong = judge(exercise.check, thing)
        print(f"not yet: {wrong}" if wrong else f"✓ exercise {number}: {exercise.title}")
        if not wrong:
            on_pass()

    def hint() -> None:
        nonlocal given
        if given < len(exercise.hints):
            given += 1
            print(f"hint {given} of {len(exercise.hints)}: {exercise.hints[given - 1]}")
        else:
            print("Those were the hints; the solution is folded below this exercise.")

    check.__name__, hint.__name__ = f"check_{number}", f"hint_{number}"
    return check, hint


def quiz(
    questions: Sequence[Question],
    given: Mapping[str, str],
    on_answer: Callable[[str, str], object],
) -> Card:
    """Questions with every option explained, and a score.

    Args:
        questions: they are called q1, q2, …
        given: name -> letter, as far as answers were given in the call.
        on_answer: called with name and letter for each answer in the widget.

    Raises:
        UsageError: for a name or a letter that there is not.
    """
    named = {f"q{number}": question for number, question in enumerate(questions, start=1)}
    for name, letter in given.items():
        if name not in named:
            raise UsageError(f"the quiz has no question {name!r}; it has {', '.join(named)}")
        _known(name, letter, named[name].options)
    html = "".join(_question(name, one, given.get(name)) for name, one in named.items())
    if not given:

        def live() -> Mapping[str, Any]:
            from learnkit.course.display.buttons import quiz_box

            return bundle(quiz_box(named, on_answer))

        return Card(html, f"quiz: {count(len(named), 'question')}", live)
    marks = [f"{name} {'✓' if named[name].right == k else '✗'} {k}" for name, k in given.items()]
    score = scored(named, given)
    return Card(f"{html}<p><strong>{score}</strong></p>", f"quiz: {score} ({', '.join(marks)})")


def show_source(thing: Any) -> Card:
    """The source of a module, class, function, method or tool; see ``display.source``."""
    from learnkit.course.display import source as sources

    return sources.show_source(thing)


def explained(options: Mapping[str, Option], right: str, given: str | None) -> str:
    """Every option with its reason, the right one and the learner's marked in words."""
    rows = []
    for letter, option in options.items():
        yours = ", your answer" if letter == given else ""
        mark = "✓ right" if letter == right else "✗ not so"
        rows.append(
            f"<li><strong>{letter}</strong> ({mark}{yours}) · {inline(option.text)}<br>"
            f"{inline(option.why)}</li>"
        )
    return f"<ul>{''.join(rows)}</ul>"


def scored(questions: Mapping[str, Question], given: Mapping[str, str]) -> str:
    """``3 of 4 right``, or how many are answered so far."""
    right = sum(questions[name].right == letter for name, letter in given.items())
    missing = len(questions) - len(given)
    return f"{right} of {len(questions)} right" + (f", {missing} to answer" if missing else "")


def _question(name: str, question: Question, given: str | None) -> str:
    """One question in static form; the reasons are folded until there is an answer."""
    head = f"<p><strong>{name}. {inline(question.text)}</strong></p>"
    why = explained(question.options, question.right, given)
    if given is not None:
        return head + why
    rows = "".join(
        f"<li><strong>{letter}</strong> · {inline(option.text)}</li>"
        for letter, option in question.options.items()
    )
    return f"{head}<ul>{rows}</ul><details><summary>answer {name}</summary>{why}</details>"


def _known(what: str, letter: str | None, options: Mapping[str, Any]) -> None:
    if letter is not None and letter not in options:
        raise UsageError(f"{what} has no option {letter!r}; it has {', '.join(options)}")


def _versions() -> str:
    from importlib.metadata import version

    names = ("learnkit", "anthropic")
    own = ", ".join(f"{name} {version(name)}" for name in names)
    return f"{own}, Python {sys.version.split()[0]}"
