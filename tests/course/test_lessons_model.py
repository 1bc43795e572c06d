"""What a lesson's texts must be before the lab shows them."""

from __future__ import annotations

import pytest

from learnkit.course.content import load
from learnkit.course.content.sources import agent_cells
from learnkit.course.jupyter.errors import _defined

LESSONS = [f"s{number:02}" for number in range(1, 13)]


@pytest.mark.parametrize("name", LESSONS)
def test_no_learner_meets_a_question_without_a_right_answer_or_an_exercise_without_help(
    name: str,
) -> None:
    lesson = load(name)
    assert all((lesson.title, lesson.promise, lesson.adds, lesson.minutes))
    assert list(lesson.predictions) == [f"p{n}" for n in range(1, len(lesson.predictions) + 1)]
    assert lesson.predictions
    assert len(lesson.quiz) >= 3
    for one in (*lesson.predictions.values(), *lesson.quiz):
        assert list(one.options) == list("abcdef"[: len(one.options)])
        assert one.right in one.options
        assert len(one.options) > 1
        assert all(option.text.strip() and option.why.strip() for option in one.options.values())
    assert len(lesson.exercises) >= 2
    for exercise in lesson.exercises:
        assert exercise.title
        assert len(exercise.hints) >= 2
        assert exercise.name in _defined(exercise.solution)


def test_the_parts_of_agent_py_are_found_with_their_repairs() -> None:
    fold = "Stuck?\n\n<details><summary>A repair</summary>\n\n```python\n{}\n```\n\n</details>"
    cells = [
        ("code", "1 / 0", ["raises-exception"]),
        ("markdown", "```python\nnot_folded\n```", ["repair"]),
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
    assert agent_cells(book) == [f"def naive():\n    return {n}" for n in (1, 2)]
