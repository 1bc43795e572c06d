"""What a lesson's texts must be before the lab shows them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from learnkit import UsageError
from learnkit.course.content import (
    Exercise,
    Lesson,
    Option,
    Prediction,
    Question,
)
from learnkit.course.content.sources import agent_cells, tagged_cells

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
    right=("f = lambda n: n + n",),
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
        (EXERCISE, {"right": ()}, "right sources besides the solution: 0, but 1 or more"),
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
