"""What a lesson contains besides its notebook: predictions, exercises and a quiz.

The notebook tells the story. What the lab shows is in the lesson's folder below ``lessons``: texts
in ``questions.yaml``, and the checks of the exercises in ``exercises.py``. ``load`` puts both
together.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from learnkit.course.content.lesson import (
    Exercise,
    Game,
    Lesson,
    Option,
    Prediction,
    Question,
    Remark,
    Repair,
    Verdict,
)
from learnkit.errors import UsageError

__all__ = [
    "Exercise",
    "Game",
    "Lesson",
    "Option",
    "Prediction",
    "Question",
    "Remark",
    "Repair",
    "Verdict",
    "load",
]

#: The folders of what each lesson has of its own; its modules are loaded by its name.
_LESSONS = Path(__file__).resolve().parents[1] / "lessons"
_MODULES = "learnkit.course.lessons"


@cache  # the start page asks for all twelve each time that it is written
def load(name: str) -> Lesson:
    """Return the content of a lesson."""
    from learnkit.course.content import question_file

    folder = _LESSONS / name
    if not (folder / question_file.NAME).is_file():
        here = sorted(path.parent.name for path in folder.parent.glob("*/questions.yaml"))
        raise UsageError(f"there is no lesson {name!r}; there are: {', '.join(here) or 'none yet'}")
    texts = question_file.read(folder / question_file.NAME)
    checks = importlib.import_module(f"{_MODULES}.{name}.exercises").EXERCISES
    game = None
    if (said := texts.game) is not None:
        own = importlib.import_module(f"{_MODULES}.{name}.game")
        judge, ready = getattr(own, "judge", None), getattr(own, "READY", {})
        replies = said.replies()
        game = Game(said.prompt, own.mechanisms, replies, said.system, judge, ready)
    exercises = [Exercise(**dict(text), check=checks[text.name]) for text in texts.exercises]
    return Lesson(**{**dict(texts), "exercises": exercises, "game": game})
