"""What a lesson's texts must be before the lab shows them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from learnkit import UsageError
from learnkit.course import content, files
from learnkit.course.content import load, sources
from learnkit.course.content.question_file import NAME, read
from learnkit.course.content.sources import agent_cells, tagged_cells
from learnkit.course.defined_names import defined
from learnkit.course.files import EXAMPLE
from learnkit.course.lessons.s02 import exercises

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
        assert exercise.minutes > 0
        assert len(exercise.hints) >= 2
        assert all(exercise.name in defined(text) for text in (exercise.stub, exercise.solution))


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
