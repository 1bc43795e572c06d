"""The learner's own ``agent.py``, which grows by the cells of each lesson as the learner has them.

What part two adds goes into ``agent_beyond.py``, which begins as the learner's whole ``agent.py``.

A part that learnkit wrote last is rewritten. What the learner has changed there is kept, and the
lesson's text goes below it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.course.agent_file.source import Definition, Source, joined, lessons, split
from learnkit.errors import UsageError

NAME = "agent.py"
BELOW = ", from the lesson"


class OwnFile:
    """The file at a lesson: first it gets what the lessons before add, where that is missing.

    Args:
        lesson: for example ``s03``.
        folder: of the file; None to keep its text in memory only.
    """

    def __init__(self, lesson: str, folder: Path | None) -> None:
        self.lesson, self._folder = lesson, folder
        self.name = file_name(lesson)
        before = before_lesson(lesson)
        self.source, self._written = Source.reference(before), Source.reference(before).sections()
        if folder and not (folder / self.name).exists() and (folder / NAME).exists():
            for made in (NAME, state_name(NAME)):
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy(folder / made, folder / made.replace("agent", "agent_beyond"))
        if folder and (folder / state_name(self.name)).exists():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # it is damaged
                state = json.loads((folder / state_name(self.name)).read_text("utf-8"))
                definitions = [Definition(**one) for one in state["definitions"]]
                self.source = Source(definitions, set(state["imports"]))
                self._written = state["written"]
                self.source.fill(before)
        self._text = str(self.source)

    @property
    def text(self) -> str:
        """The whole file."""
        path = self._folder / self.name if self._folder else None
        return path.read_text("utf-8") if path and path.exists() else self._text

    def add(self, cell: str) -> list[str]:
        """Add a cell, write the file, and return the markers below which something was kept."""
        self.source.add(self.lesson, cell)
        made = self.source.sections()
        if self._folder is None or not (self._folder / self.name).exists():
            kept, sections = list[str](), made
        else:
            kept, sections = merged(split(self.text), self._written, made)
        self._text, self._written = joined(sections), made
        if self._folder:
            state = {
                "definitions": [asdict(one) for one in self.source.definitions],
                "imports": sorted(self.source.imports),
                "written": made,
            }
            course_files.put(self._folder / self.name, self._text)
            course_files.put(self._folder / state_name(self.name), json.dumps(state, indent=1))
        return kept


def merged(
    have: dict[str, str], written: dict[str, str], made: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Put new sections into a file's, and return which of those are the learner's own.

    Args:
        have: the sections of the file.
        written: those that learnkit wrote last.
        made: the new ones.
    """
    kept, result = list[str](), dict[str, str]()
    for name, text in made.items():
        mine = have.pop(name, "")
        below = have.pop(name + BELOW, "")
        if not mine.strip() or mine in (text, written.get(name)):
            result[name] = text
        elif name == "":  # imports: each line can be there twice
            old = mine.strip("\n").splitlines()
            new = [line for line in text.splitlines() if "import" in line and line not in old]
            result[name] = "\n".join(old + new)
        else:
            result[name] = mine
            if name != "main" and text != written.get(name):
                kept.append(name)
                below = text
            if below:
                result[name + BELOW] = below
    main = result.pop("main")
    return kept, {**result, **have, "main": main}


def file_name(lesson: str) -> str:
    """The file that a lesson adds to."""
    return NAME if lesson.startswith("s") else "agent_beyond.py"


def state_name(name: str) -> str:
    """The file beside it: what learnkit wrote last."""
    return f".{Path(name).stem}.json"


def before_lesson(lesson: str) -> str:
    """The lesson before one, or an empty text; part two's can be taken in any order."""
    twelve = [name for name in lessons() if name.startswith("s")]
    return max((name for name in twelve if name < lesson or lesson[0] != "s"), default="")


def write_reference(lesson: str, folder: Path, *, force: bool = False) -> Path:
    """Write the reference as it is after a lesson.

    Raises:
        UsageError: if there is no such lesson, or a file that says something else.
    """
    if lesson not in lessons():
        raise UsageError(f"there is no lesson {lesson!r}; there are: {', '.join(lessons())}")
    path, text = folder / file_name(lesson), str(Source.reference(lesson))
    if path.exists() and path.read_text("utf-8") != text and not force:
        raise UsageError(
            f"{path} says something else, and is kept. To replace it: "
            f"learnkit agent {lesson} --force"
        )
    course_files.put(path, text)
    (folder / state_name(path.name)).unlink(missing_ok=True)
    return path
