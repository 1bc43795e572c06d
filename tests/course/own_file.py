"""The rules for a lesson that builds a part of the learner's ``agent.py``."""

from __future__ import annotations

import ast
import re

from learnkit.course.content.sources import agent_cells

from . import reading
from .subject import Rule, Subject, constant, headings, is_agents, lab_calls, parsed, tags

#: What a lesson may have at most, exercises, quiz and boxes included.
CELLS, WORDS, HEADINGS = 50, 1600, 14
#: Likewise in part two.
CELLS_BEYOND, WORDS_BEYOND = 45, 1400
#: How often the learner is told to look, instead of being asked.
LOOKS = 3
#: What the first cell, and the whole text, hold.
OPENING = {
    "a promise in bold": r"\*\*.+\*\*",
    "previous or next": r"previous|next",
    "contents": r"\[contents\]",
    "a Binder link": r"https://mybinder\.org/",
}
THERE = {
    "heading “Exercises”": r"^## Exercises",
    "heading “Quiz”": r"^## Quiz",
    "heading “Recap”": r"^## Recap",
    "line “In the products”": r"\*\*In the products",
    "command for the terminal": r"learnkit serve .*python agent(?:_beyond)?\.py",
}
#: What the learner plays or drags; a lesson has one of them, or the race finder.
PLAY = ("explore", "be_the_model", "night")


def size(subject: Subject) -> list[str]:
    """At most 50 cells, 1,600 words, 14 headings (45 and 1,400); no list of goals, no appendix."""
    titles = [title for _, text in subject.prose for _, title in headings(text)]
    words = sum(reading.words(text) for _, text in subject.prose)
    sizes = (
        (len(subject.book.cells), CELLS_BEYOND if subject.is_part_two else CELLS, "cells"),
        (words, WORDS_BEYOND if subject.is_part_two else WORDS, "words"),
        (len(titles), HEADINGS, "headings"),
        (len(re.findall(r"\bLook (?:for|at)\b", _all(subject))), LOOKS, "times “Look for”"),
    )
    found = [f"it has {n:,} {what}; {most:,} are allowed" for n, most, what in sizes if n > most]
    refused = re.compile(r"able to do|appendix|go live|what changed", re.IGNORECASE)
    return found + [
        f"the heading {title!r}: leave it out" for title in titles if refused.search(title)
    ]


def has_parts(subject: Subject) -> list[str]:
    """Cells of ``agent.py`` with at least one repair, and what each lesson says."""
    opening = subject.prose[0][1] if subject.prose else ""
    found = [f"the first cell lacks {what}" for what, p in OPENING.items() if not _has(p, opening)]
    found += [f"there is no {what}" for what, p in THERE.items() if not _has(p, _all(subject))]
    number = sum(is_agents(cell) for _, cell in subject.code)
    if number < 2:
        found.append(f"{number} cells begin with %%agent; the mechanism is built in two or more")
    repairs = [cell for cell in subject.book.cells if "repair" in tags(cell)]
    if len(agent_cells(subject.book)) != number + len(repairs):
        found.append("a cell tagged repair folds no code")
    tried = [call for _, cell in subject.code for call in lab_calls(cell.source, "repaired")]
    if not repairs or not tried:
        found.append("nothing is repaired: fold a solution in a cell tagged repair, and try it")
    return found


def minutes(subject: Subject) -> list[str]:
    """The minutes of the data file are near what is measured."""
    promised, needed = subject.lesson.minutes, measured(subject)
    if abs(promised - needed) <= reading.NEAR * needed:
        return []
    return [f"it promises {promised} minutes; it takes {needed:.0f}"]


