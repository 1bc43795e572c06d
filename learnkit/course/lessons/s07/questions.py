"""Lesson 7, tasks: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s07.exercises import EXERCISES

LESSON = Lesson(
    title="Tasks",
    promise="You put goals into files, and they survive the night in which the kernel dies.",
    adds="a graph of tasks on disk that outlives a kernel",
    minutes=40,
    predictions={
        "p1": Prediction(
            "Two workers create a task at the same moment. Each looks for the highest number, "
            "adds one, and writes its file. What is on the board afterwards?",
            {
                "a": Option(
                    "Two tasks.",
                    "Only if one of them has written before the other one looks.",
                ),
                "b": Option(
                    "One task, and nobody was told.",
                    "Right. Both found the same number, and the second file replaced the first.",
                ),
                "c": Option(
                    "One task, and an error for the slower worker.",
                    "Writing over a file is no error. That is what makes it dangerous.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Task 2 is to wait for task 1. That changes two files: task 1 blocks 2, and task 2 is "
            "blocked by 1. The worker is killed when it has written the first one. What does the "
            "next worker find, with the package's board?",
            {
                "a": Option(
                    "The first change only.",
                    "Then the two files would contradict each other, for ever.",
                ),
                "b": Option(
                    "Neither: a killed change is undone.",
                    "It could be done so. But what was decided had been written down before, so "
                    "it need not be lost.",
                ),
                "c": Option(
                    "Both: the next one to come finishes it.",
                    "Right. All that would change was written to one file first, and whoever "
                    "takes the lock next carries it out.",
                ),
            },
            "c",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "When is a task ready?",
            {
                "a": Option("When it is pending.", "It may wait for others that are not done."),
                "b": Option(
                    "When it is pending, nobody's, and all its blockers are completed.",
                    "Right: three conditions, and a failed blocker is not a completed one.",
                ),
                "c": Option(
                    "When all its blockers have ended.",
                    "A blocker that has failed has ended too.",
                ),
            },
            "b",
        ),
        Question(
            "What makes `os.replace` better than `write_text`?",
            {
                "a": Option(
                    "It is faster.", "It is slower: a second file is written, and then renamed."
                ),
                "b": Option(
                    "It locks the file.",
                    "It locks nothing. Two who replace may still lose each other's changes.",
                ),
                "c": Option(
                    "A reader sees the old file or the new one, never half of it.",
                    "Right, also when the writer is killed in between.",
                ),
            },
            "c",
        ),
        Question(
            "Why is a lock needed as well?",
            {
                "a": Option(
                    "Reading, deciding and writing must be one step.",
                    "Right. Without it two can read the same board, and both decide.",
                ),
                "b": Option(
                    "Two processes cannot write two files at once.",
                    "They can, and often do.",
                ),
                "c": Option(
                    "A killed process leaves it behind as a sign.",
                    "It is the other way round: the operating system frees it when the process is "
                    "gone.",
                ),
            },
            "a",
        ),
        Question(
            "A list of four steps for the next ten minutes: todo or task?",
            {
                "a": Option(
                    "Todo: it lives in the session, and costs no files.",
                    "Right. What nobody else needs, and nobody needs tomorrow, is a todo.",
                ),
                "b": Option(
                    "Task: files are safer.",
                    "They are, but each step costs calls, and the board fills with what is over.",
                ),
                "c": Option("Both.", "Then two lists say what is done, and one of them is wrong."),
            },
            "a",
        ),
    ],
)
