"""A lesson's questions and the learner's answers: what the cards and the widgets are made from.

Both forms read this state, and neither form knows the other. The lab chooses one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from learnkit.errors import UsageError

if TYPE_CHECKING:
    from learnkit.course.content import Exercise, Lesson, Prediction, Question

T = TypeVar("T")


class Questions:
    """What a lesson asks, and what the learner has answered.

    Args:
        lesson: the lesson's texts.
        remember: called with the kind, the name and the value of each answer, as
            :meth:`learnkit.course.progress.Progress.note` takes them.

    Attributes:
        predicted: name of a prediction -> the letter that the learner chose.
        quiz: name -> question: ``q1``, ``q2``, …
    """

    def __init__(self, lesson: Lesson, remember: Callable[[str, str, str], object]) -> None:
        self._lesson, self._remember = lesson, remember
        self.predicted: dict[str, str] = {}
        self.quiz: Mapping[str, Question] = lesson.questions

    def prediction(self, name: str) -> Prediction:
        """Return a prediction.

        Args:
            name: its name, e.g. ``p1``.

        Raises:
            UsageError: if the lesson has no such prediction.
        """
        return _named(self._lesson.predictions, name, "prediction")

    def exercise(self, number: int) -> Exercise:
        """Return an exercise.

        Args:
            number: from 1.

        Raises:
            UsageError: if the lesson has no such exercise.
        """
        exercises = {str(i): one for i, one in enumerate(self._lesson.exercises, start=1)}
        return _named(exercises, str(number), "exercise")

    def predict(self, name: str, letter: str) -> None:
        """Note the answer to a prediction.

        Args:
            name: the prediction's name.
            letter: the chosen option.

        Raises:
            UsageError: if there is no such prediction or option.
        """
        _named(self.prediction(name).options, letter, "option")
        self.predicted[name] = letter
        self._remember("predictions", name, letter)

    def answer(self, name: str, letter: str) -> None:
        """Note the answer to a question of the quiz.

        Args:
            name: the question's name, e.g. ``q1``.
            letter: the chosen option.

        Raises:
            UsageError: if there is no such question or option.
        """
        question = _named(self.quiz, name, "question")
        _named(question.options, letter, f"option of {name}")
        self._remember("quiz", name, letter)


def score(questions: Mapping[str, Question], given: Mapping[str, str]) -> str:
    """Return the score as text, e.g. ``3 of 4 right``, and how many answers are missing."""
    right = sum(questions[name].right == letter for name, letter in given.items())
    missing = len(questions) - len(given)
    return f"{right} of {len(questions)} right" + (f", {missing} to answer" if missing else "")


def _named(things: Mapping[str, T], name: str, kind: str) -> T:
    if name not in things:
        raise UsageError(f"there is no {kind} {name!r}; there are: {', '.join(things)}")
    return things[name]
