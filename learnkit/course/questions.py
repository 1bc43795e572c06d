"""A lesson's questions: predictions, exercises and the quiz, and what the learner said to them.

What is answered in front of a notebook is remembered for the start page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from learnkit.course.progress import Progress
from learnkit.errors import UsageError

if TYPE_CHECKING:
    from learnkit.course.lessons import Lesson


class Questions:
    """What a lesson asks its reader.

    Args:
        lesson: the lesson's texts.
        name: ``s01`` to ``s12``.
        static: nobody sits in front of it.
    """

    def __init__(self, lesson: Lesson, name: str, static: bool) -> None:
        self.lesson, self.name, self.static = lesson, name, static
        self._answers: dict[str, str] = {}

    def predict(self, name: str, answer: str | None = None) -> Any:
        """Ask for a prediction, or take it.

        Args:
            name: the prediction's name, e.g. ``p1``.
            answer: the letter of the option; None shows the question.
        """
        from learnkit.course.display import cards

        prediction = self._named(self.lesson.predictions, name, "prediction")
        if answer is not None:
            self._named(prediction.options, answer, "option")
            self._noted("predictions", name, answer)
        return cards.predict(
            prediction, answer, lambda given: self._noted("predictions", name, given)
        )

    def reveal(self, name: str) -> Any:
        """Explain every option of a prediction, and mark the one that was chosen."""
        from learnkit.course.display import cards

        prediction = self._named(self.lesson.predictions, name, "prediction")
        return cards.reveal(prediction, self._answers.get(name))

    def exercise(self, number: int) -> tuple[Callable[[Any], None], Callable[[], None]]:
        """The check and the hints of an exercise: ``check_1, hint_1 = lab.exercise(1)``.

        Args:
            number: from 1.
        """
        from learnkit.course.display import cards

        exercises = {str(i): one for i, one in enumerate(self.lesson.exercises, start=1)}
        chosen = self._named(exercises, str(number), "exercise")
        return cards.exercise(number, chosen, lambda: self.remember("exercises", str(number)))

    def quiz(self, **answers: str) -> Any:
        """The lesson's questions; answer with the widget, or as ``lab.quiz(q1="b")``."""
        from learnkit.course.display import cards

        card = cards.quiz(self.lesson.quiz, answers, self._answered)
        for name, letter in answers.items():
            self._answered(name, letter)
        return card

    def show_source(self, thing: Any) -> Any:
        """The source of a function, method or class of the package, with where it stands."""
        from learnkit.course.display import cards

        return cards.show_source(thing)

    def _noted(self, kind: str, name: str, answer: str) -> None:
        self._answers[name] = answer
        self.remember(kind, name, answer)

    def _answered(self, name: str, letter: str) -> None:
        self._noted("quiz", name, letter)

    def remember(self, kind: str, name: str, value: str = "yes") -> None:
        """Note something for the start page; what is static leaves no trace.

        Args:
            kind, name, value: as in :meth:`learnkit.course.progress.Progress.note`.
        """
        if not self.static:  # tests, and outputs that are committed
            Progress().note(self.name, kind, name, value)

    @staticmethod
    def _named(things: Any, name: str, kind: str) -> Any:
        if name not in things:
            raise UsageError(f"there is no {kind} {name!r}; there are: {', '.join(things)}")
        return things[name]
