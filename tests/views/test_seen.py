"""What the sentence above a picture says of situations that a view's own tests don't have."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import overloaded, said
from every_view import VIEWS
from short_logs import LOGS
from workday import (
    ALONE,
    RACING,
    TOGETHER,
    Step,
    asks,
    begins,
    calls,
    ends,
    item,
    log_of,
    mail,
    request,
    result,
    says,
    task,
    tree,
)

from learnkit import views
from learnkit.views import View

LISTED: Step = (
    "lead",
    "todo.updated",
    {"items": [item(1, "look", "pending")], "done": 0, "total": 1},
)
REMINDED: Step = ("lead", "todo.reminded", {"rounds": 3, "text": "update"})


def works(number: int, *meanwhile: Step) -> list[Step]:
    """A round of calls."""
    ran = calls("lead", f"t{number}", "bash", {}, "x")
    return [*ran, *meanwhile, says("lead", 2 * number, "user", [result(f"t{number}", "x")])]


FINDINGS: list[tuple[str, list[Step], str]] = [
    ("Todo", works(1), "No list after 1 round."),
    (
        "Todo",
        [LISTED, *works(1, REMINDED), *works(2, REMINDED), *works(3)],
        "0 of 2 reminders led to an update in the next round. "
        "0 of 1 item completed after 3 rounds.",
    ),
    (
        "Tokens",
        [("lead", "tokens.estimated", {"tokens": 3, "threshold": 9})],
        "No request was answered yet.",
    ),
    (
        "Messages",
        [*begins("lead", "Go.", tools=[], system=""), *asks("lead", 1, 1)],
        "Request 1 carries 1 message. ≈ 8 tokens, all new.",
    ),
    (
        "Worktrees",
        [
            *[("lead", "worktree.create", tree(name)) for name in "ab"],
            *[("lead", "worktree.merge", tree(name)) for name in "ab"],
            *[("lead", "worktree.remove", tree(name, "removed")) for name in "ab"],
            ("lead", "worktree.failed", {"tool": "merge", "name": "a", "problem": "it is dirty"}),
            ("lead", "task.deleted", {"task": task(1, "x")}),
        ],
        "a and b are merged and removed. The branches of a and b stay. 1 merge refused.",
    ),
    (
        "Timeline",
        [
            ("lead", "job.ended", {"id": "j9", "status": "failed", "code": 1, "output": ""}),
            ("lead", "job.delivered", {"ids": ["j9"], "by": "turn"}),
            (
                "lead",
                "model.failed",
                {"turn": 1, "status": None, "error_type": "connection", "message": "away"},
            ),
        ],
        "No work so far.",
    ),
    ("Schedule", [RACING[0], ends("lead", "x", 1)], "No step has been taken yet."),
    (
        "Schedule",
        [
            ("alice", "race.lost", {"text": "early", "writer": "bob", "content": []}),
            *RACING[:2],
            ("alice", "race.drained", {"texts": ["bob 1"], "content": []}),
            ("carol", "race.wrote", {"texts": ["carol 1"], "content": ["carol 1"]}),
        ],
        "2 messages sent, none lost.",
    ),
    (
        "Team",
        [*begins("lead", "Go."), *begins("lead.t1", "Sub."), ends("lead", "x", 1)],
        "lead is idle.",
    ),
    (
        "Tasks",
        [
            ("lead", "board.opened", {"tasks": [task(1, "a", "failed"), task(2, "b")]}),
            ("lead", "task.deleted", {"task": task(2, "b")}),
        ],
        "0 of 1 task completed. 1 failed.",
    ),
    (
        "Protocol",
        [
            (
                "lead",
                "request.answered",
                request("r2", "plan", "changes_requested", sender="alice", to="lead"),
            ),
            (
                "lead",
                "request.expired",
                request("r3", "plan", "expired", sender="alice", to="lead", note="gone"),
            ),
        ],
        "lead asks for changes to a plan, then the next one expires.",
    ),
    (
        "Traffic",
        [
            *begins("lead", "Go."),
            mail(1, "lead", "alice", "x"),
            ("lead", "team.lost", {"name": "erin", "seconds": 3}),
        ],
        "lead writes to alice; alice has unread mail. 1 message.",
    ),
]


@pytest.mark.parametrize(("kind", "steps", "finding"), FINDINGS)
def test_what_a_view_says_of_it(kind: str, steps: list[Step], finding: str) -> None:
    view: View[Any] = getattr(views, kind)(log_of(steps))
    assert said(view) == finding


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: str(kind.__name__))
def test_a_title_is_short(kind: type[View[Any]]) -> None:
    long = set()
    for steps in (LOGS[kind.__name__], ALONE, TOGETHER, RACING):
        view = kind(log_of(steps))
        titles = (view.finding(view.at(k)) for k in range(len(steps) + 1))
        long |= set(filter(overloaded, titles))
    assert not long


@pytest.mark.parametrize("kind", VIEWS, ids=lambda kind: str(kind.__name__))
def test_with_a_lane_a_view_is_of_that_agent_alone(kind: type[View[Any]]) -> None:
    """As if the log had nothing else in it."""
    log = log_of([*ALONE, *TOGETHER])
    own = [event for event in log if event.lane == "lead.t1"]
    view, alone = kind(log, lane="lead.t1"), kind(own)
    assert view.facts(view.at(), 20) == alone.facts(alone.at(), 20)
    assert view.finding(view.at()) == alone.finding(alone.at())
