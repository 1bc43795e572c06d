"""Lesson 5, skills: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s05.exercises import EXERCISES

LESSON = Lesson(
    title="Skills",
    promise="You make an agent that knows much and carries little: "
    "it reads the manual when the work begins.",
    adds="`load_skill`: know-how that is loaded when needed",
    minutes=35,
    predictions={
        "p1": Prediction(
            "The model calls `load_skill`. Where do the instructions stand in the next request?",
            {
                "a": Option(
                    "In the system prompt, which grows.",
                    "The system prompt is fixed when the run starts: a changed beginning would "
                    "throw the cache away.",
                ),
                "b": Option(
                    "In a tool_result, in the message array.",
                    "Right. Like any other result, and from then on in every later request too.",
                ),
                "c": Option(
                    "Nowhere: the model has learnt them.",
                    "A model learns nothing between requests. What is not in the array is not "
                    "there, as in lesson 1.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Twenty manuals of 5,000 tokens, and a task of eight turns. On demand it takes nine: "
            "one to load the manual that it needs. How much is sent in all, compared with "
            "everything upfront?",
            {
                "a": Option(
                    "Less than a tenth.",
                    "Right. The catalogue goes nine times, one manual eight times; nineteen "
                    "manuals never.",
                ),
                "b": Option(
                    "About a half.",
                    "It would be, if the task needed ten of the twenty manuals from the start.",
                ),
                "c": Option(
                    "More: it takes a turn longer.",
                    "A turn has a price, but it is small beside 100,000 tokens a turn.",
                ),
            },
            "a",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "What decides whether the model loads the right skill?",
            {
                "a": Option(
                    "Its description.",
                    "Right: before it is loaded, name and description are all that the model "
                    "sees. Say what it does and when to use it.",
                ),
                "b": Option(
                    "Its instructions.", "They are read after the decision, so they cannot make it."
                ),
                "c": Option(
                    "The harness compares the task with each skill.",
                    "It could, but here nobody searches: the model reads the catalogue and calls.",
                ),
            },
            "a",
        ),
        Question(
            "A rule must hold in every task of a project, and is two lines long. Where does it "
            "belong?",
            {
                "a": Option(
                    "In a skill of its own.",
                    "A catalogue entry would be longer than the rule, and it might not be loaded.",
                ),
                "b": Option(
                    "In the system prompt.",
                    "Right: what is short and always needed is cheapest upfront, or preloaded.",
                ),
                "c": Option(
                    "In a file that a skill refers to.",
                    "Two steps away from being read, for something that must never be missed.",
                ),
            },
            "b",
        ),
        Question(
            "A skill's instructions were loaded in turn 2. In turn 40 compaction, lesson 6, has to "
            "make room. What about them?",
            {
                "a": Option(
                    "Drop them, like an old listing of files.",
                    "A listing is data that is no longer needed. Instructions are still in force, "
                    "and the model would not notice that they are gone.",
                ),
                "b": Option(
                    "Keep them, word for word.",
                    "Right. That is what the hook `carry` of the mechanism is for.",
                ),
                "c": Option(
                    "Summarise them.",
                    "A rule that is almost right is the hardest fault to find.",
                ),
            },
            "b",
        ),
        Question(
            "A skill from the internet asks the agent to run its script. What do you do?",
            {
                "a": Option(
                    "Nothing: the specification allows scripts.",
                    "It says what a skill may contain, not that it is harmless.",
                ),
                "b": Option(
                    "Trust it if its front matter is valid.",
                    "Valid YAML is a matter of form. Any program can stand below it.",
                ),
                "c": Option(
                    "Read it as you would read any program, and leave Permission in force.",
                    "Right: instructions and scripts act with your agent's rights.",
                ),
            },
            "c",
        ),
    ],
)
