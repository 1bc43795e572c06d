"""The start page: twelve lessons, what each adds, how long it takes, and how far the learner is.

It is no lesson. ``learnkit lab`` writes it as a notebook beside the working copies, with the table
as it stands on that day, so it can be read before anything has run; running its cell draws it anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learnkit.course import files as course_files
from learnkit.course.display.card import Card, inline
from learnkit.course.lessons import Lesson, load
from learnkit.course.progress import Progress
from learnkit.course.publish import repository
from learnkit.views.drawing.text import count, esc

#: The file's name in the working copy.
NAME = "start.ipynb"

#: The text around the table.
_TEXT = Path(__file__).with_suffix(".md")
_CELL = "from learnkit import contents\n\ncontents()"


@dataclass(frozen=True, slots=True)
class Row:
    """A lesson, and what the learner has done in it.

    Attributes:
        number: 1 to 12.
        file: of the notebook.
        lesson: its texts.
        done: what is remembered; see ``Progress.of``.
    """

    number: int
    file: str
    lesson: Lesson
    done: Mapping[str, Mapping[str, str]]

    @property
    def predicted(self) -> int:
        """Predictions made."""
        return len(set(self.done.get("predictions", ())) & set(self.lesson.predictions))

    @property
    def passed(self) -> int:
        """Exercises passed."""
        numbers = {str(n) for n in range(1, len(self.lesson.exercises) + 1)}
        return len(set(self.done.get("exercises", ())) & numbers)

    @property
    def right(self) -> int:
        """Questions of the quiz that were answered right at last."""
        return sum(self._answers.get(name) == one.right for name, one in self._quiz.items())

    @property
    def answered(self) -> int:
        """Questions of the quiz that were answered."""
        return len(set(self._answers) & set(self._quiz))

    @property
    def state(self) -> str:
        """``new``, ``begun`` or ``finished``: all exercises passed and all questions answered."""
        if self.passed == len(self.lesson.exercises) and self.answered == len(self._quiz):
            return "finished"
        return "begun" if any(self.done.values()) else "new"

    def __str__(self) -> str:
        lesson = self.lesson
        return (
            f"{_GLYPH[self.state]} {self.number:2} {lesson.title}: {self.state}; "
            f"{self.predicted} of {len(lesson.predictions)} predictions, "
            f"{self.passed} of {len(lesson.exercises)} exercises, "
            f"{self.right} of {len(lesson.quiz)} right in the quiz"
        )

    @property
    def _answers(self) -> Mapping[str, str]:
        return self.done.get("quiz", {})

    @property
    def _quiz(self) -> dict[str, Any]:
        return {f"q{number}": one for number, one in enumerate(self.lesson.quiz, start=1)}


def rows(folder: Path, progress: Progress | None = None) -> list[Row]:
    """The lessons whose notebooks are in a folder, in order.

    Args:
        folder: of the notebooks.
        progress: where notes are; None for nobody's.
    """
    files = {path.stem[:3]: path.name for path in sorted(folder.glob("s[0-9][0-9]_*.ipynb"))}
    return [
        Row(int(name[1:]), file, load(name), progress.of(name) if progress else {})
        for name, file in files.items()
    ]


def contents(*, forget: bool = False, folder: str | Path = "") -> Card:
    """The course's contents with the learner's progress; as a cell's last line it shows itself.

    Args:
        forget: begin anew: remove what is remembered.
        folder: of the notebooks; by default where this one is, else the course's own.
    """
    progress = Progress()
    if forget:
        progress.forget()
    here = Path(folder) if folder else Path.cwd()
    found = rows(here, progress) or rows(course_files.notebooks(), progress)
    return Card(table(found), summary(found))


def summary(found: Sequence[Row]) -> str:
    """How far the learner is, and what comes next, in a sentence or two."""
    finished = [row for row in found if row.state == "finished"]
    open_ = [row for row in found if row.state == "begun"]
    left = [row for row in found if row.state != "finished"]
    if not left:
        return f"You have finished {count(len(found), 'lesson')}: all there are."
    minutes = sum(row.lesson.minutes for row in left)
    time = f"about {round(minutes / 60)} hours" if minutes > 90 else f"{minutes} minutes"
    if not finished and not open_:
        return f"{count(len(found), 'lesson')}, {time}. Begin with lesson {left[0].number}."
    latest = (open_ or left)[0]
    verb = "go on with" if open_ else "next comes"
    head = f"{len(finished)} of {count(len(found), 'lesson')} finished, {time} to go;"
    return f"{head} {verb} lesson {latest.number}, {latest.lesson.title}."


# JupyterLab aligns cells to the right.
_LEFT = "text-align:left"
_SHORT = f"{_LEFT};white-space:nowrap"
_GLYPH = {"new": "○", "begun": "▶", "finished": "✓"}


def table(found: Sequence[Row]) -> str:
    """The lessons as a plain HTML table: what a page shows that has run nothing."""
    head = "".join(
        f'<th style="{_LEFT}">{one}</th>'
        for one in ("", "lesson", "what it adds", "time", "predictions", "exercises", "quiz")
    )
    body = "".join(_row(row) for row in found)
    return (
        f"<p><strong>{esc(summary(found))}</strong></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _row(row: Row) -> str:
    lesson, quiz = row.lesson, len(row.lesson.quiz)
    marks = "✓" * row.passed + "○" * (len(lesson.exercises) - row.passed)
    cells = (
        f"{_GLYPH[row.state]} {row.state}",
        f'<a href="{esc(row.file)}">{row.number} · {esc(lesson.title)}</a>'
        f"<br>{inline(lesson.promise)}",
        inline(lesson.adds),
        f"{lesson.minutes} min",
        f"{row.predicted} of {len(lesson.predictions)}",
        f"{marks} {row.passed} of {len(lesson.exercises)}",
        f"{row.right} of {quiz} right" if row.answered else f"{count(quiz, 'question')}",
    )
    styles = [_SHORT, _LEFT, _LEFT, *[_SHORT] * 4]
    pairs = zip(styles, cells, strict=True)
    return "<tr>" + "".join(f'<td style="{style}">{cell}</td>' for style, cell in pairs) + "</tr>"


def notebook(folder: Path) -> str:
    """The start page as a notebook, its table as it stands now.

    Args:
        folder: of the working copies.

    Returns:
        The text of the ``.ipynb`` file.
    """
    card = contents(folder=folder)
    text = _TEXT.read_text("utf-8").replace("<!-- repository -->", repository.address())
    above, below = text.strip().split("\n\n<!-- contents -->\n\n")
    output = {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/html": card.html, "text/plain": card.text},
    }
    return book(
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": above},
        {
            "cell_type": "code",
            "id": "contents",
            "metadata": {},
            "execution_count": 1,
            "outputs": [output],
            "source": _CELL,
        },
        {"cell_type": "markdown", "id": "help", "metadata": {}, "source": below},
    )


def book(*cells: Mapping[str, Any]) -> str:
    """A notebook of such cells, as the text of a file."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"
