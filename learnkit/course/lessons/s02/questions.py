"""Lesson 2, tools: its predictions and quiz."""

from __future__ import annotations

import learnkit as lk
from learnkit.course.lessons import Game, Lesson, Option, Prediction, Question
from learnkit.course.lessons.s02.exercises import EXERCISES

ALERTS = "heatwatch/alerts.py"
LINE = "KEEP = 30  # days that a mail stays in the outbox"
#: The request quotes the line with one blank too few, so its text is not in the file.
QUOTED = LINE.replace("  #", " #")

GAME = Game(
    f"In {ALERTS} it says: {QUOTED}. Make that 14 days, and change nothing else.",
    lambda workspace: [lk.CodingTools(workspace)],
    script=[
        lk.use("edit_file", path=ALERTS, old_text=QUOTED, new_text=QUOTED.replace("30", "14")),
        lk.use("edit_file", path=ALERTS, old_text="30", new_text="14"),
        lk.use("edit_file", path=ALERTS, old_text="LIMIT = 14", new_text="LIMIT = 30"),
        lk.use("edit_file", path=ALERTS, old_text=LINE, new_text=LINE.replace("30", "14")),
        lk.use("bash", command="git diff -U0 | grep '^[+-][A-Z]'"),
        lk.say("Mails are kept for 14 days now, and no other line has changed."),
    ],
)

LESSON = Lesson(
    title="Tools",
    promise="You replace a chain of ifs by a registry, and a risky command by a typed tool.",
    adds="typed tools to read, write and edit files",
    minutes=35,
    predictions={
        "p1": Prediction(
            "The model calls a tool that does not exist. What should the harness do?",
            {
                "a": Option(
                    "Raise an exception and end the run.",
                    "The run would be lost for a slip that the model can mend by itself.",
                ),
                "b": Option(
                    "Leave the call out.",
                    "Then it has no result, and the next request is refused: lesson 1's error 400.",
                ),
                "c": Option(
                    "Answer with an error that lists the tools there are.",
                    "Right. The model reads the list, and its next call is likely to fit.",
                ),
            },
            "c",
        ),
        "p2": Prediction(
            "A deny-list refuses commands that contain `rm -rf /`, `sudo` or `> /dev/`. Which of "
            "these three does it let pass?",
            {
                "a": Option(
                    "`rm -fr /`",
                    "Right. The same deed in other words. There are endlessly many of them.",
                ),
                "b": Option(
                    "`rm -rf /tmp/x`",
                    "It is refused, though it is harmless: the forbidden text stands in it.",
                ),
                "c": Option(
                    "`ls 2> /dev/null`",
                    "It is refused too, and every shell script does this.",
                ),
            },
            "a",
        ),
    },
    game=GAME,
    exercises=EXERCISES,
    quiz=[
        Question(
            "What does a model know about a tool?",
            {
                "a": Option("Its source code.", "The code stays with the harness."),
                "b": Option(
                    "Its name, its description and the schema of its arguments.",
                    "Right: that is all there is in the request, so it is the real interface.",
                ),
                "c": Option("What it did in earlier runs.", "Only what stands in this array."),
            },
            "b",
        ),
        Question(
            "Why did the loop not change when three tools were added?",
            {
                "a": Option(
                    "It looks tools up by name.",
                    "Right: new tools are new entries, and the loop only knows the dictionary.",
                ),
                "b": Option(
                    "The model handles new tools by itself.",
                    "It can only ask; somebody has to find the function.",
                ),
                "c": Option("It did change.", "Step 6 used lesson 1's loop as it was."),
            },
            "a",
        ),
        Question(
            "edit_file does not find the old text. What is the best result?",
            {
                "a": Option("An empty one.", "The model would take that for success."),
                "b": Option(
                    "An error that shows the line that comes nearest.",
                    "Right: what to do next stands in the error.",
                ),
                "c": Option(
                    "Write the new text at the end of the file.",
                    "Guessing turns a small slip into a wrong file.",
                ),
            },
            "b",
        ),
        Question(
            "What keeps an agent from harming the machine?",
            {
                "a": Option(
                    "A list of forbidden words.",
                    "It lets the same deed pass in other words, and refuses harmless commands.",
                ),
                "b": Option("A sentence in the prompt.", "That is a request, and not a boundary."),
                "c": Option(
                    "Permission for each call, and a sandbox around what runs.",
                    "Right: one decides what may start, the other limits what it can reach.",
                ),
            },
            "c",
        ),
    ],
)
