"""Lesson 3's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import is_mechanism
from learnkit.events.text import content_text

_ITEMS = [
    {"id": "1", "text": "read", "status": "completed"},
    {"id": "2", "text": "write", "status": "in_progress"},
    {"id": "3", "text": "test", "status": "pending"},
]
_ALL_DONE = [{**one, "status": "completed"} for one in _ITEMS]


def check_progress(progress: Any) -> Verdict:
    """Check for a bar of ten characters, rounded down, and the share in per cent."""
    cases = [
        (_ITEMS, "###....... 33 %", "1 of 3 items is completed"),
        (_ALL_DONE, "########## 100 %", "all items are completed"),
        ([], ".......... 0 %", "an empty list has nothing completed"),
        (_ITEMS[1:], ".......... 0 %", "nothing is completed yet"),
        (_ITEMS[:2], "#####..... 50 %", "1 of 2 items is completed"),
    ]
    for items, wanted, why in cases:
        given = ", ".join(one["status"] for one in items) or "an empty list"
        try:
            returned = progress([dict(one) for one in items])
        except ZeroDivisionError:
            return f"for {given}, your function divides by zero; it should return {wanted!r}"
        if returned != wanted:
            return (
                f"for {given}, your function returned {returned!r}; "
                f"it should return {wanted!r}, because {why}"
            )
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

PROGRESS_FORMAT = """
def progress(items):
    states = [item["status"] for item in items]
    share = states.count("completed") / (len(states) or 1)
    return f"{'#' * int(share * 10):.<10} {share:.0%}".replace("%", " %")
""".strip()


@lk.tool
def _work() -> None:
    """Do something."""


_LIST, _WORK = lk.use("todo", items=_ITEMS), lk.use("_work")
_UPDATE = lk.use("todo", items=[_ITEMS[0], {**_ITEMS[1], "status": "pending"}, _ITEMS[2]])


def _not_a_list(thing: Any, name: str) -> Verdict:
    """What keeps a class from being run as a todo list, if anything does."""
    if not is_mechanism(thing):
        return f"`{name}` must be a class that is an lk.Mechanism, such as a subclass of lk.Todo"
    if isinstance(made := thing(), lk.Todo) and not hasattr(made, "_items"):
        return f"`{name}.__init__` should call super().__init__(): without it there is no list"
    return None


def _ran(mechanism: Any, script: list[Any], limit: int = 12) -> lk.Agent:
    agent = lk.Agent(lk.scripted(script), [lk.Toolbox(_work), mechanism], max_turns=limit)
    agent.run("go")
    return agent


def _numbers(rounds: list[int]) -> str:
    return ", ".join(map(str, rounds)) or "none"


def check_patient(Patient: Any) -> Verdict:
    """Check that reminders come after 2, 4, 8 rounds, and after 2 again after an update."""
    if wrong := _not_a_list(Patient, "Patient"):
        return wrong
    for script, wanted, what, why in (
        (
            [_LIST, *[_WORK] * 15],
            [3, 7, 15],
            "a todo call and 15 rounds without one",
            "the waits are 2, then 4, then 8 rounds",
        ),
        (
            [_LIST, *[_WORK] * 3, _UPDATE, *[_WORK] * 3],
            [3, 7],
            "a todo call, 3 rounds, another todo call and 3 more rounds",
            "each update makes the next wait 2 rounds again",
        ),
        ([_WORK] * 6, [], "6 rounds and no todo call", "there is no list to update"),
    ):
        agent = _ran(Patient(), [*script, lk.say("end")], 40)
        users = [m["content"] for m in agent.messages[2::2]]
        found = [
            number
            for number, blocks in enumerate(users, start=1)
            if not isinstance(blocks, str) and any(b["type"] == "text" for b in blocks)
        ]
        if found != wanted:
            return (
                f"in a run of {what}, your reminders followed these rounds: {_numbers(found)}. "
                f"They should follow: {_numbers(wanted)}, because {why}"
            )
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
    """Check that the model is asked once when it stops with open items, and may then stop."""
    if wrong := _not_a_list(Finisher, "Finisher"):
        return wrong
    stops = [lk.say("I am done.")] * 30
    try:
        agent = _ran(Finisher(), [_LIST, *stops])
    except lk.UsageError as error:  # neither text nor None
        return f"{error}. Return the text that the model should read"
    if agent.turns == 2:
        return (
            "the run ended although 'write' and 'test' were open. Your hook `on_stop` should "
            "return a text the first time, because that text makes the model continue"
        )
    text = content_text(agent.messages[4]["content"])
    if "write" not in text or "test" not in text:
        return f"your text should name what is open (write, test), but it is {text!r}"
    if "read" in text.replace("already", ""):
        return f"your text names 'read', which is completed: {text!r}"
    if agent.turns > 3:
        return (
            "the model stopped, was asked, and stopped again, but your hook asked it once more. "
            "The second time it should return None, because the model may have a reason"
        )
    done = lk.use("todo", items=_ALL_DONE)
    if _ran(Finisher(), [_LIST, done, *stops]).turns != 3:
        return (
            "with every item completed, your hook still asked. "
            "It should return None, because nothing is open"
        )
    if _ran(Finisher(), stops).turns != 1:
        return (
            "the model never made a list, but your hook asked it to continue. "
            "It should return None, because nothing is open"
        )
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
        if left and self.times < 1:
            self.times += 1
            return "You stop already, with these open:\\n" + "\\n".join(left)
'''.strip()


EXERCISES = {
    "progress": Check(check_progress, [PROGRESS_LOOP, PROGRESS_FORMAT]),
    "Patient": Check(check_patient, [PATIENT_OWN]),
    "Finisher": Check(check_finisher, [FINISHER_COUNT]),
}
