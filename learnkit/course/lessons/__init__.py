"""What a lesson says besides its notebook: predictions, exercises and a quiz.

A notebook holds the story. The folder here with its name holds what the lab shows: the texts in
``questions.yaml``, the checks of the exercises in ``exercises.py``; their stubs and solutions are
tagged cells of the notebook. ``load`` makes one value of all, which is checked when it is made, so
a lesson cannot reach a learner with a prediction that has no right option, or an exercise without
three hints.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from learnkit.course.lessons.lesson import (
    Exercise as Exercise,
)
from learnkit.course.lessons.lesson import (
    Game as Game,
)
from learnkit.course.lessons.lesson import (
    Lesson as Lesson,
)
from learnkit.course.lessons.lesson import (
    Option as Option,
)
from learnkit.course.lessons.lesson import (
    Prediction as Prediction,
)
from learnkit.course.lessons.lesson import (
    Question as Question,
)
from learnkit.course.lessons.lesson import (
    Verdict as Verdict,
)
from learnkit.errors import UsageError

#: The running example: the project that every workspace is a copy of.
EXAMPLE = Path(__file__).resolve().parent / "heatwatch"


def load(name: str) -> Lesson:
    """The content of a lesson.

    Args:
        name: ``s01`` to ``s12``.

    Raises:
        UsageError: if there is no such lesson, or its data file says something that cannot be.
    """
    folder = Path(__file__).parent / name
    if not (folder / "questions.yaml").is_file():
        here = sorted(path.parent.name for path in folder.parent.glob("s*/questions.yaml"))
        raise UsageError(f"there is no lesson {name!r}; there are: {', '.join(here) or 'none yet'}")
    from learnkit.course import files as course_files
    from learnkit.course.lessons import question_file, sources

    texts = question_file.read(folder / question_file.NAME)
    cells = sources.read(course_files.notebook(name))
    checks = importlib.import_module(f"{__name__}.{name}.exercises").EXERCISES
    game = None
    if (said := texts.game) is not None:
        mechanisms = importlib.import_module(f"{__name__}.{name}.game").mechanisms
        game = Game(said.prompt, mechanisms, said.replies(), said.system)
    try:
        exercises = [
            sources.exercise(number, text, checks, cells)
            for number, text in enumerate(texts.exercises, start=1)
        ]
        return Lesson(
            texts.title,
            texts.promise,
            texts.adds,
            texts.minutes,
            texts.predictions,
            exercises,
            texts.quiz,
            game,
        )
    except UsageError as error:
        raise UsageError(f"course/lessons/{name}: {error}") from None
