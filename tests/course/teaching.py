"""The rules about what a lesson asks of its reader: predictions, exercises, quiz, set-up."""

from __future__ import annotations

from learnkit.course.content import Exercise
from learnkit.course.content.sources import tagged_cells

from .subject import Subject, constant, lab_calls, tags


def set_up(subject: Subject) -> list[str]:
    """The first code cell opens this lesson's lab in at most five lines; the last closes it."""
    if not subject.code:
        return ["there is no code cell"]
    (_, first), (_, last) = subject.code[0], subject.code[-1]
    found = []
    if f'lab = lesson("{subject.name}")' not in first.source:
        found.append(f'the first code cell does not hold lab = lesson("{subject.name}")')
    if len(first.source.splitlines()) > 5:
        found.append("the set-up cell has more than five lines")
    if not last.source.rstrip().endswith("lab.close()"):
        found.append("the last code cell does not end with lab.close()")
    return found


def predictions(subject: Subject) -> list[str]:
    """At least two predictions, each before its reveal; nothing of the lesson is left out."""
    asked: dict[object, int] = {}
    revealed: dict[object, int] = {}
    for number, cell in subject.code:
        for place, method in ((asked, "predict"), (revealed, "reveal")):
            for call in lab_calls(cell.source, method):
                place.setdefault(constant(call), number)
    found = [f"{name} is never asked" for name in subject.lesson.predictions if name not in asked]
    for name, number in asked.items():
        if name not in subject.lesson.predictions:
            found.append(f"cell {number} asks for {name!r}, which the lesson does not have")
        elif revealed.get(name, 0) <= number:
            found.append(f"{name} is asked in cell {number}, but not revealed in a later one")
    return found if len(asked) >= 2 else [*found, f"{len(asked)} predictions; 2 are needed"]


def exercises(subject: Subject) -> list[str]:
    """Three exercises: a tagged stub, right below it the check, and a tagged, folded solution."""
    found = []
    for number, exercise in enumerate(subject.lesson.exercises, start=1):
        found += [f"exercise {number}: {one}" for one in _exercise(subject, number, exercise)]
    return found


def _exercise(subject: Subject, number: int, exercise: Exercise) -> list[str]:
    code, tag = subject.code, f"solution-{number}"
    stubs = [i for i, (_, cell) in enumerate(code) if f"exercise-{number}" in tags(cell)]
    if len(stubs) != 1:
        return [f"{len(stubs)} code cells are tagged exercise-{number}; tag the stub"]
    if stubs[0] + 1 == len(code):
        return ["there is no cell after the stub"]
    place, below = code[stubs[0] + 1]
    found = []
    taken = lab_calls(below.source, "exercise")
    if [constant(call) for call in taken] != [number]:
        found.append(f"the cell below the stub does not call lab.exercise({number})")
    for wanted in (f"hint_{number}", f"check_{number}({exercise.name})"):
        if wanted not in below.source:
            found.append(f"the cell below the stub does not hold {wanted}")
    tagged = [i for i, cell in enumerate(subject.book.cells, start=1) if tag in tags(cell)]
    if len(tagged) != 1 or tagged[0] < place or tag not in tagged_cells(subject.book):
        found.append(f"no cell below it that is tagged {tag} holds the solution in a <details>")
    return found


def quiz(subject: Subject) -> list[str]:
    """The quiz is shown, once, without answers; four questions, no two with the same text."""
    calls = [call for _, cell in subject.code for call in lab_calls(cell.source, "quiz")]
    found = [] if len(calls) == 1 else [f"lab.quiz() is called {len(calls)} times, not once"]
    if any(call.args or call.keywords for call in calls):
        found.append("lab.quiz() is called with answers")
    questions = [question.text for question in subject.lesson.quiz]
    if len(questions) != 4 or len(set(questions)) != 4:
        found.append("the lesson does not have four different questions")
    rights = {question.right for question in subject.lesson.quiz}
    return found if len(rights) > 1 else [*found, "every question has its answer at one letter"]
