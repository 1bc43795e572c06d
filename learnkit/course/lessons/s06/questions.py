"""Lesson 6, compaction: its predictions and quiz."""

from __future__ import annotations

from pathlib import Path

import learnkit as lk
from learnkit.course.lessons import Game, Lesson, Option, Prediction, Question
from learnkit.course.lessons.s06.daily_logs import write_logs
from learnkit.course.lessons.s06.exercises import EXERCISES


def _seat(workspace: Path) -> list[lk.Mechanism]:
    """Four logs to read, and a threshold that the third of them is over."""
    write_logs(workspace, days=4)
    transcripts = workspace / ".transcripts"
    return [lk.CodingTools(workspace), lk.Compaction(1_700, keep=60, transcripts=transcripts)]


GAME = Game(
    "How hot was it in cairo at 14:00 on days 1 to 4, in °C? The logs are logs/day_01.txt and so "
    "on; read one a turn.",
    _seat,
    script=[
        lk.use("read_file", path="logs/day_01.txt"),
        lk.use("read_file", path="logs/day_02.txt"),
        lk.use("read_file", path="logs/day_03.txt"),
        lk.say(
            "The first line of a log says its unit; we report in °C. cairo at 14:00: day 1 "
            "41.1 °C, day 2 39.6 °C (both logs in °C). Next: days 3 and 4."
        ),
        lk.reply(
            "Day 3 is in °F: 108.5 °F is 42.5 °C.", lk.use("read_file", path="logs/day_04.txt")
        ),
        lk.say("In °C: 41.1 on day 1, 39.6 on day 2, 42.5 on day 3 and 37.3 on day 4."),
    ],
)

LESSON = Lesson(
    title="Compaction",
    promise="You make an agent forget on purpose, so that it can go on for ever.",
    adds="three ways to make an array smaller",
    minutes=40,
    predictions={
        "p1": Prediction(
            "A hundred turns fill the window. What should an agent lose first?",
            {
                "a": Option(
                    "The oldest messages, whatever they are.",
                    "The oldest is the request. An agent without it does not know what it is for.",
                ),
                "b": Option(
                    "Raw data that it has seen, and could read again.",
                    "Right: much room, little loss. Reasons and decisions come last: nobody can "
                    "read those again.",
                ),
                "c": Option(
                    "Its own earlier replies: they are only words.",
                    "In them stands why it did what it did.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Clearing old results before every request saves the most tokens. What does it cost?",
            {
                "a": Option("Nothing: fewer tokens are always better.", "Look at the ledger."),
                "b": Option(
                    "The prompt cache: what stands behind a change is no longer found there.",
                    "Right. And where thinking is bound to what stood before it, the request is "
                    "refused as well.",
                ),
                "c": Option(
                    "A request to the model for each clearing.",
                    "Clearing asks nobody. A summary does.",
                ),
            },
            "b",
        ),
    },
    game=GAME,
    exercises=EXERCISES,
    quiz=[
        Question(
            "Which results may be cleared?",
            {
                "a": Option("All but the last three.", "And if the model has not seen the fourth?"),
                "b": Option(
                    "Old ones that the model has seen, if they are long and no failures.",
                    "Right. A failure is short, and it keeps the model from doing it again.",
                ),
                "c": Option("The longest ones.", "Also one that arrived a second ago?"),
            },
            "b",
        ),
        Question(
            "The request for the summary fails. What does the array look like afterwards?",
            {
                "a": Option(
                    "As it did before.",
                    "Right: a new array is put in place when it is complete, and not earlier.",
                ),
                "b": Option("Empty.", "Then an overloaded server would end every long run."),
                "c": Option("Shorter by half.", "By whose choice?"),
            },
            "a",
        ),
        Question(
            "Why does thinking go that stands behind a cleared result?",
            {
                "a": Option("To save its tokens.", "It is short; that would not be worth it."),
                "b": Option(
                    "It is bound to what stood before it, and that has changed.",
                    "Right: the API refuses a block that is bound to another conversation.",
                ),
                "c": Option("It is out of date.", "It may be as true as ever."),
            },
            "b",
        ),
        Question(
            "What stands in the array right after a summary?",
            {
                "a": Option("The summary, and nothing else.", "Then the plan would be lost."),
                "b": Option(
                    "The summary, the request, what mechanisms carry, and what is not yet seen.",
                    "Right: and the name of the file in which everything is kept.",
                ),
                "c": Option("The summary as a reply of the model.", "It never said that."),
            },
            "b",
        ),
    ],
)
