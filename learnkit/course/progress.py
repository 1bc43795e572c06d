"""What a learner has done so far: lessons, exercises and quiz answers, in one local file.

The file is in the learner's working copy of the lessons, and is sent nowhere. It never makes a
lesson fail: what can't be written is not remembered, and a damaged file is moved aside.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from learnkit.backends.files.store import Document
from learnkit.course import files as course_files
from learnkit.course.content import Lesson, load
from learnkit.errors import UsageError

#: The setting that names the working copy; ``learnkit lab`` makes it for its kernels.
SETTING = "LEARNKIT_WORKBOOK"
#: The name of the working copy in the folder where ``learnkit lab`` was called.
COPY = "learnkit-course"
#: Remembers, in a working copy, what each notebook was copied from.
STATE = ".copied.json"
#: What is remembered of a lesson: each a dict from a name to an answer.
KINDS = ("opened", "exercises", "quiz")
_Notes = dict[str, dict[str, dict[str, str]]]  # lesson -> kind -> name -> value
_NOTES = TypeAdapter(_Notes)  # the user may have edited the file
#: A sign for each state of a lesson.
MARKS = {"new": "○", "begun": "▶", "finished": "✓"}


def working_copy() -> Path:
    """Return the learner's folder: a copy of the lessons, so that what they write breaks no test.

    It is what ``LEARNKIT_WORKBOOK`` names; else the current directory, if that is a working copy;
    else ``learnkit-course`` in it.
    """
    if asked := os.environ.get(SETTING):
        return Path(asked).absolute()
    here = Path.cwd()
    if here.name == "beyond":  # the folder of part two
        here = here.parent
    if (here / "recordings").is_dir() and (here.parent / "pyproject.toml").is_file():
        here = here.parent  # opened on a clone's originals: the copy belongs at the clone's top
    return here if is_copy(here) else here / COPY


def is_copy(folder: Path) -> bool:
    """Return whether a folder is a working copy of the lessons."""
    lessons = bool(course_files.lessons(folder)) and (folder / "start.ipynb").is_file()
    return lessons or (folder / STATE).is_file()


class Progress:
    """The learner's notes in a file.

    Args:
        path: of the file; by default ``progress.json`` in the working copy.

    Attributes:
        kept: whether anything is written: not outside of a working copy.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        work = working_copy()
        self._file = Document(path or work / "progress.json")
        clone = course_files.checkout()
        asked = path or os.environ.get(SETTING)
        self.kept = bool(asked) or work.is_dir() or work.parent == clone

    @property
    def path(self) -> Path:
        """Where the file is, or would be."""
        return self._file.path

    def note(self, lesson: str, kind: str, name: str, value: str = "yes") -> None:
        """Remember something, if it can be written; the last answer counts.

        Args:
            lesson: for example ``s03``.
            kind: one of :data:`KINDS`.
            name: of the exercise or question.
            value: the answer.
        """
        if not self.kept:
            return
        with contextlib.suppress(OSError):  # a folder without write access is no error
            if self.path.exists() and not self._read():
                self.path.replace(self.path.with_suffix(".damaged"))
            with self._file.change({}) as notes:
                notes.setdefault(lesson, {}).setdefault(kind, {})[name] = value

    def of(self, lesson: str) -> dict[str, dict[str, str]]:
        """Return what is known of a lesson: kind -> name -> value, with every kind.

        Args:
            lesson: for example ``s03``.
        """
        notes = self._read().get(lesson, {})
        return {kind: dict(notes.get(kind, {})) for kind in KINDS}

    def _read(self) -> _Notes:
        with contextlib.suppress(OSError, UsageError, ValidationError):
            return _NOTES.validate_python(self._file.read({}), strict=True)
        return {}


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """A lesson, and what the learner has done in it.

    Attributes:
        number: 1 to 12; those of part two go on from there.
        name: for example ``s03``.
        file: of the notebook, below the folder of the lessons.
        lesson: its texts.
        done: what is remembered, as :meth:`Progress.of` returns it.
    """

    number: int
    name: str
    file: str
    lesson: Lesson
    done: Mapping[str, Mapping[str, str]]

    @property
    def label(self) -> str:
        """Its number, as the learner sees it."""
        return str(self.number) if self.name.startswith("s") else self.name

    @property
    def passed(self) -> int:
        """How many exercises the learner has passed."""
        numbers = {str(n) for n in range(1, len(self.lesson.exercises) + 1)}
        return len(set(self.done.get("exercises", ())) & numbers)

    @property
    def right(self) -> int:
        """How many questions of the quiz have a right last answer."""
        return sum(self._answers.get(name) == q.right for name, q in self.lesson.questions.items())

    @property
    def answered(self) -> int:
        """How many questions of the quiz have an answer."""
        return len(set(self._answers) & set(self.lesson.questions))

    @property
    def state(self) -> str:
        """``new``, ``begun`` or ``finished``: all exercises passed and all questions answered."""
        if self.passed == len(self.lesson.exercises) and self.answered == len(self.lesson.quiz):
            return "finished"
        return "begun" if any(self.done.values()) else "new"

    @property
    def _answers(self) -> Mapping[str, str]:
        return self.done.get("quiz", {})


def lesson_progress(
    folder: Path, progress: Progress | None = None, *, part_two: bool = False
) -> list[LessonProgress]:
    """Return the lessons whose notebooks are in a folder, or those of part two, in order."""
    found = []
    for path in (course_files.part_two if part_two else course_files.lessons)(folder):
        name, file = course_files.name(path), path.relative_to(folder).as_posix()
        number, done = int(name[1:]) + 12 * part_two, progress.of(name) if progress else {}
        found.append(LessonProgress(number, name, file, load(name), done))
    return found
