"""What a lesson is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from learnkit.core.mechanism import Mechanism

#: What a check returns: None if the learner's object is right, otherwise what it does wrong.
Verdict = str | None


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
class Prediction:
    """A question about what will happen, to be answered before the cell is run.

    Attributes:
        question: what is asked.
        options: letter -> option, from ``a``.
        right: the letter of what happens.
        repair: the name of the repair after which it no longer happens; empty if it always does.
    """

    question: str
    options: Mapping[str, Option]
    right: str
    repair: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a quiz.

    Attributes:
        text: what is asked.
        options: letter -> option, from ``a``.
        right: the letter of the right one.
    """

    text: str
    options: Mapping[str, Option]
    right: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """Something to write, and the check that decides whether it works.

    Attributes:
        title: what is to be done, in a few words.
        name: the name that the learner's code defines; its object is what the check gets.
        hints: two or three, each one closer to the solution.
        solution: source text that defines ``name``; it is folded below the hints.
        check: returns what is wrong with the object, in terms of behaviour, or None.
    """

    title: str
    name: str
    hints: Sequence[str]
    solution: str
    check: Callable[[Any], Verdict]


@dataclass(frozen=True, slots=True)
class Repair:
    """What the learner types into ``agent.py``, where it was naive.

    Attributes:
        check: gets the module ``agent``, tries it, and returns what is wrong, or None.
        right: a sentence about what it does now.
    """

    check: Callable[[Any], Verdict]
    right: str


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
        wins: says before the start what it takes to win.
    """

    prompt: str
    mechanisms: Callable[[Path], Sequence[Mechanism]]
    script: Sequence[Any] | Mapping[str, Any]
    system: str = ""
    judge: Judge | None = None
    ready: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    others: Callable[[dict[str, Any]], Any] | None = None
    wins: str = ""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Everything the lab needs to know of a lesson.

    Attributes:
        title: as in the notebook's heading.
        promise: what the learner can do afterwards, in one line.
        adds: what the lesson adds to the loop, in a few words.
        minutes: how long its core path takes.
        predictions: name -> prediction: ``p1``, ``p2``, …
        exercises: those that are checked.
        quiz: its questions.
        game: what the learner plays in the model's place, if anything.
    """

    title: str
    promise: str
    adds: str
    minutes: int
    predictions: Mapping[str, Prediction]
    exercises: Sequence[Exercise]
    quiz: Sequence[Question]
    game: Game | None = None

    @property
    def questions(self) -> dict[str, Question]:
        """The quiz by its names: ``q1``, ``q2``, …"""
        return {f"q{number}": question for number, question in enumerate(self.quiz, start=1)}
