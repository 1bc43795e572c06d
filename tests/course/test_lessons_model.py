"""What a lesson's texts must be before the lab shows them."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

from learnkit import UsageError
from learnkit.course.lessons import EXAMPLE, Exercise, Lesson, Option, Prediction, Question, load

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
    solution="def f(n):\n    return 2 * n",
    right=("f = lambda n: n + n",),
    wrong=("def f(n): ...", "def f(n):\n    return n", "def f(n):\n    return n * n * n"),
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
        (EXERCISE, {"hints": ("one", "two")}, "hints: 2, but 3 are needed"),
        (EXERCISE, {"hints": "abc"}, "hints: a text, but 3 are needed"),
        (EXERCISE, {"right": ()}, "right sources besides the solution: 0, but 1 or more"),
        (EXERCISE, {"wrong": ("f = 1", "f = 2")}, "the stub first: 2, but 3 or more"),
        (EXERCISE, {"solution": "def f(:"}, "is not Python"),
        (EXERCISE, {"solution": "def g(n): ..."}, "does not define 'f'"),
        (LESSON, {"adds": ""}, "its adds is empty"),
        (LESSON, {"promise": ""}, "its promise is empty"),
        (LESSON, {"predictions": {"p1": PREDICTION}}, "predictions: 1, but 2 or more"),
        (LESSON, {"predictions": {"p1": PREDICTION, "x": PREDICTION}}, "call them p1, p2"),
        (LESSON, {"exercises": [EXERCISE]}, "exercises: 1, but 3 are needed"),
        (LESSON, {"quiz": [QUESTION] * 5}, "quiz questions: 5, but 4 are needed"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(
    thing: Any, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        replace(thing, **change)


def test_a_lesson_is_a_value() -> None:
    with pytest.raises(FrozenInstanceError):
        LESSON.title = "another"  # type: ignore[misc]


def test_the_stub_is_the_first_wrong_source() -> None:
    assert EXERCISE.stub == "def f(n): ..."


def test_a_name_may_be_defined_by_a_function_a_class_or_an_assignment() -> None:
    for source in ("def f(n): ...", "class f: ...", "f = 3", "async def f(): ..."):
        assert replace(EXERCISE, solution=source).solution == source


def test_a_lesson_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="there is no lesson 's99'"):
        load("s99")


def test_a_lesson_whose_import_fails_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from learnkit.course import lessons

    for name, source in (("s98", "import no_such_module_at_all"), ("s97", "LESSON = 'a text'")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "questions.py").write_text(f"{source}\n", "utf-8")
    monkeypatch.setattr(lessons, "__path__", [*lessons.__path__, str(tmp_path)])
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        load("s98")
    with pytest.raises(UsageError, match="LESSON is a str"):
        load("s97")


def test_every_lesson_in_the_package_loads() -> None:
    names = sorted(path.stem for path in EXAMPLE.parent.glob("s[0-9][0-9].py"))
    assert all(isinstance(load(name), Lesson) for name in names)
