"""Lesson 5's contest: the learner chooses skills by their descriptions, first vague, then clear.

Names, tasks and right answers are the same in both rounds, and the names say nothing. Only the
descriptions differ, so the two scores say what a description is worth to a reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from learnkit.course.display.card import Card
from learnkit.errors import lab_extra
from learnkit.views.drawing.text import esc

#: Name of a skill -> its description in each round, both true; the first one names no task.
SKILLS = {
    "guide-a": (
        "Our style.",
        "How we write tests: names, data, what to compare. Use it before you write or change one.",
    ),
    "guide-b": (
        "Best practices.",
        "What must hold before a merge: lint, coverage, changelog. Use it when someone asks "
        "whether a branch is ready.",
    ),
    "guide-c": (
        "For working with heatwatch.",
        "What the values in station files mean: -9999, units, time zones. Use it before you "
        "interpret or repair a reading.",
    ),
    "guide-d": (
        "Useful facts about the project.",
        "What to do when the nightly run stops, or an alert doesn't arrive. Where the logs are.",
    ),
    "guide-e": (
        "Helps with quality.",
        "How we talk to users: README, help texts, error messages. Use it before you write one.",
    ),
}


@dataclass(frozen=True, slots=True)
class Task:
    """What the user asks for.

    Attributes:
        skill: that has the rules for it.
        words: of the skill's clear description that say so.
    """

    skill: str
    words: str


TASKS = {
    "The mean of Cairo is -2475 °C. Why?": Task("guide-c", "interpret or repair a reading"),
    "Say more clearly that a station doesn't exist.": Task("guide-e", "error messages"),
    "The coverage fell by a point. Can we merge all the same?": Task("guide-b", "before a merge"),
    "Cover the empty file in test_parse.py.": Task("guide-a", "write tests"),
    "It was hot last night, and no mail came.": Task("guide-d", "an alert doesn't arrive"),
}


@dataclass(frozen=True, slots=True)
class Round:
    """One round.

    Attributes:
        title: what its descriptions are like.
        place: of its descriptions in :data:`SKILLS`.
        tasks: those of :data:`TASKS`, in the order of this round.
    """

    title: str
    place: int
    tasks: tuple[str, ...]


_ALL = tuple(TASKS)
ROUNDS = (
    Round("vague descriptions", 0, _ALL),
    Round("clear descriptions", 1, (*_ALL[3:], *_ALL[:3])),
)

#: What was chosen for each task, one dictionary a round.
Chosen = tuple[dict[str, str], ...]


def score(chosen: Chosen) -> str:
    """Compare the rounds.

    Args:
        chosen: for each round, task -> the skill that the learner has loaded for it.
    """
    said = []
    for one, skills in zip(ROUNDS, chosen, strict=True):
        right = sum(skills[task] == TASKS[task].skill for task in one.tasks)
        said.append(f"{one.title}: {right} of {len(one.tasks)} right")
    return "; ".join(said)


def contest() -> Card:
    """Return the contest: buttons in JupyterLab, and otherwise what would be asked."""
    tables = "".join(f"<p>With {esc(one.title)}:</p>{_asked(one)}" for one in ROUNDS)
    said = f"contest: {len(ROUNDS)} rounds of {len(TASKS)} tasks"
    about = "<p><strong>Which skill would you load?</strong> In JupyterLab you choose.</p>"
    return Card(about + tables, said).or_widget(lambda: Contest().box)


class Contest:
    """The contest as a widget: one task at a time, below the descriptions of its round.

    Attributes:
        box: the widget to show.
        task: what the user asks for now; empty at the end.
        buttons: letter -> the button that chooses a skill.
        again: starts the contest anew; shown at the end.
    """

    def __init__(self) -> None:
        with lab_extra():
            import ipywidgets as widgets

        self._head, self.box = widgets.HTML(), widgets.VBox([])
        self.again = widgets.Button(description="Play again")
        self.again.on_click(lambda _: self._start())
        self._played = False
        self._start()

    def _start(self) -> None:
        self._left = [(number, task) for number, one in enumerate(ROUNDS) for task in one.tasks]
        self._chosen: Chosen = tuple({} for _ in ROUNDS)
        self._next()

    def _next(self) -> None:
        from learnkit.course.display.question_widgets import Choice, spoken

        if not self._left:
            self.task, self.buttons = "", {}
            total = f"<strong>{esc(score(self._chosen).capitalize())}.</strong>"
            self._head.value = spoken(total + _answers(self._chosen))
            self.box.children = (self._head, self.again)
            return
        number, self.task = self._left.pop(0)
        one = ROUNDS[number]
        place = one.tasks.index(self.task) + 1
        title = f"Round {number + 1}: {one.title}. Task {place} of {len(one.tasks)}"
        self._head.value = f"<strong>{esc(title)}</strong>{_catalogue(one)}"
        letters = dict(zip("abcde", SKILLS, strict=True))
        note = partial(self._note, self._chosen[number], letters)
        choice = Choice(self.task, letters, note, lambda _: "")
        self.buttons = choice.buttons
        self.box.children = (self._head, choice.box)
        if self._played:  # or a Run All would jump here
            self.buttons["a"].focus()

    def _note(self, chosen: dict[str, str], letters: dict[str, str], letter: str) -> None:
        chosen[self.task] = letters[letter]
        self._played = True
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


def _answers(chosen: Chosen) -> str:
    """For each task: what was chosen in each round, and the words that decide it."""
    rows = []
    for task, wanted in TASKS.items():
        vague, clear = SKILLS[wanted.skill]
        judged = ", ".join(
            f"{'✓' if skills[task] == wanted.skill else '✗'} {skills[task]} by the {word} line"
            for word, skills in zip(("vague", "clear"), chosen, strict=True)
        )
        before, after = clear.split(wanted.words)
        rows.append(
            f"<li><strong>{esc(task)}</strong><br>{esc(judged)}<br>{esc(wanted.skill)} has the "
            f"rules: “{esc(before)}<strong>{esc(wanted.words)}</strong>{esc(after)}” "
            f"Its vague line, “{esc(vague)}”, doesn't say so.</li>"
        )
    return f"<p>The words that decide each task are bold:</p><ul>{''.join(rows)}</ul>"
