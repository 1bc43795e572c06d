"""What a learner has done so far: predictions, exercises and quiz answers, in one local file.

The file lies in the learner's working copy of the lessons and is sent nowhere. A lesson never
fails because of it: what cannot be written is not remembered, and a damaged file is put aside.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import Timeout

from learnkit.backends.files.store import Document
from learnkit.course import files as course_files
from learnkit.errors import UsageError

#: The setting that names the working copy; ``learnkit lab`` makes it for its kernels.
SETTING = "LEARNKIT_WORKBOOK"
#: The name of the working copy in the folder where ``learnkit lab`` was called.
COPY = "learnkit-course"
#: Its name in earlier versions.
_EARLIER = "workbook"
#: Remembers, in a working copy, what each notebook was copied from.
STATE = ".copied.json"
#: What is remembered of a lesson: each a dict from a name to an answer.
KINDS = ("opened", "predictions", "exercises", "quiz", "play")


def working_copy() -> Path:
    """The learner's folder: a copy of the lessons, so that what they write breaks no test.

    It is what ``LEARNKIT_WORKBOOK`` names; else the current directory, if that is a working copy;
    else ``learnkit-course`` in it, or ``workbook`` if an earlier version has made that.
    """
    if asked := os.environ.get(SETTING):
        return Path(asked).absolute()
    here = Path.cwd()
    if (here / "recordings").is_dir() and (here.parent / "pyproject.toml").is_file():
        here = here.parent  # a clone's originals are open, and its top is no place for tests
    if is_copy(here):
        return here
    earlier = here / _EARLIER
    return earlier if is_copy(earlier) and not (here / COPY).exists() else here / COPY


def is_copy(folder: Path) -> bool:
    """Whether a folder is a working copy of the lessons."""
    lessons = any(folder.glob("s[0-9][0-9]_*.ipynb")) and (folder / "start.ipynb").is_file()
    return lessons or (folder / STATE).is_file()


class Progress:
    """The learner's notes in a file.

    Args:
        path: of the file; by default ``progress.json`` in the working copy.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        work = working_copy()
        self._file = Document(path or work / "progress.json")
        # A notebook outside of any working copy leaves no notes, except for those of a clone.
        clone = course_files.checkout()
        self._kept = bool(
            path or os.environ.get(SETTING) or work.is_dir() or (clone and work.parent == clone)
        )

    @property
    def path(self) -> Path:
        """Where the file is, or would be."""
        return self._file.path

    def note(self, lesson: str, kind: str, name: str, value: str = "yes") -> bool:
        """Remember something; the last answer counts.

        Args:
            lesson: for example ``s03``.
            kind: one of ``opened``, ``predictions``, ``exercises``, ``quiz`` and ``play``.
            name: of the prediction, exercise or question.
            value: the answer.

        Returns:
            Whether it is written down. A place that cannot be written to is no error.

        Raises:
            UsageError: for a kind that there is not.
        """
        if kind not in KINDS:
            raise UsageError(f"progress knows {', '.join(KINDS)}; it does not know {kind!r}")
        if not self._kept:
            return False
        try:
            self._put_damage_aside()
            with self._file.change({}) as notes:
                notes.setdefault(lesson, {}).setdefault(kind, {})[name] = value
        except (OSError, Timeout):
            return False
        return True

    def of(self, lesson: str) -> dict[str, dict[str, str]]:
        """What is known of a lesson: kind -> name -> value, each kind present."""
        notes = self._read().get(lesson, {})
        return {kind: dict(notes.get(kind, {})) for kind in KINDS}

    def forget(self) -> None:
        """Remove the file: everything is new again."""
        for path in (self.path, self._aside):
            path.unlink(missing_ok=True)

    @property
    def _aside(self) -> Path:
        return self.path.with_suffix(".damaged")

    def _read(self) -> Mapping[str, Any]:
        with contextlib.suppress(OSError, UsageError):
            found = self._file.read({})
            if _sound(found):
                return dict(found)
        return {}

    def _put_damage_aside(self) -> None:
        if self.path.exists() and not self._read():
            self.path.replace(self._aside)


def _sound(notes: Any) -> bool:
    """Whether it is lesson -> kind -> name -> text: somebody may have edited the file."""
    return isinstance(notes, dict) and all(
        isinstance(kinds, dict)
        and all(
            isinstance(named, dict) and all(isinstance(one, str) for one in named.values())
            for named in kinds.values()
        )
        for kinds in notes.values()
    )
