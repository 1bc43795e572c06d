"""The team's lanes: who had which task and when, on one scale; and what nobody has."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from canvases import apart, inside, words
from teams import Ran, spawn, when, work

import learnkit as lk
from learnkit.views import Team
from learnkit.views.board import SPELLS
from learnkit.views.drawing import theme
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape, text_width
from learnkit.views.team import CHANGES

WIDTHS = (WIDE, NARROW)
ROLES = {"alice": "coder", "bob": "tester"}


def task(id: int, status: str = "pending", owner: str = "", **more: Any) -> dict[str, Any]:
    return {"id": id, "subject": f"look at {id}", "status": status, "owner": owner, **more}


class Day:
    """A lead, and alice and bob, who do what a test says."""

    def __init__(self) -> None:
        self.log = lk.EventLog()
        self.log.append("run.started", prompt="x", time=0.0)
        for name, role in ROLES.items():
            self.log.append("team.spawned", lane=name, name=name, role=role, prompt="x", time=1.0)
            self.status(1.0, name, "working")

    def status(self, time: float, name: str, status: str) -> None:
        teammate = {"name": name, "role": ROLES[name], "status": status}
        self.log.append("team.status", lane=name, time=time, **teammate)

    def task(self, time: float, kind: str, one: dict[str, Any], lane: str = "") -> None:
        lane = lane or one["owner"] or "lead"
        self.log.append(f"task.{kind}", lane=lane, task=one, time=time)

    def does(self, id: int, owner: str, begin: float, end: float) -> None:
        self.task(begin, "started", task(id, "in_progress", owner))
        self.task(end, "completed", task(id, "completed", owner))

    def drawn(self, width: float = WIDE) -> Canvas:
        view = Team(self.log)
        return view.draw(view.at(), width, 60)


def middle(one: Shape) -> float:
    return one.y + one.height / 2


@pytest.mark.parametrize("width", WIDTHS)
def test_a_task_stands_on_the_lane_of_its_agent_from_its_start_to_its_end(width: float) -> None:
    day = Day()
    day.does(1, "alice", 2.0, 6.0)
    day.does(2, "bob", 4.0, 12.0)
    day.task(20.0, "started", task(3, "in_progress", "bob"))
    canvas = day.drawn(width)
    one, two = canvas["task 1"], canvas["task 2"]
    assert (one.mark, two.mark, canvas["task 3"].mark) == ("done", "done", "active")
    assert middle(one) == middle(canvas["working alice 0"])
    assert middle(two) == middle(canvas["task 3"]) == middle(canvas["working bob 0"])
    assert two.width + 2 == pytest.approx(2 * (one.width + 2), abs=0.3)
    second = (one.width + 2) / 4
    assert two.x - one.x == pytest.approx(2 * second, abs=0.3)
    assert all(inside(box, canvas) for box in canvas.shapes if box.kind == "box")


@pytest.mark.parametrize("width", WIDTHS)
def test_how_an_agent_is_now_stands_beside_its_lane_and_each_time_can_be_heard(
    width: float,
) -> None:
    day = Day()
    day.status(50.0, "alice", "idle")
    day.status(100.0, "alice", "shutdown")
    day.status(200.0, "bob", "idle")
    canvas = day.drawn(width)
    assert canvas["working alice 0"].says == "alice working 49 s"
    assert canvas["idle alice 1"].says == "alice idle 50 s"
    end, left = canvas["end shutdown alice 2"], canvas["says alice"]
    assert left.lines == ("shut down",)
    assert (left.x, left.y) == (canvas.width - text_width("shut down") - 6, end.y + 27) or (
        left.x > end.x and left.y == end.y + 4
    )
    now = canvas["says bob"]
    assert now.lines == ("idle",)
    assert now.x + text_width("idle") <= width, "it is said at the edge, too"
    ticks = [one for one in canvas.shapes if one.key.startswith("tick ")]
    names = [one for one in canvas.shapes if one.key.startswith(("name ", "role "))]
    right = max(one.x + text_width(one.lines[0], one.style) for one in names)
    assert right < min(one.x for one in ticks), "no line runs through a name"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_remote_agent_that_is_lost_does_not_look_shut_down_and_comes_back(width: float) -> None:
    day = Day()
    day.log.append("team.joined", name="eve", role="tester", where="host2", time=10.0)
    day.log.append("team.lost", name="eve", seconds=30, time=60.0)
    view, lost = Team(day.log), day.drawn(width)
    assert lost["end lost eve 1"].mark == "failed"
    assert lost["says eve"].lines == ("not heard from",)
    assert "tester on host2" in words(lost)
    assert "eve is not heard from" in view.finding(view.at())
    day.log.append("team.joined", name="eve", role="tester", where="host2", time=90.0)
    assert "eve is idle" in view.finding(view.at())
    day.log.append("team.status", name="eve", role="tester", status="shutdown", time=110.0)
    canvas = day.drawn(width)
    idle, gap = canvas["idle eve 2"], canvas["end lost eve 1"]
    assert idle.x > gap.x, "nothing is drawn while it was away"
    assert canvas["end shutdown eve 3"].mark == canvas["name eve"].mark
    assert canvas["end shutdown eve 3"].x == pytest.approx(idle.x + idle.width, abs=0.2)


def test_who_is_heard_of_again_after_a_long_sleep_is_back_in_the_picture() -> None:
    day = Day()
    day.log.append("team.lost", name="bob", seconds=30, time=60.0)
    view = Team(day.log)
    assert view.finding(view.at()).endswith("bob is not heard from.")
    day.status(90.0, "bob", "working")
    assert view.finding(view.at()) == "lead, alice and bob are working."


def test_the_title_says_who_left_and_who_did_not() -> None:
    day = Day()
    day.status(10.0, "alice", "idle")
    day.status(30.0, "bob", "shutdown")
    day.status(70.0, "alice", "shutdown")
    view = Team(day.log)
    assert view.finding(view.at()) == "lead is working; alice and bob are shut down."


def test_who_took_over_a_task_has_it_and_long_days_keep_their_beginning_and_their_end() -> None:
    day = Day()
    day.task(2.0, "started", task(1, "in_progress", "alice"))
    day.does(1, "bob", 6.0, 8.0)
    canvas = day.drawn()
    assert middle(canvas["was 0"]) == middle(canvas["working alice 0"])
    assert middle(canvas["task 1"]) == middle(canvas["working bob 0"])
    day.does(1, "alice", 9.0, 10.0)  # it was opened again
    view = Team(day.log)
    assert view.finding(view.at()) == "alice completes every task."
    for number in range(CHANGES + SPELLS):
        day.status(11.0 + number, "alice", ("idle", "working")[number % 2])
        day.does(2 + number, "bob", 11.0 + number, 11.5 + number)
    state = view.at()
    assert state.spans("alice")[0][1:] == (1.0, 10.0 + SPELLS)
    assert state.spells[-1].id == 1 + CHANGES + SPELLS


def test_what_nobody_has_stands_below_and_moves_to_who_takes_it() -> None:
    day = Day()
    day.task(2.0, "created", task(1, tags=["coder"]), "person")
    waits = day.drawn()
    assert waits["task 1"].lines == ("◎ #1 look at 1",)
    assert waits["task 1"].y > waits["free"].y
    day.task(3.0, "started", task(1, "in_progress", "bob"))
    taken = day.drawn()
    assert taken["task 1"].y < waits["task 1"].y
    assert "free" not in taken, "it isn't drawn twice"
    day.task(5.0, "returned", task(1), "lead")
    canvas = day.drawn()
    assert canvas["task 1"].y > canvas["free"].y
    assert canvas["was 0"].mark == "pending", "it was given back"
    assert middle(canvas["was 0"]) == middle(canvas["working bob 0"])
    assert all(
        apart(one, other)
        for one, other in combinations([one for one in canvas.shapes if one.kind == "box"], 2)
    )


def test_the_finding_says_who_did_what() -> None:
    day = Day()
    view = Team(day.log)
    assert view.finding(view.at()) == "lead, alice and bob are working."
    day.does(1, "alice", 2.0, 3.0)
    day.does(2, "alice", 3.0, 4.0)
    day.does(3, "bob", 3.0, 4.0)
    day.task(5.0, "created", task(4), "person")
    day.status(6.0, "bob", "shutdown")
    assert view.finding(view.at()) == "3 of 4 tasks completed by alice and bob."
    assert view.because(view.at()) == (
        "2 by alice and 1 by bob. lead and alice are working; bob is shut down."
    )


def test_a_real_crew_is_drawn_as_it_was(tmp_path: Any) -> None:
    board = lk.TaskBoard(tmp_path / ".tasks")
    board.create("parse")
    run = Ran(
        tmp_path,
        {
            "lead": when(("Go.", spawn("alice"))),
            "alice": when(("Task #1", lk.use("task_update", task_id=1, status="completed"))),
        },
        factory=lambda name, role: [lk.Tasks(board), lk.Toolbox(work)],
        mechanisms=lambda team: [lk.Autonomy(team, board, idle=8)],
    )
    run.go()
    log = run.lead.events
    view = Team(log)
    state = view.at()
    changes = [e for e in log if e.type == "team.status" and e.data["name"] == "alice"]
    spans = [one for one in state.spans("alice") if one[2] > one[1]]
    assert sum(end - begin for _, begin, end in spans) == changes[-1].time - changes[0].time
    (spell,) = state.spells
    assert (spell.owner, spell.mark) == ("alice", theme.DONE)
    began = next(event.time for event in log if event.type == "task.started")
    ended = next(event.time for event in log if event.type == "task.completed")
    assert (spell.begin, spell.end) == (began, ended)
    assert "shut down" in words(view.draw(state, WIDE, 60))
