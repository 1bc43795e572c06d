"""What a lesson contains besides its notebook: predictions, exercises and a quiz.

The notebook tells the story. What the lab shows is in the lesson's folder below ``lessons``: texts
in ``questions.yaml``, the check of an exercise ``plan`` as ``check_plan`` in ``exercises.py``, and
the mechanisms of a game in ``game.py``. ``load`` puts them together.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ConfigDict, TypeAdapter, ValidationError

from learnkit.core.mechanism import Mechanism
from learnkit.errors import UsageError

#: The folders of what each lesson has of its own; its modules are loaded by its name.
_LESSONS = Path(__file__).resolve().parents[1] / "lessons"
_MODULES = "learnkit.course.lessons"

#: What a check returns: None if the learner's object is right, otherwise what it does wrong.
Verdict = str | None
Check = Callable[[Any], Verdict]


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to choose.

    Attributes:
        text: the answer, as it is offered.
        why: why it is right or wrong; shown once the learner has chosen.
    """

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with answers to choose from.

    Attributes:
        question: what is asked, in a line.
        options: letter -> option, from ``a``.
        right: the letter of the right one.
        setup: what one has to know for it, in a sentence or three.
        cases: what the question is about, if there are several.
        steps: what happens, in this order.
    """

    question: str
    options: Mapping[str, Option]
    right: str
    setup: str = ""
    cases: Sequence[str] = ()
    steps: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Prediction(Question):
    """A question about what will happen, to be answered before the cell is run.

    Attributes:
        repair: the name of the repair after which it no longer happens; empty if it always does.
    """

    repair: str = ""


@dataclass(frozen=True, slots=True)
class Exercise:
    """Something to write, and the check that decides whether it works.

    Attributes:
        title: what is to be done, in a few words.
        name: the name that the learner's code defines; its object is what the check gets.
        hints: two or three, each one closer to the solution.
        solution: source text that defines ``name``; it is folded below the hints.
        check: from ``exercises.py``: returns what is wrong with the object, in terms of behaviour,
            or None.
    """

    title: str
    name: str
    hints: Sequence[str]
    solution: str
    check: Check


@dataclass(frozen=True, slots=True)
class Repair:
    """What the learner types into ``agent.py``, where it was naive.

    Attributes:
        check: gets the module ``agent``, tries it, and returns what is wrong, or None.
        right: a sentence about what it does now.
    """

    check: Check
    right: str


class Repairs(dict[str, Repair]):
    """The repairs of a lesson by name, in the order of their checks in its ``repairs.py``."""

    def add(self, right: str) -> Callable[[Check], Check]:
        """Add the check below, ``check_`` and the name; ``right`` is said if it finds nothing."""

        def added(check: Check) -> Check:
            self[check.__name__.removeprefix("check_")] = Repair(check, right)
            return check

        return added


@dataclass(frozen=True, slots=True)
class Remark:
    """What a game says about how it was played.

    Attributes:
        good: whether it went as it should; None if that isn't the question.
        text: a sentence about what happened.
    """

    good: bool | None
    text: str

    def __str__(self) -> str:
        return f"{'·' if self.good is None else '✓' if self.good else '✗'} {self.text}"


#: What a game finds at its end: from its workspace and the message array.
Judge = Callable[[Path, Sequence[Mapping[str, Any]]], Sequence[Remark]]


@dataclass(frozen=True, slots=True)
class Game:
    """A task for a learner who answers in the model's place; see ``Lab.be_the_model``.

    Attributes:
        prompt: what the agent is asked to do.
        mechanisms: makes the agent's mechanisms from the workspace.
        script: the replies to play if the notebook is not open in JupyterLab; for several agents,
            by the name of each.
        system: the system prompt.
        judge: says at the end what the learner's replies did; None for nothing.
        ready: tool -> its arguments, which a button puts into the tool's form at first. After a
            call of the tool, the button puts in the arguments of the last one.
        others: answers for all agents but the first, while the learner answers for that one.
        goal: what the learner is after; the title before the start.
        note: what else one has to know before the start.
    """

    prompt: str
    mechanisms: Callable[[Path], Sequence[Mechanism]]
    script: Sequence[Any] | Mapping[str, Any]
    system: str = ""
    judge: Judge | None = None
    ready: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    others: Callable[[dict[str, Any]], Any] | None = None
    goal: str = "Press Start, and you are the model."
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Everything the lab needs to know of a lesson.

    Attributes:
        title: as in the notebook's heading.
        promise: what the learner can do afterwards, in one line.
        adds: what the lesson adds to the loop, in a few words.
        minutes: how long its core path takes.
        hooks: what its mechanisms do, by the hook that they do it with.
        predictions: name -> prediction: ``p1``, ``p2``, …
        exercises: those that are checked.
        quiz: its questions.
        game: what the learner plays in the model's place, if anything.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # so that a misspelt key is an error

    title: str
    promise: str
    adds: str
    minutes: int
    predictions: Mapping[str, Prediction]
    exercises: Sequence[Exercise]
    quiz: Sequence[Question]
    game: Game | None = None
    hooks: Mapping[str, str] = field(default_factory=dict)

    @property
    def questions(self) -> dict[str, Question]:
        """The quiz by its names: ``q1``, ``q2``, …"""
        return {f"q{number}": question for number, question in enumerate(self.quiz, start=1)}


_SHAPE = TypeAdapter(Lesson)
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache  # the start page asks for all twelve each time that it is written
def load(name: str) -> Lesson:
    """Return the content of a lesson."""
    path = _LESSONS / name / "questions.yaml"
    if not path.is_file():
        names = (one.parent.name for one in _LESSONS.glob("*/questions.yaml"))
        here = sorted(names, key=lambda name: (not name.startswith("s"), name))
        raise UsageError(f"there is no lesson {name!r}; there are: {', '.join(here)}")

    checks = vars(importlib.import_module(f"{_MODULES}.{name}.exercises"))
    try:
        texts = yaml.load(path.read_text("utf-8"), _LOADER)
        for one in texts["exercises"]:
            one["check"] = checks[f"check_{one['name'].lower()}"]
        if "game" in texts:
            texts["game"] = _game(name, **texts["game"])
        return _SHAPE.validate_python(texts)
    except (yaml.YAMLError, ValidationError, KeyError, TypeError) as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"{name}/{path.name} cannot be used: {said}") from None


def _game(lesson: str, goal: str, prompt: str, script: Sequence[Any], system: str = "") -> Game:
    """A game of whose script each reply is a text, a call of a tool, or a list of both."""
    from learnkit.clients.scripted import Reply, reply, use  # brings the SDK, which takes a second

    def read(said: Any) -> Reply:
        parts = said if isinstance(said, list) else [said]
        calls = (one if isinstance(one, str) else use(one["use"], **one["input"]) for one in parts)
        return reply(*calls)

    own = importlib.import_module(f"{_MODULES}.{lesson}.game")
    judge, ready = getattr(own, "judge", None), getattr(own, "READY", {})
    said = [read(one) for one in script]
    return Game(prompt, own.mechanisms, said, system, judge, ready, goal=goal)
