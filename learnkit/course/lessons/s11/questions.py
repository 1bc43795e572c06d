"""Lesson 11, autonomy: its predictions and quiz."""

from __future__ import annotations

from learnkit.course.lessons import Lesson, Option, Prediction, Question
from learnkit.course.lessons.s11.exercises import EXERCISES

LESSON = Lesson(
    title="Autonomy",
    promise="You let teammates find their work, and nobody does it twice or forgets it.",
    adds="`idle` and `claim_task`: work that is found",
    minutes=40,
    predictions={
        "p1": Prediction(
            "Two idle teammates look at the board at the same moment. Each sees that task 1 is "
            "free, writes its name into it, and begins. Who does the task?",
            {
                "a": Option(
                    "The first one: the second sees the name.",
                    "It has looked already, before the name was there.",
                ),
                "b": Option(
                    "Both.",
                    "Right. One name stands in the file, and two are at work.",
                ),
                "c": Option(
                    "Nobody: the file is spoilt.",
                    "The file is fine. It names the one who wrote last.",
                ),
            },
            "b",
        ),
        "p2": Prediction(
            "Now Alice and Bob are teammates in one process. Bob's plug is pulled: his thread ends "
            "while he holds task 2, and the team lives on. Alice is idle and looks at the board "
            "every 5 seconds. When does she find task 2?",
            {
                "a": Option(
                    "At her next look.",
                    "Right: whoever ends gives back what it holds, and then the task is ready.",
                ),
                "b": Option(
                    "Never: Bob's name stands in it.",
                    "So it would be, if nobody took it out.",
                ),
                "c": Option(
                    "After 60 seconds.",
                    "That is how long she would look for work before she ends.",
                ),
            },
            "a",
        ),
    },
    exercises=EXERCISES,
    quiz=[
        Question(
            "Why does a lead that hands out every task not scale?",
            {
                "a": Option(
                    "It is asked once for every task, one after the other.",
                    "Right: everybody waits for its turn, and its context fills with reports.",
                ),
                "b": Option("Its letters may get lost.", "Not since lesson 9."),
                "c": Option("It may not see the board.", "It may; that is not the point."),
            },
            "a",
        ),
        Question(
            "What makes a claim safe?",
            {
                "a": Option(
                    "Looking again, after a moment, whether the name is still one's own.",
                    "The moment may be too short, and both may find their own name in turn.",
                ),
                "b": Option("Asking the lead.", "Then it hands out the tasks after all."),
                "c": Option(
                    "Looking and writing are one step, under a lock.",
                    "Right: of all who try, exactly one succeeds, and the others are told.",
                ),
            },
            "c",
        ),
        Question(
            "An idle teammate has mail, and there is a ready task. What comes first?",
            {
                "a": Option(
                    "The mail.",
                    "Right: it may be a question that somebody waits for, or a request to stop.",
                ),
                "b": Option("The task: it is older.", "Then a request to stop would come late."),
                "c": Option(
                    "Whatever the model likes.", "It is asked only when there is something."
                ),
            },
            "a",
        ),
        Question(
            "After a compaction a teammate calls itself Bob, and is Alice. What helps?",
            {
                "a": Option(
                    "With three messages or fewer in the array, it is told again who it is.",
                    "A fresh conversation is as short, and a compacted one may be longer.",
                ),
                "b": Option(
                    "Its identity is part of what must stand in the array after a compaction.",
                    "Right: the compaction itself asks for it.",
                ),
                "c": Option(
                    "Nothing: the system prompt is sent each time.",
                    "It is, and still a summary that mixes names up says otherwise.",
                ),
            },
            "b",
        ),
    ],
)
