"""What an exercise's check says to right and wrong answers, sentence by sentence.

``answers/`` holds the wrong ones. Most are the stub, or the solution or another right answer with
one line changed: ``was`` and ``now``; ``says`` is what a learner reads who wrote this.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import learnkit as lk
from learnkit.course import data_file
from learnkit.course.content import Exercise, load
from learnkit.course.exercise_checks import judge

ANSWERS = Path(__file__).resolve().parent / "answers"
EXERCISES = {
    f"{path.stem} {one.name}": one
    for path in sorted(ANSWERS.glob("s*.yaml"))
    for one in load(path.stem).exercises
}
#: Exercise -> wrong answers, with what the check says.
Wrong = dict[str, list[dict[str, str]]]
WRONG: Wrong = {
    f"{path.stem} {name}": rows
    for path in sorted(ANSWERS.glob("s*.yaml"))
    for name, rows in data_file.read(path, TypeAdapter(Wrong)).items()
}

#: This one runs a whole program for each answer.
NAMES = [pytest.param(n, marks=[pytest.mark.slow] * (n == "s12 mine")) for n in EXERCISES]


def verdict(exercise: Exercise, source: str) -> str | None:
    """What the check says to what a source defines."""
    names: dict[str, Any] = {"__name__": "__main__", "lk": lk}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, f"<{exercise.name}>", "exec"), names)
        return judge(exercise.check, names[exercise.name])


def written(exercise: Exercise, row: dict[str, str]) -> str:
    """The source of a wrong answer."""
    if "source" in row:
        return row["source"]
    kind, _, number = row["of"].partition(" ")
    source = str(exercise.right[int(number)] if number else getattr(exercise, kind))
    if "was" not in row:
        return source
    lines = source.split("\n")
    (place,) = [at for at, line in enumerate(lines) if line.strip() == row["was"]]
    lines[place] = lines[place].replace(row["was"], row["now"])
    return "\n".join(lines)


def test_every_lesson_has_answers_to_each_of_its_exercises() -> None:
    assert [path.stem for path in sorted(ANSWERS.glob("*"))] == [f"s{n:02}" for n in range(1, 13)]
    assert WRONG.keys() == EXERCISES.keys()
    assert all("stub" in [row.get("of") for row in rows] for rows in WRONG.values())


@pytest.mark.parametrize("name", NAMES)
def test_right_answers_are_accepted(name: str) -> None:
    exercise = EXERCISES[name]
    assert [verdict(exercise, one) for one in (exercise.solution, *exercise.right)] == [
        None for _ in (exercise.solution, *exercise.right)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_answers_are_told_what_they_do_wrong(name: str) -> None:
    exercise = EXERCISES[name]
    for row in WRONG[name]:
        said = verdict(exercise, written(exercise, row))
        assert said is not None, row
        assert everywhere(said) == everywhere(row["says"].rstrip("\n")), row


def everywhere(said: str) -> str:
    """A verdict without what differs between versions of Python."""
    said = said.replace(" exceeded while calling a Python object", " exceeded")
    return re.sub(r"(it was stopped, in line) \d+", r"\1 …", said)  # any line of the loop
