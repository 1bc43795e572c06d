"""Lesson 3's exercises: what is wrong with an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from learnkit.clients.recordings.recording import Recording
from learnkit.course import files
from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong


def check_patient(patient: Any) -> Verdict:
    """Play rounds in which an agent ignores its list, twice."""
    todo, look = [{"name": "todo"}], [{"name": "bash"}]
    done = {"id": "1", "text": "write", "status": "completed"}
    some = [done, {"id": "2", "text": "test", "status": "pending"}]

    def heard(items: list[Any], calls: list[Any]) -> list[int]:
        lead = SimpleNamespace(items=items, rounds=0, wait=2)
        rounds = enumerate([todo, *calls])  # the first call is round 0
        return [number for number, called in rounds if (patient(lead, called) or "").strip()]

    cases: Cases = (
        ("the 15 rounds after an update", (some, [look] * 15), [2, 6, 14]),
        (
            "ten rounds, with an update beside the bash call of round 4",
            (some, [*[look] * 3, [*look, *todo], *[look] * 6]),
            [2, 6, 10],
        ),
        ("six rounds with all items completed", ([done], [look] * 6), []),
    )
    return first_wrong(heard, cases, says="reminders followed rounds {}. They should follow {}")


def check_early(early: Any) -> Verdict:
    """Play a model's own runs, some rounds of which tick what they do, and a round after each."""
    recording = Recording.load(files.recordings() / "model" / "s03.yaml")
    for run in ("own/2", "own/1", "own/4"):
        *said, _ = recording.messages(run)[1::2]
        lead = SimpleNamespace(items=[], done=[])
        played = [*(one["content"] for one in said), [{"name": "bash"}]]
        before = set[str]()
        for number, blocks in enumerate(played, start=1):
            calls = [one for one in blocks if "name" in one]
            lists = [one["input"]["items"] for one in calls if one["name"] == "todo"]
            lead.items = lists[-1] if lists else lead.items
            text = (early(lead, calls) or "").strip()
            done = {one["text"] for one in lead.items if one["status"] == "completed"}
            beside = any(one["name"] != "todo" for one in calls)
            right = [one["text"] for one in lead.items if beside and one["text"] in done - before]
            named = [one["text"] for one in lead.items if one["text"] in text]
            if named != right or bool(text) != bool(right):
                wanted = ", ".join(right) or "nothing"
                told = f"in round {number} of {run} it said {text or None!r}"
                return f"{told}; it should name {wanted}"
            before |= done
    ticked = SimpleNamespace(items=[{"id": "1", "text": "test", "status": "completed"}], done=[])
    if told := early(ticked, [{"name": "todo"}] * 2):
        return f"in a round of two updates, and no other call, it said {told!r}; it should say None"
    return None
