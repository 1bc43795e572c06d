"""What an exercise's check says to right and wrong answers, sentence by sentence.

``answers/`` holds them. One without ``says`` is right, by another way than the solution. Most of
the others are the stub, or the solution or that right answer with one line changed: ``was`` and
``now``; ``says`` is what a learner reads who wrote this.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from cells import stub
from project import ROOT

import learnkit as lk
from learnkit.course import files
from learnkit.course.content import Exercise, load
from learnkit.course.exercise_checks import judge

ANSWERS = Path(__file__).resolve().parent / "answers"
EXERCISES = {
    f"{path.stem} {one.name}": one
    for path in sorted(ANSWERS.glob("*.yaml"))
    for one in load(path.stem).exercises
}
STUBS = {
    f"{path.stem} {one.name}": stub(path.stem, number)
    for path in sorted(ANSWERS.glob("*.yaml"))
    for number, one in enumerate(load(path.stem).exercises, start=1)
}
#: Exercise -> answers.
ROWS: dict[str, list[dict[str, str]]] = {
    f"{path.stem} {name}": rows
    for path in sorted(ANSWERS.glob("*.yaml"))
    for name, rows in yaml.load(path.read_text("utf-8"), yaml.CSafeLoader).items()
}
RIGHT = {name: [row for row in rows if "says" not in row] for name, rows in ROWS.items()}

#: This one runs a whole program for each answer.
NAMES = [pytest.param(n, marks=[pytest.mark.slow] * (n == "s12 mine")) for n in EXERCISES]


def verdict(exercise: Exercise, source: str) -> str | None:
    """What the check says to what a source defines."""
    names: dict[str, Any] = {"__name__": "__main__", "lk": lk}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, f"<{exercise.name}>", "exec"), names)
        return judge(exercise.check, names[exercise.name])


def written(name: str, row: dict[str, str]) -> str:
    """The source of an answer."""
    if "source" in row:
        return row["source"]
    source = {
        "right": RIGHT[name][0].get("source", ""),
        "stub": STUBS[name],
        "solution": EXERCISES[name].solution,
    }[row["of"]]
    if "was" not in row:
        return source
    lines = source.split("\n")
    (place,) = [at for at, line in enumerate(lines) if line.strip() == row["was"]]
    lines[place] = lines[place].replace(row["was"], row["now"])
    return "\n".join(lines)


def test_every_lesson_has_answers_to_each_of_its_exercises() -> None:
    assert [path.stem for path in sorted(ANSWERS.glob("*"))] == sorted(
        files.named(ROOT / "notebooks")
    )
    assert ROWS.keys() == EXERCISES.keys()
    assert all("stub" in [row.get("of") for row in rows] for rows in ROWS.values())
    assert all(RIGHT.values())


@pytest.mark.parametrize("name", NAMES)
def test_right_answers_are_accepted(name: str) -> None:
    exercise = EXERCISES[name]
    for source in (exercise.solution, *[written(name, row) for row in RIGHT[name]]):
        assert verdict(exercise, source) is None, source


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_answers_are_told_what_they_do_wrong(name: str) -> None:
    exercise = EXERCISES[name]
    for row in (row for row in ROWS[name] if "says" in row):
        said = verdict(exercise, written(name, row))
        assert said is not None, row
        says = everywhere(row["says"].rstrip("\n"))
        begin = says.removesuffix(" …")
        # Without a lock, a race ends in one of several ways: of such a row, the begin is given.
        is_right = everywhere(said).startswith(begin) if begin != says else everywhere(said) == says
        assert is_right, (row, said)


def everywhere(said: str) -> str:
    """A verdict without what differs between versions of Python."""
    said = said.replace(" exceeded while calling a Python object", " exceeded")
    return re.sub(r"(it was stopped, in line) \d+", r"\1 …", said)  # any line of the loop
