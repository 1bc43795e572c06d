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


def _lead(items: list[dict[str, str]], **more: Any) -> SimpleNamespace:
    return SimpleNamespace(items=[dict(one) for one in items], **more)


def check_before_stop(before_stop: Any) -> Verdict:
    """Let an agent stop with open items, stop again, and stop with none."""
    for items, what in ((_DONE, "all items are completed"), ([], "there is no list")):
        if text := before_stop(_lead(items, asked=False)):
            return f"where {what}, it returned {text!r}; it should return None: let the model stop"
    lead = _lead(_OPEN, asked=False)
    text = before_stop(lead)
    if text and not isinstance(text, str):
        return f"it returned {text!r}; the loop sends a text"
    if not text:
        return "the run ended although 'write' and 'test' were open: return a text the first time"
    if missing := [name for name in ("write", "test") if name not in text]:
        return f"your text doesn't name {missing[0]!r}, which is open: {text}"
    if again := before_stop(lead):
        return f"it asked a second time ({again!r}), so a model with a good reason never ends"
    if not before_stop(_lead(_OPEN, asked=False)):
        return "it remembers a question to another agent: keep `asked` on the agent"
    lead = _lead(_DONE, asked=False)
    before_stop(lead)
    lead.items = [dict(one) for one in _OPEN]
    if not before_stop(lead):
        return (
            "it stopped once with nothing open, later with open items, and was not asked: only a "
            "question counts as asked"
        )
    return None


def check_patient(patient: Any) -> Verdict:
    """Play rounds in which an agent ignores its list, twice."""
    todo, look = [{"name": "todo"}], [{"name": "bash"}]
    updated = [*[look] * 3, [*look, *todo], *[look] * 6]
    for items, calls, wanted, why in (
        (_OPEN, [look] * 15, [2, 6, 14], "the waits are 2, then 4, then 8 rounds"),
        (
            _OPEN,
            updated,
            [2, 6, 10],
            "an update in round 4, after a bash call, sets the wait back to 2",
        ),
        (_DONE, [look] * 6, [], "all items are completed"),
    ):
        lead = _lead(items, rounds=0, wait=2)
        rounds = enumerate([todo, *calls])  # the first call is round 0
        heard = [number for number, called in rounds if patient(lead, called)]
        if heard != wanted:
            return (
                f"in the {len(calls)} rounds after a todo call, the rounds with a reminder were "
                f"{heard or 'none'}; they should be {wanted or 'none'}, because {why}"
            )
    return None
