"""Lesson 5's contest: the learner chooses skills by their descriptions, first vague, then clear.

The names are the same in both rounds, and say nothing. Descriptions and tasks differ, and the
second round comes after some practice, so two scores are a hint and no measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    "Oslo shows 61 degrees. Are they Fahrenheit?": Task("guide-c", "units"),
    "It was hot last night, and no mail came.": Task("guide-d", "an alert doesn't arrive"),
    "Cover the empty file in test_parse.py.": Task("guide-a", "write tests"),
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


# Each answer is judged at once, so that the second round needs tasks of its own.
ROUNDS = (
    Round("vague descriptions", 0, tuple(TASKS)[:3]),
    Round("clear descriptions", 1, tuple(TASKS)[3:]),
)

#: What was chosen for each task, one dictionary a round.
Chosen = tuple[dict[str, str], ...]


def score(chosen: Chosen) -> str:
    """Compare the rounds."""
    said = []
    for one, skills in zip(ROUNDS, chosen, strict=True):
        right = sum(skills[task] == TASKS[task].skill for task in one.tasks)
        said.append(f"{one.title}: {right} of {len(one.tasks)} right")
    return "; ".join(said)


def contest() -> Card:
    """Return the contest: buttons in JupyterLab, and otherwise what would be asked."""
    tables = "".join(f"<p>With {esc(one.title)}:</p>{_asked(one)}" for one in ROUNDS)
    said = f"contest: {len(ROUNDS)} rounds of {len(TASKS) // len(ROUNDS)} tasks"
    about = "<p><strong>Which skill would you load?</strong> In JupyterLab you choose.</p>"
    return Card(about + tables, said).or_widget(lambda: Contest().box)


class Contest:
    """The contest as a widget: one task at a time, with the descriptions of its round to press.

    Attributes:
        box: the widget to show.
        task: what the user asks for now; empty at the end.
        buttons: letter -> the button that chooses a skill.
        next: goes on to the next task, and at the end starts anew.
    """

    def __init__(self) -> None:
        with lab_extra():
            import ipywidgets as widgets

        self._head, self.box = widgets.HTML(), widgets.VBox([])
        self.next = widgets.Button()
        self.next.on_click(lambda _: self._go_on())
        self._end = widgets.VBox([self._head, self.next])
        self._end.add_class("lk-choice")
        self.buttons: dict[str, widgets.Button] = {}
        self._played = False
        self._start()

    def _start(self) -> None:
        self._left = [(number, task) for number, one in enumerate(ROUNDS) for task in one.tasks]
        self._chosen: Chosen = tuple({} for _ in ROUNDS)
        self._ask()

    def _go_on(self) -> None:
        if self._left:
            self._ask()
        elif self.task:
            self._show_score()
        else:
            self._start()

    def _show_score(self) -> None:
        from learnkit.course.display.question_widgets import STYLE, spoken

        self.task, self.buttons = "", {}
        total = f"<strong>{esc(score(self._chosen).capitalize())}.</strong>"
        self._head.value = STYLE + spoken(total)
        self.next.description = "Play again"
        self.box.children = (self._end,)
        self.next.focus()

    def _ask(self) -> None:
        from learnkit.course.display.question_widgets import Choice

        number, self.task = self._left.pop(0)
        one, task = ROUNDS[number], TASKS[self.task]
        letters = dict(zip("abcde", SKILLS, strict=True))
        (right,) = (letter for letter, name in letters.items() if name == task.skill)
        place = one.tasks.index(self.task) + 1
        title = f"Round {number + 1}: {one.title}. Task {place} of {len(one.tasks)}"
        choice = Choice(
            f"{title}: “{self.task}” Which skill would you load?",
            {letter: f"{name}: {SKILLS[name][one.place]}" for letter, name in letters.items()},
            lambda letter: self._note(self._chosen[number], letters[letter], choice.box),
            lambda letter: _judged(task, one, letters[letter]),
            right,
        )
        self.buttons = choice.buttons
        self.box.children = (choice.box,)
        if self._played:  # or a Run All would jump here
            self.buttons["a"].focus()

    def _note(self, chosen: dict[str, str], skill: str, shown: Any) -> None:
        chosen[self.task] = skill
        self._played = True
        self.next.description = "Next task" if self._left else "Show the score"
        shown.children = (*shown.children, self.next)


def _catalogue(one: Round) -> str:
    lines = (
        f"<li><code>{esc(name)}</code>: {esc(texts[one.place])}</li>"
        for name, texts in SKILLS.items()
    )
    return f"<ul>{''.join(lines)}</ul>"


def _asked(one: Round) -> str:
    tasks = "".join(f"<li>{esc(task)}</li>" for task in one.tasks)
    return f"{_catalogue(one)}<ol>{tasks}</ol>"


def _judged(task: Task, one: Round, skill: str) -> str:
    """Whether a choice is right, and by which words the description says so."""
    vague, clear = SKILLS[task.skill]
    head = "✓ right" if skill == task.skill else f"✗ it's {task.skill}"
    if not one.place:
        why = f"Its line, “{esc(vague)}”, doesn't say so: you had to guess."
    else:
        before, after = clear.split(task.words)
        why = f"“{esc(before)}<strong>{esc(task.words)}</strong>{esc(after)}”"
    return f"<strong>{esc(head)}</strong><br>{why}"
