"""The protocol view: each request as a handshake, and the states that its kind may get."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from canvases import words

import learnkit as lk
from learnkit.backends.request import State as TrackerState
from learnkit.views import Protocol, protocol
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape, text_width

WHY = "all.csv holds one station of three"


def team() -> lk.EventLog:
    log = lk.EventLog()
    log.append("run.started", lane="lead", prompt="x")
    for name in ("alice", "charlie"):
        log.append("team.spawned", lane=name, name=name, role="coder", prompt="x")
    return log


def step(
    log: lk.EventLog,
    type: str,
    id: str,
    sender: str = "lead",
    to: str = "alice",
    kind: str = "shutdown",
    **more: Any,
) -> None:
    state = {"opened": "pending", "expired": "expired"}.get(type, "approved")
    people = {"id": id, "kind": kind, "sender": sender, "to": to}
    request = {**people, "content": "Delete raw/.", "state": state, **more}
    log.append(f"request.{type}", time=float(len(log)), request=request)


def refused_then_agreed() -> lk.EventLog:
    log = team()
    step(log, "opened", "r1")
    step(log, "answered", "r1", state="rejected", note=WHY)
    step(log, "opened", "r2")
    step(log, "answered", "r2")
    return log


def plan() -> lk.EventLog:
    log = team()
    about = {"sender": "charlie", "to": "lead", "kind": "plan"}
    step(log, "opened", "r1", **about)
    step(log, "answered", "r1", **about, state="changes_requested", note="Pack a copy first.")
    step(log, "opened", "r2", **about, content="Pack a copy, compare it, delete raw/. " * 3)
    return log


def drawn(log: lk.EventLog, k: int | None = None, width: float = WIDE) -> Canvas:
    view = Protocol(log)
    return view.draw(view.at(k), width, 60)


def finding(log: lk.EventLog) -> str:
    """The title, and the line below it."""
    state = Protocol(log).at()
    return f"{Protocol(log).finding(state)}\n{Protocol(log).because(state)}".strip()


def reach(edge: Shape) -> tuple[float, float]:
    found = re.match(r"M0 0V(-?[\d.]+)", edge.path)
    assert found
    return edge.y, edge.y + float(found[1])


def test_there_is_a_mark_for_every_state_of_the_tracker() -> None:
    assert set(protocol.STATES) == set(get_args(TrackerState))


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_request_is_the_area_between_its_question_and_its_answer(width: float) -> None:
    canvas = drawn(refused_then_agreed(), width=width)
    first, second = (canvas[f"area {id}"] for id in ("r1", "r2"))
    for id, area in (("r1", first), ("r2", second)):
        assert canvas[f"arrow asks {id}"].x == area.x
        assert canvas[f"arrow answers {id}"].x == pytest.approx(area.x + area.width, abs=0.2)
    assert second.x - first.x == pytest.approx(2 * first.width, abs=0.2)  # asked at 3 and at 5 s
    assert (first.mark, second.mark) == ("failed", "done")
    assert drawn(refused_then_agreed(), 4, width)["area r1"].mark == "pending"


def test_an_arrow_goes_from_the_lifeline_of_who_asks_to_that_of_who_answers() -> None:
    for width in (WIDE, NARROW):
        canvas = drawn(plan(), width=width)
        asks, answers = (canvas[f"life {name} of lead charlie"].y for name in ("charlie", "lead"))
        assert reach(canvas["arrow asks r1"]) == pytest.approx((asks, answers), abs=0.2)
        assert reach(canvas["arrow answers r1"]) == pytest.approx((answers, asks), abs=0.2)


def test_a_request_without_an_answer_has_one_arrow_and_a_dashed_outline() -> None:
    canvas = drawn(plan())
    assert "arrow asks r2" in canvas
    assert "arrow answers r2" not in canvas
    assert "○ no answer yet" in words(canvas)
    area = canvas["area r2"]
    assert area.style == "p d"
    assert area.x + area.width == pytest.approx(canvas["tick end"].x, abs=0.2), "it goes on"
    log = team()
    step(log, "opened", "r1")
    step(log, "expired", "r1", note="alice has ended")
    late = drawn(log)
    assert "arrow answers r1" not in late
    assert "■ expired, no answer “alice has ended”" in words(late)
    assert late["area r1"].mark == "shutdown"


def test_an_agent_that_agrees_to_shut_down_has_no_lifeline_after_that() -> None:
    log = refused_then_agreed()
    canvas = drawn(log)
    assert canvas["end alice of lead alice"].x == canvas["arrow answers r2"].x
    step(log, "opened", "r3")
    assert "end alice of lead alice" not in drawn(log), "there is a new one with this name"


def test_the_title_says_who_has_answered_what() -> None:
    assert finding(lk.EventLog()) == "Nobody has asked for anything yet."
    assert finding(refused_then_agreed()) == (
        "alice rejects a shutdown, then approves the next one."
    )
    assert finding(plan()) == ("lead asks for changes to a plan, then the next one waits for lead.")
    log = refused_then_agreed()
    log.append("request.refused", tool="shutdown_response", problem="r9 is not known")
    assert finding(log).endswith("\n1 answer did not count.")
    assert "✗ An answer did not count: r9 is not known" in words(drawn(log))
    for number in range(3, 9):
        step(log, "opened", f"r{number}")
    assert finding(log) == (
        "6 of 8 requests still wait for an answer.\n"
        "6 pending, 1 approved and 1 rejected. 1 answer did not count."
    )


def test_a_reason_stands_once_beside_its_answer_and_the_clock_runs_to_the_end() -> None:
    log = team()
    step(log, "opened", "r1")
    step(log, "answered", "r1", state="rejected", note=WHY)
    log.append("run.ended", lane="lead", reason="end_turn", time=10.0)
    canvas = drawn(log)
    answer = [one for one in canvas.shapes if one.key.startswith("answer r1")]
    assert words(canvas).count("all.csv") == 1
    first = canvas["arrow answers r1"]
    assert all(first.x < one.x for one in answer)
    for one in answer:
        assert one.x + text_width(one.lines[0]) < canvas["tick end"].x
        assert canvas["life lead of lead alice"].y < one.y < canvas["life alice of lead alice"].y
    assert canvas["time end"].lines == ("10 s",)
    assert words(drawn(log, width=NARROW)).count("all.csv") == 1, "or below, without room"


def test_of_many_requests_the_last_are_drawn_and_the_others_counted() -> None:
    log = team()
    for number in range(50):
        step(log, "opened", f"r{number}")
    view = Protocol(log)
    canvas = view.draw(view.at(), WIDE, 16)
    assert canvas["gone"].lines == ("… 42 earlier requests …",)
    assert "area r49" in canvas
    assert "area r41" not in canvas
    assert finding(log).startswith("50 of 50 requests still wait")
