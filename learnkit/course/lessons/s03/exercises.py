"""Lesson 3's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check

_ITEMS = [
    {"id": "1", "text": "read", "status": "completed"},
    {"id": "2", "text": "write", "status": "in_progress"},
    {"id": "3", "text": "test", "status": "pending"},
]


def check_progress(progress: Any) -> Verdict:
    """Check for a bar of ten characters, rounded down, and the share in per cent.

    Args:
        progress: the learner's function of the items.
    """
    cases = [
        (_ITEMS, "###....... 33 %"),
        ([{**one, "status": "completed"} for one in _ITEMS], "########## 100 %"),
        ([], ".......... 0 %"),
        (_ITEMS[1:], ".......... 0 %"),
        (_ITEMS[:2], "#####..... 50 %"),
    ]
    for items, wanted in cases:
        told = progress([dict(one) for one in items])
        if told != wanted:
            states = ", ".join(one["status"] for one in items) or "an empty list"
            return f"for {states} it says {told!r}; it should say {wanted!r}"
    return None


PROGRESS_LOOP = """
def progress(items):
    done = 0
    for item in items:
        if item["status"] == "completed":
            done += 1
    total = max(len(items), 1)
    bar = ("#" * (10 * done // total)).ljust(10, ".")
    return bar + " " + str(round(100 * done / total)) + " %"
""".strip()


@lk.tool
def _work() -> str:
    """Do something."""
    return "done"


def _events_of(mechanism: Any, script: list[Any], limit: int = 12) -> lk.Agent:
    agent = lk.Agent(lk.scripted(script), [lk.Toolbox(_work), mechanism], max_turns=limit)
    agent.run("go")
    return agent


def check_patient(Patient: Any) -> Verdict:
    """Check that reminders come after 2, then 4, then 8 rounds, and after 2 again after an update.

    Args:
        Patient: the learner's class; it is a todo list.
    """
    if not (isinstance(Patient, type) and issubclass(Patient, lk.Mechanism)):
        return "`Patient` must be a class that is an lk.Mechanism, such as a subclass of lk.Todo"
    todo = lk.use("todo", items=_ITEMS)
    work = lk.use("_work")
    for script, wanted, what in (
        ([todo, *[work] * 15, lk.say("end")], [3, 7, 15], "15 rounds without an update"),
        ([todo, *[work] * 3, todo, *[work] * 3, lk.say("end")], [3, 7], "an update in between"),
        ([*[work] * 6, lk.say("end")], [], "no list at all"),
    ):
        agent = _events_of(Patient(), script, 40)
        users = [m["content"] for m in agent.messages[2::2]]
        found = [
            number
            for number, blocks in enumerate(users, start=1)
            if not isinstance(blocks, str) and any(b["type"] == "text" for b in blocks)
        ]
        if found != wanted:
            return f"{what}: reminders came in rounds {found}, not in {wanted}"
    return None


PATIENT_OWN = '''
import learnkit as lk


class Patient(lk.Todo):
    """A list whose reminders come more and more rarely: after 2, then 4, then 8 rounds."""

    rounds, wait = 0, 2

    def after_tools(self, agent, calls):
        if "todo" in [call.name for call in calls]:
            self.rounds, self.wait = 0, 2
            return None
        self.rounds += 1
        if not self.open or self.rounds < self.wait:
            return None
        self.rounds, self.wait = 0, 2 * self.wait
        return "Your todo list is out of date."
'''.strip()


def check_finisher(Finisher: Any) -> Verdict:
    """Check that the model is asked once when it stops with open items, and may then stop.

    Args:
        Finisher: the learner's class; it is a todo list.
    """
    if not (isinstance(Finisher, type) and issubclass(Finisher, lk.Mechanism)):
        return "`Finisher` must be a class that is an lk.Mechanism, such as a subclass of lk.Todo"
    todo = lk.use("todo", items=_ITEMS)
    agent = _events_of(Finisher(), [todo, *[lk.say("I am done.")] * 9])
    if agent.turns == 2:
        return "the run ended although 'write' and 'test' were open: look at the hook `on_stop`"
    told = agent.messages[-2]["content"]
    text = told if isinstance(told, str) else " ".join(b.get("text", "") for b in told)
    if "write" not in text or "test" not in text:
        return f"it should name what is open (write, test); it said {text!r}"
    if "read" in text.replace("already", ""):
        return f"'read' is completed, and need not be named; it said {text!r}"
    done = lk.use("todo", items=[{**one, "status": "completed"} for one in _ITEMS])
    agent = _events_of(Finisher(), [todo, done, lk.say("I am done.")])
    if agent.turns != 3:
        return "with everything completed the model should be let go at once"
    agent = _events_of(Finisher(), [lk.say("Nothing to do.")])
    if agent.turns != 1:
        return "without a list there is nothing to hold the model back for"
    script = [todo, *[lk.say("No.")] * 30]
    agent = _events_of(Finisher(), script, 25)
    if agent.turns >= 25:
        return "a model that refuses to go on is asked for ever; ask once, and then let it go"
    return None


FINISHER_COUNT = '''
import learnkit as lk


class Finisher(lk.Todo):
    """A list that asks once before the model stops with open items."""

    def __init__(self):
        super().__init__()
        self.times = 0

    def on_stop(self, agent):
        left = [item["text"] for item in self.items if item["status"] != "completed"]
        if left and self.times < 2:
            self.times += 1
            return "You stop with these open:\\n" + "\\n".join(left)
'''.strip()


EXERCISES = {
    "progress": Check(
        check_progress,
        right=[PROGRESS_LOOP],
        wrong=[
            SOLUTION.replace(" if items else 0", ""),
            SOLUTION.replace('== "completed"', '!= "pending"'),
            SOLUTION.replace("int(10 * share)", "round(10 * share + 0.4)"),
        ],
    ),
    "Patient": Check(
        check_patient,
        right=[PATIENT_OWN],
        wrong=[
            SOLUTION.replace("self.remind_after *= 2", "pass"),
            SOLUTION.replace("            self.remind_after = 2\n", "            pass\n"),
            PATIENT_OWN.replace("not self.open or ", ""),
        ],
    ),
    "Finisher": Check(
        check_finisher,
        right=[FINISHER_COUNT],
        wrong=[
            SOLUTION.replace("self.asked or not self.open", "not self.open"),
            SOLUTION.replace("{names}", "something"),
            SOLUTION.replace("self.asked or not self.open", "self.asked"),
        ],
    ),
}