def measured(subject: Subject) -> float:
    """Minutes for all but the exercises: words, lines of code, cells, predictions, games."""
    words = sum(reading.words(text) for _, text in subject.prose)
    path = [cell for _, cell in subject.code if not any("exercise" in tag for tag in tags(cell))]
    lines = sum(bool(line.strip()) for cell in path for line in cell.source.splitlines())
    calls = {name: sum(len(lab_calls(c.source, name)) for c in path) for name in (*PLAY, "predict")}
    games = sum(calls[name] for name in PLAY) + sum("RaceFinder(" in c.source for c in path)
    return (
        words / reading.PACE
        + lines / reading.LINES
        + reading.RUN * len(path)
        + reading.PREDICT * calls["predict"]
        + reading.PLAY * games
    )


def asked(subject: Subject) -> list[str]:
    """One or two predictions, each revealed by the cell that shows the answer."""
    found = []
    names = subject.lesson.predictions
    if len(names) > 2:
        found.append(f"{len(names)} predictions; at most 2 are allowed")
    for name in names:
        (at, *more), cells = _calling(subject, "predict", name) or [0], dict(subject.code)
        reveals = _calling(subject, "reveal", name)
        if not at or more:
            found.append(f"{name} is not asked in one cell")
        elif len(reveals) != 1 or reveals[0] <= at:
            found.append(f"{name} is not revealed in one later cell")
        elif len(parsed(cells[reveals[0]].source).body) < 2:
            found.append(f"cell {reveals[0]} only reveals {name}: end the cell that answers it so")
        else:
            found += _spoilt(subject, name, at)
    return found


def _spoilt(subject: Subject, name: str, asked: int) -> list[str]:
    """Figures of the right answer that stand on the screen before the question."""
    prediction = subject.lesson.predictions[name]
    right = reading.amounts(prediction.options[prediction.right].text)
    others = [one.text for key, one in prediction.options.items() if key != prediction.right]
    told = (prediction.question, prediction.setup, *prediction.cases, *prediction.steps)
    known = reading.amounts(" ".join([*told, *others]))
    return [
        f"cell {number} says {figure}, which answers {name} in cell {asked}"
        for number, text in reading.shown_before(subject, asked)
        for figure in sorted((right - known) & reading.amounts(text))
    ]


def exercises(subject: Subject) -> list[str]:
    """Exercises that check themselves, three questions, one game or explorable."""
    found = []
    for number, exercise in enumerate(subject.lesson.exercises, start=1):
        cells = [cell.source for _, cell in subject.code if f"exercise-{number}" in tags(cell)]
        if len(cells) != 1:
            found.append(f"{len(cells)} code cells are tagged exercise-{number}; tag one")
        elif f"lab.exercise({number})" not in _decorated(cells[0]).get(exercise.name, ""):
            found.append(f"@lab.exercise({number}) is not above {exercise.name}")
    wanted = 1 if subject.is_part_two else 2
    if len(subject.lesson.exercises) != wanted or len(subject.lesson.quiz) != 3:
        found.append(f"it needs {wanted} exercises that are checked, and three questions")
    calls = [call for _, cell in subject.code for call in lab_calls(cell.source, "quiz")]
    if len(calls) != 1 or calls[0].args or calls[0].keywords:
        found.append("lab.quiz() is not called once, without answers")
    played = [n for n in PLAY for _, cell in subject.code if lab_calls(cell.source, n)]
    played += ["RaceFinder" for _, cell in subject.code if "RaceFinder(" in cell.source]
    if not 1 <= len(played) <= 2:
        found.append(f"it has {', '.join(played) or 'nothing'} to play with: one is right")
    return found


def _decorated(source: str) -> dict[str, str]:
    """The functions and classes of a source, with their decorators as text."""
    made = [n for n in parsed(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return {node.name: " ".join(map(ast.unparse, node.decorator_list)) for node in made}


def _calling(subject: Subject, method: str, name: str) -> list[int]:
    """The cells that call ``lab.<method>(name)``."""
    return [
        number
        for number, cell in subject.code
        if any(constant(call) == name for call in lab_calls(cell.source, method))
    ]


def _all(subject: Subject) -> str:
    return "\n\n".join(text for _, text in subject.prose)


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE) is not None


RULES: tuple[Rule, ...] = (size, has_parts, minutes, asked, exercises)
