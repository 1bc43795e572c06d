"""Lesson 3's exercises: what is wrong with an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from learnkit.course.content import Verdict

_OPEN = [
    {"id": "1", "text": "read", "status": "completed"},
    {"id": "2", "text": "write", "status": "in_progress"},
    {"id": "3", "text": "test", "status": "pending"},
]
_DONE = [{**one, "status": "completed"} for one in _OPEN]


def check_finish(finish: Any) -> Verdict:
    """Let an agent stop with open items, stop again, and stop with none."""
    for items, what in ((_DONE, "all items are completed"), ([], "there is no list")):
        text = finish(SimpleNamespace(items=[dict(one) for one in items], asked=False))
        if text:
            return f"where {what}, it returned {text!r}; it should return None: let the model stop"
    lead = SimpleNamespace(items=[dict(one) for one in _OPEN], asked=False)
    text = finish(lead)
    if not text:
        return "the run ended although 'write' and 'test' were open: return a text the first time"
    if not isinstance(text, str):
        return f"it returned {text!r}; a hook returns a text or None"
    if missing := [name for name in ("write", "test") if name not in text]:
        return f"your text doesn't name {missing[0]!r}, which is open: {text}"
    if "read" in text:
        return f"your text names 'read', which is completed: {text}"
    if again := finish(lead):
        return f"it asked a second time ({again!r}), so a model with a good reason never ends"
    if not finish(SimpleNamespace(items=[dict(one) for one in _OPEN], asked=False)):
        return "it remembers a question to another agent: keep `asked` on the agent"
    return None


def check_patient(patient: Any) -> Verdict:
    """Play rounds in which an agent ignores its list, twice."""
    todo, look = [{"name": "todo"}], [{"name": "bash"}]
    for calls, wanted, what, why in (
        ([look] * 15, [2, 6, 14], "", "the waits are 2, then 4, then 8 rounds"),
        (
            [*[look] * 3, todo, *[look] * 6],
            [2, 6, 10],
            ", the fourth of which is an update",
            "an update sets the wait back to 2",
        ),
    ):
        lead, heard = SimpleNamespace(items=[dict(one) for one in _OPEN], rounds=0, wait=2), []
        for number, called in enumerate([todo, *calls]):  # the first call is round 0
            if patient(lead, called):
                heard.append(number)
        if heard != wanted:
            return (
                f"in the {len(calls)} rounds after a todo call{what}, reminders followed "
                f"{_listed(heard)}; they should follow {_listed(wanted)}, because {why}"
            )
    lead = SimpleNamespace(items=[dict(one) for one in _DONE], rounds=0, wait=2)
    if any(patient(lead, look) for _ in range(6)):
        return "it reminds although all items are completed"
    return None


def _listed(numbers: list[int]) -> str:
    return f"rounds {', '.join(map(str, numbers))}" if numbers else "no round"


EXERCISES = {
    "finish": check_finish,
    "patient": check_patient,
}
