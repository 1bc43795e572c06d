"""Lesson 3, todo: its predictions and quiz."""

from __future__ import annotations

from learnkit.lessons import Lesson, Option, Prediction, Question
from learnkit.lessons.s03_exercises import EXERCISES

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
            "After three rounds without a look at the list a reminder goes out. Where may its text "
            "stand?",
            {
                "a": Option(
                    "Before the results, so that the model reads it first.",
                    "The API refuses it: results come first in the message after the calls. You "
                    "have just seen the error.",
                ),
                "b": Option(
                    "After the results, in the same user message.",
                    "Right. It is also where it helps most: at the very end.",
                ),
                "c": Option(
                    "In an assistant message: “Noted, I will update my list.”",
                    "Words that the model never said. It would be taught by them, wrongly.",
                ),
            },
            "b",
        ),
    },
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
            "A restart, and the list is gone. What would you use?",
            {
                "a": Option("A longer list.", "It would be gone as well."),
                "b": Option(
                    "Tasks on disk.",
                    "Right: that is lesson 7. The list is for one session.",
                ),
                "c": Option("More reminders.", "There is nothing left to be reminded of."),
            },
            "b",
        ),
    ],
)
