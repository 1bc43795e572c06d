"""Lesson 12, worktrees and the whole harness: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s12.exercises import EXERCISES

LESSON = Lesson(
    title="Worktrees",
    promise="You give each piece of work a folder and a branch, and put all twelve together.",
    adds="a folder and a branch for each task",
    minutes=45,
    predictions={
        "p1": Prediction(
            "Two agents with clean contexts share one folder. Both read alerts.py, each changes "
            "a different line, and both write the whole file. What is in it?",
            {
                "a": Option(
                    "Both changes: they are on different lines.",
                    "A whole file was written twice. Nobody merges what is only written.",
                ),
                "b": Option(
                    "The change of the one who wrote last.",
                    "Right. The other one's is gone, and its author believes that it is there.",
                ),
                "c": Option(
                    "An error for the second one.",
                    "Writing a file that exists is no error.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Two branches have changed the same line. The harness merges the first, then tries "
            "the second. What does the package leave behind?",
            {
                "a": Option(
                    "The main folder as it was after the first merge, and the names of the files.",
                    "Right: half a merge in the main folder would stop everybody.",
                ),
                "b": Option(
                    "A file with both versions between marks, to be settled there.",
                    "That is what git leaves. In the main folder it is in everybody's way.",
                ),
                "c": Option(
                    "The second version.",
                    "Then the first change would be lost, after all this.",
                ),
            },
            "a",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "What does a worktree keep apart that a subagent's clean context does not?",
            {
                "a": Option("What the agents know.", "That is what the context keeps apart."),
                "b": Option("The files that they write.", "Right: each has a folder of its own."),
                "c": Option("What they cost.", "Both cost the same tokens."),
            },
            "b",
        ),
        Question(
            "Why does removing a worktree keep its branch?",
            {
                "a": Option(
                    "What was committed must not be lost with a folder.",
                    "Right. A branch costs nothing, and can be merged tomorrow.",
                ),
                "b": Option("git cannot delete branches.", "It can, with git branch -D."),
                "c": Option(
                    "The name must not be used again.",
                    "That is a consequence, and no reason.",
                ),
            },
            "a",
        ),
        Question(
            "Somebody has deleted a worktree's folder by hand. What does the worktree index say?",
            {
                "a": Option("That it is active.", "It would, if it were believed."),
                "b": Option("Nothing: it is broken.", "It is mended each time it is opened."),
                "c": Option(
                    "That it is removed: git is asked first.",
                    "Right. What git does not know does not exist.",
                ),
            },
            "c",
        ),
        Question(
            "An agent for one person and small repositories. Which mechanisms first?",
            {
                "a": Option(
                    "The loop, a todo list, and tasks on disk.",
                    "Right: lessons 1, 3 and 7. The others come when something hurts.",
                ),
                "b": Option("All twelve, to be safe.", "Look at what their tools cost each turn."),
                "c": Option(
                    "A team with worktrees.",
                    "A team for one small piece of work is slower and dearer than one agent.",
                ),
            },
            "a",
        ),
    ],
)
