"""Lesson 1, the agent loop: its predictions and quiz."""

from __future__ import annotations

import learnkit as lk
from learnkit.course.lessons import Game, Lesson, Option, Prediction, Question
from learnkit.course.lessons.s01.exercises import EXERCISES

GAME = Game(
    "If it is above 30 °C in Beijing, mail me.",
    lambda workspace: [lk.Toolbox(lk.CodingTools(workspace).bash)],
    script=[
        lk.use("bash", command="python -m heatwatch latest beijing"),
        lk.use("bash", command='python -m heatwatch mail me "Beijing: 31.4 °C"'),
        lk.say("It is 31.4 °C in Beijing, so I wrote you a mail."),
    ],
)

LESSON = Lesson(
    title="The agent loop",
    promise="You write the loop that turns a model into an agent, in about twenty lines.",
    adds="the loop, and one tool: `bash`",
    minutes=35,
    predictions={
        "p1": Prediction(
            "One request went out, and the reply asks for `bash`. What has run so far?",
            {
                "a": Option(
                    "The command, on this machine.",
                    "Nothing here has looked at the reply yet. A tool_use block is a wish, "
                    "written down; somebody has to grant it.",
                ),
                "b": Option(
                    "The command, on the model's side.",
                    "The model has no machine with your files. It only wrote the block.",
                ),
                "c": Option(
                    "Nothing at all.",
                    "Right. The model wrote down which tool it wants, with which arguments. "
                    "Running it is the job of the program around the model: yours.",
                ),
            },
            "c",
        ),
        "p2": Prediction(
            "A reply holds two tool_use blocks. By how many messages does the array grow before "
            "the next request?",
            {
                "a": Option(
                    "By two.",
                    "Right. One assistant message with both calls, one user message with both "
                    "results: every call is answered in the very next user message.",
                ),
                "b": Option(
                    "By three.",
                    "Two user messages would split the results. The API merges neighbours of one "
                    "role, but the loop has no reason to make two.",
                ),
                "c": Option(
                    "By four.",
                    "That would be a call and a result at a time. The calls came in one reply, so "
                    "they stay in one message.",
                ),
            },
            "a",
        ),
    },
    game=GAME,
    exercises=EXERCISES,
    quiz=[
        Question(
            "Who runs a command that the model asks for?",
            {
                "a": Option("The model.", "It only writes text and blocks."),
                "b": Option("The API.", "It passes the reply on; it has no access to your files."),
                "c": Option("The harness.", "Right: your loop reads the block and runs it."),
            },
            "c",
        ),
        Question(
            "The loop forgets to append the assistant's reply, and sends the results alone. "
            "What happens?",
            {
                "a": Option(
                    "The API refuses the request.",
                    "Right: a tool_result whose tool_use is not in the array is an error 400.",
                ),
                "b": Option(
                    "The model asks for the same command again.",
                    "It would have no way to know better, but the request does not get that far.",
                ),
                "c": Option(
                    "Nothing: the API remembers the reply.",
                    "The API is stateless. What is not in the array has not happened.",
                ),
            },
            "a",
        ),
        Question(
            "A reply has stop_reason max_tokens and holds a tool_use block. What does the loop do?",
            {
                "a": Option(
                    "Run the call.", "Its arguments may be cut off in the middle: half a command."
                ),
                "b": Option(
                    "Answer it with an error result, and go on.",
                    "Right: the array stays valid, and the model can send a shorter call.",
                ),
                "c": Option(
                    "End the run.",
                    "The call would stay unanswered, and the next request would be refused.",
                ),
            },
            "b",
        ),
        Question(
            "Where is the agent's memory of what it did in turn 3?",
            {
                "a": Option("In the model's weights.", "They do not change while you work."),
                "b": Option(
                    "In the message array.",
                    "Right, and nowhere else. Later lessons put some of it in safer places.",
                ),
                "c": Option(
                    "In the API's session.", "There is none: each request holds the whole history."
                ),
            },
            "b",
        ),
    ],
)
