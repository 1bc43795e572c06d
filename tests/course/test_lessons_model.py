"""What a lesson's texts must be before the lab shows them."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from learnkit import UsageError
from learnkit.course import content, files
from learnkit.course.content import (
    Exercise,
    Lesson,
    Option,
    Prediction,
    Question,
    load,
    sources,
)
from learnkit.course.content.question_file import NAME, read
from learnkit.course.content.sources import agent_cells, tagged_cells
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s02 import exercises

OPTIONS = {"a": Option("it stops", "there is no call"), "b": Option("it goes on", "it does not")}
PREDICTION = Prediction("what then?", OPTIONS, "a")
QUESTION = Question("what ends a run?", OPTIONS, "b")


def doubles(f: Any) -> str | None:
    return None if f(2) == 4 else f"f(2) is {f(2)}, not 4"


EXERCISE = Exercise(
    title="double it",
    minutes=5,
    name="f",
    check=doubles,
    hints=("look at n", "use *", "n * 2"),
    stub="def f(n): ...",
    solution="def f(n):\n    return 2 * n",
)
LESSON = Lesson(
    "A title",
    "a promise",
    "a thing",
    30,
    {"p1": PREDICTION, "p2": PREDICTION},
    [EXERCISE] * 3,
    [QUESTION] * 4,
)


@pytest.mark.parametrize(
    ("thing", "change", "said"),
    [
        (OPTIONS["a"], {"text": " "}, "its text is empty"),
        (OPTIONS["a"], {"why": ""}, "its why is empty"),
        (PREDICTION, {"question": ""}, "its question is empty"),
        (PREDICTION, {"right": "c"}, "right is 'c'; give one of a, b"),
        (PREDICTION, {"options": {"a": OPTIONS["a"]}}, "give two or more"),
        (PREDICTION, {"options": {"a": OPTIONS["a"], "c": OPTIONS["b"]}}, "as a, b, c"),
        (QUESTION, {"text": ""}, "its text is empty"),
        (QUESTION, {"right": ""}, "right is ''"),
        (EXERCISE, {"name": "not a name"}, "give a Python name"),
        (EXERCISE, {"minutes": 0}, "minutes is 0"),
        (EXERCISE, {"hints": ("one",)}, "hints: 1, but 2 or more are needed"),
        (EXERCISE, {"hints": "abc"}, "hints: a text, but 2 or more are needed"),
        (EXERCISE, {"solution": "def f(:"}, "is not Python"),
        (EXERCISE, {"solution": "def g(n): ..."}, "does not define 'f'"),
        (LESSON, {"adds": ""}, "its adds is empty"),
        (LESSON, {"promise": ""}, "its promise is empty"),
        (LESSON, {"predictions": {}}, "predictions: 0, but 1 or more"),
        (LESSON, {"predictions": {"p1": PREDICTION, "x": PREDICTION}}, "call them p1, p2"),
        (LESSON, {"exercises": [EXERCISE]}, "exercises: 1, but 2 or more"),
        (LESSON, {"quiz": [QUESTION] * 2}, "quiz questions: 2, but 3 or more"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(
    thing: Any, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        replace(thing, **change)


def test_a_name_may_be_defined_by_a_function_a_class_or_an_assignment() -> None:
    for source in ("def f(n): ...", "class f: ...", "f = 3", "async def f(): ..."):
        assert replace(EXERCISE, solution=source).solution == source


CELLS = {
    "exercise-1": "def f(n): ...",
    "solution-1": "def f(n):\n    return 2 * n",
    "exercise-2": "import os\n\n\nclass G: ...",
}


def test_stubs_and_solutions_are_found_by_their_tags() -> None:
    fold = "Stuck?\n\n<details><summary>Solution</summary>\n\n```python\n{}\n```\n\n</details>"
    cells = [
        ("code", "1 / 0", ["raises-exception"]),
        ("code", CELLS["exercise-1"], ["exercise-1"]),
        ("markdown", fold.format(CELLS["solution-1"]), ["solution-1"]),
        ("markdown", "```python\nnot_folded\n```", ["solution-2"]),
        ("code", "import os\n\n\n@lab.exercise(2)\nclass G: ...", ["exercise-2"]),
        ("code", "%%agent\ndef naive():\n    return 1", []),
        ("markdown", fold.format("def naive():\n    return 2"), ["repair"]),
        ("code", "%%agents\nanything", []),
    ]
    book = {
        "cells": [
            {
                "cell_type": kind,
                "source": text.splitlines(keepends=True),
                "metadata": {"tags": tags},
            }
            for kind, text, tags in cells
        ]
    }
    assert tagged_cells(book) == CELLS
    assert agent_cells(book) == [f"def naive():\n    return {n}" for n in (1, 2)]


def test_a_lesson_without_a_part_of_an_exercise_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    # What was loaded before is kept, as long as the lesson's files are the same.
    monkeypatch.setattr(content, "_loaded", content._loaded.__wrapped__)
    where = r"^course/lessons/s02: exercise "
    with monkeypatch.context() as broken:
        broken.setattr(sources, "read", lambda path: {})
        with pytest.raises(UsageError, match=where + "1, 'a unit .* tagged exercise-1; tag one"):
            load("s02")
    with monkeypatch.context() as broken:
        broken.delitem(exercises.EXERCISES, "policy")
        with pytest.raises(UsageError, match=where + "2, .*has no 'policy'; add its check"):
            load("s02")


def test_a_lesson_is_read_again_if_one_of_its_files_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = tmp_path / "s02.ipynb"
    shutil.copyfile(files.notebook("s02"), notebook)
    monkeypatch.setattr(files, "notebook", lambda name: notebook)
    first = load("s02")
    assert load("s02") is first
    text = notebook.read_text("utf-8")
    changed = first.exercises[0].name
    notebook.write_text(text.replace(f"def {changed}(", f"def {changed} ("), "utf-8")
    assert f"def {changed} (" in load("s02").exercises[0].stub


def test_a_lesson_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="there is no lesson 's99'"):
        load("s99")


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("    right: c\n", "    right: f\n", "predictions, p2: Value error, "),
        ("    right: c\n", "    right: f\n", "right is 'f'; give one of a, b, c"),
        ("title: Tools\n", "", "title: Field required"),
        ("      why: It did not.\n", "", "quiz, number 2, options, c, why: Field required"),
        ("      why: It did not.\n", "      wy: It did.\n", "options, c, wy: Unexpected keyword"),
        ("minutes: 50", "minutes: many", "minutes: Input should be a valid integer"),
        ("game:\n", "gaem:\n", "gaem: Extra inputs are not permitted"),
        ("  right: c\n", "  right: [c]\n", "p2, right: Input should be a valid string"),
        ("      text: It did.\n", "      text: It: did.\n", "is not YAML: mapping values are not"),
        ("      text: It did.\n", "      text: It: did.\n", "below '>-'"),
    ],
)
def test_a_data_file_that_cannot_be_is_refused_with_the_place(
    tmp_path: Path, was: str, now: str, said: str
) -> None:
    text = (EXAMPLE.parent / "s02" / NAME).read_text("utf-8")
    text = re.sub(r"      text: An error, because .*\n", "      text: It did.\n", text)
    text = re.sub(r"      why: >-\n +The call did .*\n", "      why: It did not.\n", text)
    assert was in text
    folder = tmp_path / "s02"
    folder.mkdir()
    (folder / NAME).write_text(text, "utf-8")
    assert read(folder / NAME).title == "Tools"
    (folder / NAME).write_text(text.replace(was, now, 1), "utf-8")
    with pytest.raises(UsageError, match=re.escape(said)) as error:
        read(folder / NAME)
    assert f"s02/{NAME}" in str(error.value)
