"""What a person must see in the picture of a short log, and what the sentence above it says."""

from __future__ import annotations

from collections.abc import Callable
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
from learnkit.views.drawing.display import NARROW, WIDE, Canvas


def length(canvas: Canvas, begins: str) -> float:
    """The length of all bars whose keys begin so, on one line."""
    return sum(
        one.width for one in canvas.shapes if one.kind == "bar" and one.key.startswith(begins)
    )


def middle(canvas: Canvas, key: str) -> float:
    return canvas[key].y + canvas[key].height / 2


#: Which picture, after how many events (None: all), the sentence, and how the shapes say it.
SEEN: list[tuple[str, int | None, str, Callable[[Canvas], bool]]] = [
    (
        "Compaction",
        None,
        "what was summarised is dashed and gone, the summary and the request are filled",
        lambda c: (
            c["was 2"].style == "d"
            and "is 2" not in c
            and "was 0" not in c
            and {"is 0", "is made 0"} <= {one.key for one in c.shapes}
        ),
    ),
    (
        "Contexts",
        None,
        "the subagent has more in front of it than its parent",
        lambda c: length(c, "lane lead.t1 ") > length(c, "lane lead ") > 0,
    ),
    (
        "Dispatch",
        None,
        "the call that runs is written out, and the tool that does not exist comes last",
        lambda c: (
            c["block 0"].lines[-1] == "sleep 9" and c["row 4"].lines[0] == "no tool send_mail"
        ),
    ),
    (
        "Messages",
        None,
        "a result and an error are joined to their calls, and the second request is longer",
        lambda c: (
            {"pair lead 2 0", "pair lead 2 1"} <= {one.key for one in c.shapes}
            and (c["box lead 2 0"].mark, c["box lead 2 1"].mark) == ("result", "error")
            and length(c, "request lead 2 ") > length(c, "request lead 1 ")
            and (c["request lead 2 bar"].mark, c["request lead 2 new"].mark) == ("cached", "fresh")
        ),
    ),
    (
        "Protocol",
        None,
        "a refused request has an arrow back, and one without an answer has none",
        lambda c: c["arrow answers r1"].path.startswith("M0 0V-") and "arrow answers r2" not in c,
    ),
    (
        "Schedule",
        None,
        "the message that is lost has the colour of an error where it was written and lost",
        lambda c: {c[key].mark for key in ("arrow 2", "arrow 3", "lost 3")} == {"error"},
    ),
    (
        "Skills",
        None,
        "the second request is longer by the skill and its file",
        lambda c: length(c, "part lead 2 ") > 5 * length(c, "part lead 1 "),
    ),
    (
        "Tasks",
        None,
        "what the next task waited for is done, and the task in progress reaches the edge",
        lambda c: (
            (c["edge 1 2"].mark, c["task 2"].mark) == ("done", "ready")
            and c["bar 1"].x + c["bar 1"].width >= c["tick end"].x
            and c["bar 0"].mark == "done"
        ),
    ),
    (
        "Tasks",
        2,
        "scrubbed back, the first task is the one in progress, and the second one waits",
        lambda c: (
            (c["task 1"].mark, c["task 2"].mark, c["edge 1 2"].style) == ("active", "blocked", "d")
        ),
    ),
    (
        "Team",
        None,
        "a task lies on the lane of who did it, and what nobody has lies below all lanes",
        lambda c: (
            middle(c, "task 1") == middle(c, "working alice 0")
            and c["task 2"].y > c["free"].y > c["role alice"].y
        ),
    ),
    (
        "Timeline",
        None,
        "an arrow leads from the end of the job to where the model is told, while it waits",
        lambda c: (
            c["arrow 0 j1"].x == pytest.approx(c["job 0 j1"].x + c["job 0 j1"].width, abs=0.2)
            and c["idle 0 of lead 3"].x < c["arrow 0 j1"].x < c["told 0 of lead 4"].x
        ),
    ),
    (
        "Todo",
        11,
        "before the reminder the gauge is full",
        lambda c: c["gauge 0"].mark == "call" and "gauge 1" not in c,
    ),
    (
        "Todo",
        None,
        "a reminder stands behind its round, and the gauge begins anew",
        lambda c: c["reminder 2"].x > c["round 2"].x and c["gauge 0"].mark == "",
    ),
    (
        "Tokens",
        None,
        "the bar of the request after the compaction is shorter, and an arrow points down to it",
        lambda c: (
            c["new 2"].height < c["cached"].y - c["new 1"].y
            and c["cut 0"].x <= c["new 2"].x
            and c["cut 0"].y < c["new 2"].y
        ),
    ),
    (
        "Traffic",
        None,
        "a message that was read has a tick, and an unread one is dashed",
        lambda c: (
            (c["arrow 3 0"].style, c["arrow 5 0"].style) == ("", "d")
            and "read 3 0" in c
            and "unread 5 0" in c
        ),
    ),
    (
        "Worktrees",
        None,
        "the merge that met a conflict is dashed, the one that worked is not, and the folder ends",
        lambda c: (
            (c["into 3"].style, c["into 4"].style) == ("d", "w")
            and c["folder parse"].x + c["folder parse"].width
            < c["branch parse"].x + float(c["branch parse"].path.rpartition("H")[2])
        ),
    ),
]


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize(("kind", "k", "sentence", "seen"), SEEN, ids=[row[2] for row in SEEN])
def test_what_must_be_seen(
    kind: str, k: int | None, sentence: str, seen: Callable[[Canvas], bool], width: float
) -> None:
    view: View[Any] = getattr(views, kind)(log_of(LOGS[kind]))
    assert seen(view.draw(view.at(k), width, 12)), sentence


def test_every_view_has_something_that_must_be_seen() -> None:
    assert {kind.__name__ for kind in VIEWS} == {kind for kind, *_ in SEEN} == set(LOGS)


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


#: What a view says of situations that its other tests don't have.
FINDINGS: list[tuple[str, list[Step], str]] = [
    ("Todo", works(1), "No list after 1 round."),
    (
        "Todo",
        [LISTED, *works(1, REMINDED), *works(2, REMINDED), *works(3)],
        "0 of 1 item completed. After 3 rounds: 2 reminders, 0 of them with an update in the next "
        "round.",
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
        "lead asks for changes to a plan, then the next one expires. “gone”",
    ),
    (
        "Traffic",
        [
            *begins("lead", "Go."),
            mail(1, "lead", "alice", "x"),
            ("lead", "team.lost", {"name": "erin", "seconds": 3}),
        ],
        "1 message, unread. The last, lead to alice: “x”.",
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
