"""Lesson 5's contest: the learner chooses skills by their descriptions, first vague, then clear.

Names, kinds of tasks and right answers are the same in both rounds. Only the descriptions differ,
so the two scores say what a description is worth to a reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from learnkit.course.display.card import Card
from learnkit.views.drawing.text import esc

#: Name of a skill -> its description in each round.
SKILLS = {
    "style": (
        "Our style.",
        "How we write tests: names, data, what to compare. Use it before you write or change one.",
    ),
    "checks": (
        "Helps with checks.",
        "What must hold before a merge: lint, coverage, changelog. Use it when someone asks "
        "whether a branch is ready.",
    ),
    "reference": (
        "Useful facts about the project.",
        "What the values in station files mean: -9999, units, time zones. Use it before you "
        "interpret or repair a reading.",
    ),
    "runbook": (
        "For working with heatwatch.",
        "What to do when the nightly run stops, or an alert doesn't arrive. Where the logs are.",
    ),
    "wording": (
        "Guidelines for good text.",
        "How we talk to users: README, help texts, error messages. Use it before you write one.",
    ),
}


@dataclass(frozen=True, slots=True)
class Round:
    """One round.

    Attributes:
        title: what its descriptions are like.
        place: of its descriptions in :data:`SKILLS`.
        tasks: what the user asks for -> the skill that has the rules for it.
    """

    title: str
    place: int
    tasks: dict[str, str]


ROUNDS = (
    Round(
        "vague descriptions",
        0,
        {
            "The coverage fell by a point. Can we merge all the same?": "checks",
            "The mean of Cairo is -2475 °C. Why?": "reference",
            "Say more clearly that a station doesn't exist.": "wording",
            "It was hot last night, and no mail came.": "runbook",
            "Cover the empty file in test_parse.py.": "style",
        },
    ),
    Round(
        "clear descriptions",
        1,
        {
            "Oslo's times have no zone. Which one is meant?": "reference",
            "test_too_hot is red since the limit changed. Change it.": "style",
            "The run of 02:00 stopped in the middle.": "runbook",
            "Explain the option --verbose in --help.": "wording",
            "Is this branch ready?": "checks",
        },
    ),
)


def score(chosen: dict[str, str]) -> str:
    """Compare the rounds.

    Args:
        chosen: for each task of both rounds, the skill that the learner has loaded for it.
    """
    said = []
    for one in ROUNDS:
        right = sum(chosen[task] == skill for task, skill in one.tasks.items())
        said.append(f"{one.title}: {right} of {len(one.tasks)} right")
    return "; ".join(said)


def contest() -> Card:
    """Return the contest: buttons in JupyterLab, and otherwise what would be asked."""
    tables = "".join(f"<p>With {esc(one.title)}:</p>{_asked(one)}" for one in ROUNDS)
    said = f"contest: {len(ROUNDS)} rounds of {len(ROUNDS[0].tasks)} tasks"
    about = "<p><strong>Which skill would you load?</strong> In JupyterLab you choose.</p>"
    return Card(about + tables, said).or_widget(lambda: Contest().box)


class Contest:
    """The contest as a widget: one task at a time, below the descriptions of its round.

    Attributes:
        box: the widget to show.
        task: what the user asks for now; empty at the end.
        buttons: letter -> the button that chooses a skill.
    """

    def __init__(self) -> None:
        import ipywidgets as widgets

        self._left = [(number, task) for number, one in enumerate(ROUNDS) for task in one.tasks]
        self._chosen: dict[str, str] = {}
        self._head, self.box = widgets.HTML(), widgets.VBox([])
        self._next()

    def _next(self) -> None:
        from learnkit.course.display.question_widgets import Choice, spoken

        if not self._left:
            self.task, self.buttons = "", {}
            total = f"<strong>{esc(score(self._chosen).capitalize())}.</strong>"
            self._head.value = spoken(total + _answers(self._chosen))
            self.box.children = (self._head,)
            return
        number, self.task = self._left.pop(0)
        one = ROUNDS[number]
        place = list(one.tasks).index(self.task) + 1
        title = f"Round {number + 1}: {one.title}. Task {place} of {len(one.tasks)}"
        self._head.value = f"<strong>{esc(title)}</strong>{_catalogue(one)}"
        letters = dict(zip("abcde", SKILLS, strict=True))
        choice = Choice(self.task, letters, partial(self._note, letters), lambda _: "")
        self.buttons = choice.buttons
        self.box.children = (self._head, choice.box)
        if self._chosen:  # or a Run All would jump here
            self.buttons["a"].focus()

    def _note(self, letters: dict[str, str], letter: str) -> None:
        self._chosen[self.task] = letters[letter]
        self._next()


def _catalogue(one: Round) -> str:
    lines = (
        f"<li><code>{esc(name)}</code>: {esc(texts[one.place])}</li>"
        for name, texts in SKILLS.items()
    )
    return f"<ul>{''.join(lines)}</ul>"


def _asked(one: Round) -> str:
    tasks = "".join(f"<li>{esc(task)}</li>" for task in one.tasks)
    return f"{_catalogue(one)}<ol>{tasks}</ol>"


def _answers(chosen: dict[str, str]) -> str:
    """What was chosen for each task, and what has its rules; by round."""
    return "".join(
        f"<p>With {esc(one.title)}:</p><ul>"
        + "".join(
            f"<li>{esc(_judged(task, chosen[task], one.tasks[task]))}</li>" for task in one.tasks
        )
        + "</ul>"
        for one in ROUNDS
    )


def _judged(task: str, chosen: str, right: str) -> str:
    return f"✓ {right}: {task}" if chosen == right else f"✗ {chosen}, but {right} has it: {task}"
