"""Lesson 3, todo: its predictions and quiz."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.lessons import Game, Lesson, Option, Prediction, Question
from learnkit.course.lessons.s03.exercises import EXERCISES

STEPS = ("list the stations", "beijing", "cairo", "oslo", "write watch.txt")


def _todo(done: int) -> Any:
    """An update of the list: so many steps are completed, and the next one is begun."""
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(STEPS)
    listed = zip(STEPS, states, strict=False)
    return lk.use(
        "todo",
        items=[
            {"id": n, "text": text, "status": status}
            for n, (text, status) in enumerate(listed, start=1)
        ],
    )


def _latest(station: str) -> Any:
    return lk.use("bash", command=f"python -m heatwatch latest {station}")


def _mechanisms(workspace: Path) -> list[lk.Mechanism]:
    return [lk.CodingTools(workspace), lk.Todo(remind_after=2)]


#: Twice the script lets two rounds pass without the list, so that a reminder comes.
GAME = Game(
    "Prepare the weekend watch in five steps: list the stations, look up the latest reading of "
    "beijing, of cairo and of oslo, and write the name of the hottest one to watch.txt.",
    _mechanisms,
    script=[
        _todo(0),
        lk.use("bash", command="python -m heatwatch stations"),
        _latest("beijing"),
        _todo(2),
        _latest("cairo"),
        _latest("oslo"),
        _todo(4),
        lk.use("write_file", path="watch.txt", content="cairo\n"),
        _todo(5),
        lk.say("The hottest is cairo with 35.2 °C; its name stands in watch.txt."),
    ],
)

LESSON = Lesson(
    title="Todo",
    promise="You give an agent a plan that it cannot lose, and a harness that taps its shoulder.",
    adds="`todo`, and a reminder from the harness",
    minutes=35,
    predictions={
        "p1": Prediction(
            "An agent writes a fine plan into its first reply, and then works for twenty turns. "
            "What happens to the plan?",
            {
                "a": Option(
                    "Nothing: it stands in the array, and the model reads all of it each time.",
                    "It does stand there. But twenty turns of output stand behind it, and what is "
                    "far back weighs little. And the plan says nothing about what is done.",
                ),
                "b": Option(
                    "The harness deletes it.",
                    "The loop of lesson 1 deletes nothing.",
                ),
                "c": Option(
                    "It moves away from the end of the array, and it is out of date.",
                    "Right. Both can be mended by the same means: a list that is written anew, "
                    "with states, close to the end.",
                ),
            },
            "c",
        ),
        "p2": Prediction(
            "The list has open items, and the model does not call todo for seven rounds. After "
            "which of these rounds does a reminder go out?",
            {
                "a": Option(
                    "After the third only.",
                    "The count starts again after a reminder, so there is a second one.",
                ),
                "b": Option(
                    "After the third and the sixth.",
                    "Right. Each reminder starts the count again: three more rounds, one more "
                    "reminder.",
                ),
                "c": Option(
                    "After every round from the third on.",
                    "That would be nagging: sending a reminder sets the count back to 0.",
                ),
            },
            "b",
        ),
    },
    game=GAME,
    exercises=EXERCISES,
    quiz=[
        Question(
            "Why does the tool replace the whole list, in place of changing one item?",
            {
                "a": Option(
                    "Because JSON cannot express a change.",
                    "It can; the incremental form does.",
                ),
                "b": Option(
                    "Writing all of it down again puts the plan at the end of the context.",
                    "Right: the point of the list is that it is read again.",
                ),
                "c": Option("It saves tokens.", "It costs some. That is the price."),
            },
            "b",
        ),
        Question(
            "An update has two items in progress. What should happen?",
            {
                "a": Option(
                    "It is refused with a text that says why, and the list stays as it was.",
                    "Right. Half an update would be a list that nobody wrote.",
                ),
                "b": Option(
                    "The first one counts.",
                    "Then the model and the harness believe different things.",
                ),
                "c": Option("The run ends.", "For a slip that the model mends in one turn?"),
            },
            "a",
        ),
        Question(
            "Which hook carries the reminder?",
            {
                "a": Option("`system`", "It is asked once a run; prompt and cache stay the same."),
                "b": Option("`before_model`", "It may rewrite the array, which breaks the cache."),
                "c": Option(
                    "`after_tools`",
                    "Right: its text follows the results in the same user message.",
                ),
            },
            "c",
        ),
        Question(
            "Five short steps, and everything they print stays near the end of the context. What "
            "does a list change?",
            {
                "a": Option(
                    "Fewer steps are forgotten.",
                    "None were forgotten without it: everything was near enough to be noticed.",
                ),
                "b": Option(
                    "It only costs: more tokens, the same result.",
                    "Right. The second chart showed it: the list pays where output pushes the "
                    "plan away.",
                ),
                "c": Option(
                    "The run needs fewer tokens.",
                    "Every update is a call, and the list is sent again with each turn.",
                ),
            },
            "b",
        ),
    ],
)
