"""The questions of a lesson as cards: plain HTML and a line of text, for committed outputs.

Nothing here is a dead end: a prediction that was not answered is explained all the same, under a
fold.
"""

from __future__ import annotations

from collections.abc import Mapping

from learnkit.course.content import Exercise, Prediction, Question
from learnkit.course.display.card import Card, choices, explained, inline, rows, situation, verdict
from learnkit.events.text import count
from learnkit.views.drawing.text import esc


def prediction_card(one: Prediction) -> Card:
    """Ask for a prediction before the cell below is run; nothing is explained yet."""
    todo = f"choose one of {', '.join(one.options)}"
    head = f"<p><strong>Predict: {inline(one.question)}</strong></p>{situation(one)}"
    said = "\n".join(filter(None, (one.setup, *one.cases, *one.steps, one.question)))
    return Card(f"{head}{choices(one.options)}<p>{todo}</p>", f"predict: {said} ({todo})")


def reveal_card(prediction: Prediction, given: str | None, repaired: bool = False) -> Card:
    """Say what happens, or what did before the repair, and why each option is right or wrong."""
    right, so, it_is = prediction.right, "and so it is", "it is"
    if repaired:
        so, it_is = "and so it was before your repair", "before your repair it was"
    why, live = explained(prediction.options, right, given), rows(prediction.options, right, given)
    if given == right:
        return verdict(f"✓ You said {given}, {so}.", why, live)
    if given:
        head = f"You said {given}; {it_is} {right}: {prediction.options[right].text}"
        return verdict(head, why, live)
    head = "You have not predicted; choose first, or read on."
    html = f"<p><strong>{head}</strong></p><details><summary>read on</summary>{{}}</details>"
    return Card(html.format(why), head).or_html(html.format(live))


def quiz_card(questions: Mapping[str, Question]) -> Card:
    """Show the quiz, with every option explained under a fold."""
    html = "".join(_question(name, one) for name, one in questions.items())
    return Card(html, f"quiz: {count(len(questions), 'question')}")


def exercise_card(exercise: Exercise, said: str) -> Card:
    """Say what an answer does wrong, or that it is right; hints and solution are folded."""
    if said.startswith("✓"):
        return verdict(said)
    folds = {f"hint {n}": f"<p>{inline(one)}</p>" for n, one in enumerate(exercise.hints, start=1)}
    folds["solution"] = f"<pre>{esc(exercise.solution)}</pre>"
    more = "".join(f"<details><summary>{n}</summary>{one}</details>" for n, one in folds.items())
    return verdict(said, more)


def _question(name: str, question: Question) -> str:
    head = f"<p><strong>{name}. {inline(question.question)}</strong></p>{situation(question)}"
    why = explained(question.options, question.right, None)
    folded = f"<details><summary>answer {name}</summary>{why}</details>"
    return f"{head}{choices(question.options)}{folded}"
