"""The start page: twelve lessons, what each adds, how far the learner is, and their ``agent.py``.

``learnkit lab`` writes it as a notebook beside the working copies of the lessons. Its table shows
the progress of that day, so the page can be read before any cell has run. Running its cell draws
the table again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from learnkit.course import files as course_files
from learnkit.course.agent_file import own
from learnkit.course.agent_file.source import split
from learnkit.course.display.card import Card, inline
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


def contents(folder: str | Path = "") -> Card:
    """Return the course's contents with the learner's progress, as a card that shows itself.

    Args:
        folder: the folder of the notebooks; by default the current one, else the course's own.
    """
    progress = Progress()
    here = Path(folder) if folder else Path.cwd()
    originals = course_files.notebooks()
    where = here if course_files.lessons(here) else originals
    found = lesson_progress(where, progress)
    more = lesson_progress(where, progress, part_two=True)
    head = (
        f"<p><strong>{esc(summary(found))}</strong> Each column of the picture opens a lesson.</p>"
    )

    page = f"{head}{as_html(found)}{table(found + more, here)}"
    return Card(page, summary(found), lambda: {"text/html": page})


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


#: The first lesson of each phase: its name, and the problem that the phase before leaves open.
_PHASES = {
    1: ("basics", "a model can't act"),
    3: ("planning", "it drifts, and its context fills with detail"),
    5: ("resources", "the context window is finite"),
    7: ("persistence", "sessions end, and commands take time"),
    9: ("cooperation", "one agent does one thing at a time"),
    11: ("autonomy", "a lead that assigns everything is a bottleneck"),
    13: ("part two, in the products", "who decides, and how do you know that it is done?"),
}
#: A page that JupyterLab does not trust keeps this, but no style sheet.
_STYLE = "text-align:left;vertical-align:top;white-space:normal;overflow-wrap:anywhere"
_HEADS = ("lesson", "time", "exercises", "quiz", "your agent.py", "what it adds")


def table(found: Sequence[LessonProgress], folder: Path) -> str:
    """Return the lessons by phase as a plain HTML table, with what each added to ``agent.py``."""
    paths = [folder / own.file_name(part) for part in ("b", "s")]
    texts = [path.read_text("utf-8") if path.is_file() else "" for path in paths]
    parts = {name.partition(" ")[0]: part for text in texts for name, part in split(text).items()}
    rows = [_cells("th", _HEADS)]
    for one in found:
        if one.number in _PHASES:
            name, problem = _PHASES[one.number]
            phase = f"<strong>{name}</strong>: {problem}"
            rows.append(f'<td style="{_STYLE}" colspan="{len(_HEADS)}">{phase}</td>')
        rows.append(_cells("td", _row(one, parts.get(one.name, ""))))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(f'<{tag} style="{_STYLE}">{text}</{tag}>' for text in texts)


def _row(one: LessonProgress, part: str) -> tuple[str, ...]:
    lesson = one.lesson
    hooks = dict.fromkeys(re.findall(r'^@hook\("(\w+)"\)', part, re.MULTILINE))
    lines = count(len(part.strip().splitlines()), "line")
    return (
        f'{MARKS[one.state]} <a href="{esc(one.file)}" title="{esc(lesson.promise)}">'
        f"{one.label} · {esc(lesson.title)}</a>",
        f"{lesson.minutes}\u00a0min",
        "✓" * one.passed + "○" * (len(lesson.exercises) - one.passed),
        f"{one.right} of {len(lesson.quiz)}" if one.answered else "–",
        ", ".join([lines, *(f"<code>{hook}</code>" for hook in hooks)]) if part else "–",
        inline(lesson.adds),
    )


def notebook(folder: Path) -> str:
    """Return the start page as a notebook, with the table of today."""
    card = contents(folder=folder)
    text = _TEXT.read_text("utf-8").replace("<!-- repository -->", repository.address())
    above, below = text.strip().split("\n\n<!-- contents -->\n\n")
    output = {"output_type": "execute_result", "execution_count": 1, "metadata": {}}
    data = {"text/html": card.html, "text/plain": card.text}
    cell = {"cell_type": "code", "id": "contents", "metadata": {}, "execution_count": 1}
    return book(
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": above},
        {**cell, "outputs": [{**output, "data": data}], "source": _CELL},
        {"cell_type": "markdown", "id": "help", "metadata": {}, "source": below},
    )


def book(*cells: Mapping[str, Any]) -> str:
    """Return a notebook with these cells, as the text of a file."""
    made = {"cells": cells, "metadata": course_files.METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"
