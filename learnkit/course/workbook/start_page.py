"""The start page: twelve lessons, what each adds, how long it takes, and how far the learner is.

``learnkit lab`` writes it as a notebook beside the working copies of the lessons. Its table shows
the progress of that day, so the page can be read before any cell has run. Running its cell draws
the table again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from learnkit.course import files as course_files
from learnkit.course.display.card import FRAME, Card, inline
from learnkit.course.display.course_map import as_html
from learnkit.course.progress import MARKS, LessonProgress, Progress, lesson_progress
from learnkit.course.publish import repository
from learnkit.events.text import count
from learnkit.views.drawing.text import esc

#: The file's name in the working copy.
NAME = "start.ipynb"

#: The text around the table.
_TEXT = Path(__file__).with_suffix(".md")
_CELL = "from learnkit import contents\n\ncontents()"


def contents(*, forget: bool = False, folder: str | Path = "") -> Card:
    """Return the course's contents with the learner's progress, as a card that shows itself.

    Args:
        forget: remove everything that is remembered, to begin again.
        folder: the folder of the notebooks; by default the current one, else the course's own.
    """
    progress = Progress()
    if forget:
        progress.forget()
    here = Path(folder) if folder else Path.cwd()
    originals = course_files.notebooks()
    found = lesson_progress(here, progress) or lesson_progress(originals, progress)

    def page(*, live: bool) -> str:
        return (
            f"<p><strong>{esc(summary(found))}</strong> Each mechanism in the picture leads to its "
            f"lesson.</p>{as_html(found, live=live)}{table(found)}"
        )

    def opened() -> dict[str, str]:
        return {"text/html": f'<div style="{FRAME}">{page(live=True)}</div>'}

    return Card(page(live=False), summary(found), opened)


def summary(found: Sequence[LessonProgress]) -> str:
    """Return how far the learner is, and what comes next, in a sentence or two."""
    finished = [one for one in found if one.state == "finished"]
    begun = [one for one in found if one.state == "begun"]
    left = [one for one in found if one.state != "finished"]
    if not left:
        return f"You have finished {count(len(found), 'lesson')}: all there are."
    minutes = sum(one.lesson.minutes for one in left)
    time = f"about {round(minutes / 60)} hours" if minutes > 90 else f"{minutes} minutes"
    time += " and the exercises"
    if not finished and not begun:
        return f"{count(len(found), 'lesson')}, {time}. Begin with lesson {left[0].number}."
    latest = (begun or left)[0]
    verb = "go on with" if begun else "next comes"
    head = f"{len(finished)} of {count(len(found), 'lesson')} finished, {time} to go;"
    return f"{head} {verb} lesson {latest.number}, {latest.lesson.title}."


# JupyterLab aligns cells to the right.
_LEFT = "text-align:left"
_SHORT = f"{_LEFT};white-space:nowrap"


def table(found: Sequence[LessonProgress]) -> str:
    """Return the lessons as a plain HTML table."""
    head = "".join(
        f'<th style="{_LEFT}">{one}</th>'
        for one in ("", "lesson", "what it adds", "time", "predictions", "exercises", "quiz")
    )
    body = "".join(map(_row, found))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(one: LessonProgress) -> str:
    lesson, quiz = one.lesson, len(one.lesson.quiz)
    marks = "✓" * one.passed + "○" * (len(lesson.exercises) - one.passed)
    cells = (
        f"{MARKS[one.state]} {one.state}",
        f'<a href="{esc(one.file)}">{one.number} · {esc(lesson.title)}</a>'
        f"<br>{inline(lesson.promise)}",
        inline(lesson.adds),
        f"{lesson.minutes} min",
        f"{one.predicted} of {len(lesson.predictions)}",
        f"{marks} {one.passed} of {len(lesson.exercises)}",
        f"{one.right} of {quiz} right" if one.answered else f"{count(quiz, 'question')}",
    )
    styles = [_SHORT, _LEFT, _LEFT, *[_SHORT] * 4]
    pairs = zip(styles, cells, strict=True)
    return "<tr>" + "".join(f'<td style="{style}">{cell}</td>' for style, cell in pairs) + "</tr>"


def notebook(folder: Path) -> str:
    """Return the start page as a notebook, with the table of today."""
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
    """Return a notebook with these cells, as the text of a file."""
    made = {"cells": cells, "metadata": course_files.METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"
