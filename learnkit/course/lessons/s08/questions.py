"""Lesson 8, background: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s08.exercises import EXERCISES

LESSON = Lesson(
    title="Background",
    promise="You let a slow command run beside the loop, and the agent thinks on.",
    adds="commands that run beside the loop",
    minutes=35,
    predictions={
        "p1": Prediction(
            "One reply starts three commands in the background: sleep 3, sleep 1, sleep 2. Leave "
            "the model's own time aside: when can it have heard of all three?",
            {
                "a": Option(
                    "After 6 seconds.", "That is the sum: one after the other, as bash does it."
                ),
                "b": Option(
                    "After 3 seconds.",
                    "Right: as long as the longest. The shorter ones are told on the way.",
                ),
                "c": Option(
                    "At once: it has three ids.",
                    "An id is a promise, not a result.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "The model has nothing more to do and says so, without a call. One of its commands "
            "still runs. Your class has no on_stop. What becomes of the result?",
            {
                "a": Option(
                    "It comes with the next results.",
                    "There are none: the model has called nothing, so the run is over.",
                ),
                "b": Option(
                    "The run ends, and nobody is told.",
                    "Right. after_tools runs after tools, and there were none.",
                ),
                "c": Option(
                    "The loop waits for it.",
                    "The loop knows nothing of jobs. Somebody has to tell it.",
                ),
            },
            "b",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "What is the result of `background_run`, the one that the API insists on?",
            {
                "a": Option(
                    "An id, at once.",
                    "Right. The call has its result in the very next message, like any other.",
                ),
                "b": Option(
                    "The output, once it is there.",
                    "Then every request in between would have an open call, and be refused.",
                ),
                "c": Option("None.", "A call without a result is refused with status 400."),
            },
            "a",
        ),
        Question(
            "Where does the output stand, when it comes?",
            {
                "a": Option(
                    "In a second result for the same call.",
                    "You have seen what the API says to that.",
                ),
                "b": Option(
                    "As text behind the next results, or in a new user message.",
                    "Right: results first, then text; after a stop, a message of its own.",
                ),
                "c": Option(
                    "In the system prompt.",
                    "It stays as it is for a whole run: the cache and the thinking depend on it.",
                ),
            },
            "b",
        ),
        Question(
            "A file has to be listed before it can be edited. Background or not?",
            {
                "a": Option(
                    "Not: it is quick, and needed at once.",
                    "Right. Each result that comes late costs a turn of its own.",
                ),
                "b": Option(
                    "Background: nothing should ever block.",
                    "The model has nothing else to do meanwhile, so nothing is gained.",
                ),
                "c": Option("Both, to be safe.", "Then it is done twice, and told twice."),
            },
            "a",
        ),
        Question(
            "Sixty minutes of work took thirty-five. What does the figure depend on?",
            {
                "a": Option(
                    "On the model: a better one is faster.",
                    "The turns took as long in both runs.",
                ),
                "b": Option(
                    "On what has to wait for what.",
                    "Right: the longest chain decides, on a machine that can really do two things "
                    "at a time.",
                ),
                "c": Option(
                    "On the number of commands.",
                    "A hundred commands in a chain take as long as one after the other.",
                ),
            },
            "b",
        ),
    ],
)
