"""Lesson 10, protocols: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s10.exercises import EXERCISES

LESSON = Lesson(
    title="Protocols",
    promise="You ask so that an answer means something, and let code hold the gate.",
    adds="requests with an id, and a gate in code",
    minutes=40,
    predictions={
        "p1": Prediction(
            "A prompt says: change nothing before your plan is approved. A model follows the rule "
            "in 19 turns of 20. It waits ten turns for the answer. In how many of 100 runs does "
            "it write too early?",
            {
                "a": Option(
                    "In 5.",
                    "That is one turn's share. There are ten turns, and each is another chance.",
                ),
                "b": Option(
                    "In about 40.",
                    "Right: all ten must go well, and 0.95 to the power of ten is 0.60.",
                ),
                "c": Option(
                    "In 50, ten times 5.",
                    "The chances do not add up: some runs break the rule twice.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Alice agrees to shut down. In the same reply, after the answer, she also calls "
            "write_file. What becomes of the file?",
            {
                "a": Option(
                    "It is not written: she has agreed to stop.",
                    "That would be a stop in the middle of a batch, and half a piece of work.",
                ),
                "b": Option(
                    "It is written, and then she ends.",
                    "Right: the calls in hand are still carried out, and there is no further "
                    "request.",
                ),
                "c": Option(
                    "It is written, and she works on until her task is done.",
                    "Then her yes would have meant nothing.",
                ),
            },
            "b",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "A team works through the night, and its process is restarted twice. Where do open "
            "requests and approvals belong?",
            {
                "a": Option(
                    "In a file.",
                    "Right: what was asked, and who answered what, is there after each restart.",
                ),
                "b": Option(
                    "In memory: the table is small.",
                    "After a restart nobody knows what was asked, nor what was approved.",
                ),
                "c": Option(
                    "In the prompts of the agents.",
                    "A prompt is text: nobody checks it when an answer comes.",
                ),
            },
            "a",
        ),
        Question(
            "Why is the plan gate a `refuse`, and not a sentence in the prompt?",
            {
                "a": Option(
                    "A sentence costs tokens.", "A refusal costs more: it needs another turn."
                ),
                "b": Option(
                    "A rule that is followed almost always is broken sooner or later.",
                    "Right; and what the rule guards against cannot always be undone.",
                ),
                "c": Option(
                    "Models do not read system prompts.",
                    "They do, and it is good to say the rule there too.",
                ),
            },
            "b",
        ),
        Question(
            "Bob's plan was approved. He shuts down and is spawned again with another task. What "
            "may he do?",
            {
                "a": Option(
                    "All that he might before: the plan is approved.",
                    "It was approved for what he was to do then.",
                ),
                "b": Option("Nothing.", "Reading is never refused; without it there is no plan."),
                "c": Option(
                    "Read, until a plan for this assignment is approved.",
                    "Right: an approval belongs to one assignment.",
                ),
            },
            "c",
        ),
        Question(
            "A teammate does not answer a request to shut down. Then?",
            {
                "a": Option(
                    "It counts as a refusal.",
                    "Then one that hangs could never be ended.",
                ),
                "b": Option(
                    "At the deadline it is stopped where it stands, with its calls answered.",
                    "Right: silence is neither yes nor no, and the harness decides.",
                ),
                "c": Option("The lead waits.", "For ever, perhaps."),
            },
            "b",
        ),
    ],
)
