"""Lesson 4, subagents: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s04.exercises import EXERCISES

LESSON = Lesson(
    title="Subagents",
    promise="You hand a subtask to an agent with an empty desk, and get one line back.",
    adds="`task`: a child with messages of its own",
    minutes=35,
    predictions={
        "p1": Prediction(
            "A subagent reads ten files and reports ten lines. What of it stands in the messages "
            "of the agent that started it?",
            {
                "a": Option(
                    "Everything: they share one conversation.",
                    "Then nothing would be gained. The child has messages of its own.",
                ),
                "b": Option(
                    "The call, and the ten lines as its result.",
                    "Right. For the parent it is one tool call like any other.",
                ),
                "c": Option(
                    "Nothing, until the parent asks.",
                    "Every call gets its result in the next message, this one too.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Two children were started in one reply, and one of them died. What must the parent's "
            "next message hold?",
            {
                "a": Option(
                    "The result of the one that lives.",
                    "The API refuses a call without a result; the next cells show it.",
                ),
                "b": Option(
                    "Two results, and the second says that it failed.",
                    "Right: an error is a result too, and the parent can act on it.",
                ),
                "c": Option(
                    "Both calls again.",
                    "The harness does not call: the model decides that when it reads the error.",
                ),
            },
            "b",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "What do a parent and its subagent share?",
            {
                "a": Option("The message array.", "That is the one thing they do not share."),
                "b": Option(
                    "The files, the event log, the clock and the signal to stop.",
                    "Right: one world, two desks.",
                ),
                "c": Option("The todo list.", "Each agent has mechanisms of its own."),
            },
            "b",
        ),
        Question(
            "A child is to mend one parser, and has to know why it matters. The parent's "
            "conversation is long and mostly about other things. What do you hand down?",
            {
                "a": Option(
                    "Nothing but the prompt.", "It is the cheapest, but the reason is missing."
                ),
                "b": Option(
                    "Everything, to be safe.",
                    "Then the child's desk is as full as the parent's, and the point of a clean "
                    "one is gone.",
                ),
                "c": Option(
                    "The goal, and the messages that share words with the task, shortened.",
                    "Right: about forty tokens in this lesson's cell, and what is usually wanted.",
                ),
            },
            "c",
        ),
        Question(
            "Two subtasks write to the same file. What do you do?",
            {
                "a": Option(
                    "Run them side by side: contexts are separate.",
                    "Contexts are, files are not: one will overwrite the other.",
                ),
                "b": Option(
                    "One after the other, or as one subtask.",
                    "Right. Separate directories are lesson 12.",
                ),
                "c": Option("Give both the whole conversation.", "Knowing does not lock a file."),
            },
            "b",
        ),
        Question(
            "Where does the saving come from?",
            {
                "a": Option(
                    "From the parent's later requests, which do not carry what the child read.",
                    "Right: what stands in an array is sent again with every turn.",
                ),
                "b": Option("A child's tokens cost less.", "A token is a token."),
                "c": Option(
                    "The child reads less.",
                    "It reads the same. Often it reads even more, since it starts from nothing.",
                ),
            },
            "a",
        ),
    ],
)
