"""A lesson's data file, ``questions.yaml``, and which keys it has.

The file contains the texts of a lesson. A test checks what a model of keys can't express, such as
that the right answer is one of the options.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from learnkit.course import data_file
from learnkit.course.content.lesson import Prediction, Question

if TYPE_CHECKING:
    from learnkit.clients.scripted import Reply

#: The name of the file in a lesson's folder.
NAME = "questions.yaml"


class _Strict(BaseModel):
    """A mapping without unknown keys, so that a misspelt key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Call(_Strict):
    """A reply of a script that calls a tool.

    Attributes:
        use: the tool's name.
        input: its arguments.
    """

    use: str
    input: dict[str, Any] = Field(default_factory=dict)


class GameText(_Strict):
    """The texts of a game; the agent's mechanisms are in the lesson's ``game.py``.

    Attributes:
        prompt, system: as in :class:`learnkit.course.lessons.Game`.
        script: replies: a text, a call, or a list of both.
    """

    prompt: str
    script: list[str | Call | list[str | Call]]
    system: str = ""

    def replies(self) -> list[Reply]:
        """Return the script as a scripted client takes it."""
        return [_reply(said if isinstance(said, list) else [said]) for said in self.script]


class ExerciseText(_Strict):
    """The texts of an exercise; its check is in ``exercises.py``, under its name.

    Attributes:
        title, name, hints, solution: as in :class:`learnkit.course.content.Exercise`.
    """

    title: str
    name: str
    hints: list[str]
    solution: str


class QuestionFile(_Strict):
    """A whole ``questions.yaml``; see :class:`learnkit.course.lessons.Lesson` for the fields."""

    title: str
    promise: str
    adds: str
    minutes: int
    predictions: dict[str, Prediction]
    exercises: list[ExerciseText]
    quiz: list[Question]
    game: GameText | None = None


_FILE = TypeAdapter(QuestionFile)


def read(path: Path) -> QuestionFile:
    """Read and check a lesson's data file."""
    return data_file.read(path, _FILE)


def _reply(parts: Sequence[str | Call]) -> Reply:
    from learnkit.clients.scripted import reply, use  # brings the SDK, which takes a second

    return reply(*(one if isinstance(one, str) else use(one.use, **one.input) for one in parts))
