"""The protocol view: each request as a handshake, and the states that its kind may get."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
from canvases import texts

import learnkit as lk
from learnkit.backends.request import RULES
from learnkit.backends.request import State as TrackerState
from learnkit.views import Protocol, protocol
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape

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
    return Protocol(log).finding(Protocol(log).at())


def states(canvas: Canvas, id: str) -> dict[str, str]:
    """Each state that is drawn for a request -> its mark, empty where the request isn't."""
    begins = f"state {id} "
    return {
        one.key.removeprefix(begins): one.mark
        for one in canvas.shapes
        if one.key.startswith(begins)
    }


def reach(edge: Shape) -> tuple[float, float]:
    found = re.match(r"M0 0H(-?[\d.]+)", edge.path)
    assert found
    return edge.x, edge.x + float(found[1])


@pytest.mark.parametrize("kind", ["shutdown", "plan"])
def test_only_the_states_that_the_rules_allow_for_its_kind_are_drawn(kind: str) -> None:
    log = team()
    step(log, "opened", "r1", kind=kind)
    allowed = {rule.after for rule in RULES if (rule.kind, rule.before) == (kind, "pending")}
    for width in (WIDE, NARROW):
        assert set(states(drawn(log, width=width), "r1")) == {"pending", *allowed}
    assert set(protocol.STATES) == set(get_args(TrackerState))


def test_a_request_stands_in_one_state() -> None:
    log = refused_then_agreed()
    assert states(drawn(log, 4), "r1")["pending"] == "pending"
    end = drawn(log)
    assert {name: mark for name, mark in states(end, "r1").items() if mark} == {
        "rejected": "failed"
    }
    assert {name: mark for name, mark in states(end, "r2").items() if mark} == {"approved": "done"}


def test_an_arrow_begins_at_the_lifeline_of_who_asks_and_ends_at_that_of_who_answers() -> None:
    for width in (WIDE, NARROW):
        canvas = drawn(plan(), width=width)
        asks, answers = canvas["life asks r1"].x, canvas["life answers r1"].x
        assert reach(canvas["arrow asks r1"]) == pytest.approx((asks, answers), abs=0.2)
        assert reach(canvas["arrow answers r1"]) == pytest.approx((answers, asks), abs=0.2)
        assert [canvas[f"head {one} r1"].lines[0] for one in ("asks", "answers")] == [
            *("charlie", "lead")
        ]
        shown = " ".join(texts(canvas))
        assert "addressee" not in shown
        assert "harness" not in shown


def test_a_request_without_an_answer_has_one_arrow() -> None:
    canvas = drawn(plan())
    assert "arrow asks r2" in canvas
    assert "arrow answers r2" not in canvas
    assert "no answer yet" in texts(canvas)
    log = team()
    step(log, "opened", "r1")
    step(log, "expired", "r1", note="alice has ended")
    late = drawn(log)
    assert "arrow answers r1" not in late
    assert {"3 s: shut down?", "4 s: no answer, expired: alice has ended"} <= set(texts(late))
    assert states(late, "r1")["expired"] == "shutdown"


def test_two_handshakes_stand_side_by_side_where_there_is_room() -> None:
    wide, narrow = drawn(refused_then_agreed()), drawn(refused_then_agreed(), width=NARROW)
    assert wide["id r1"].y == wide["id r2"].y
    assert wide["head answers r1"].x + wide["head answers r1"].width < wide["id r2"].x
    assert narrow["id r1"].x == narrow["id r2"].x
    assert max(one.y for one in narrow.shapes if "r1" in one.key) < narrow["id r2"].y


def test_agents_have_the_colours_that_they_have_in_every_picture_of_the_team() -> None:
    canvas = drawn(refused_then_agreed())
    assert (canvas["head asks r1"].mark, canvas["head answers r1"].mark) == (
        "agent-lead",
        "agent-1",
    )
    assert drawn(plan())["head asks r1"].mark == "agent-2"


def test_no_line_leaves_its_handshake_and_none_stands_on_another() -> None:
    for log in (refused_then_agreed(), plan()):
        for width in (WIDE, 500, NARROW):
            canvas = drawn(log, width=width)
            for id in ("r1", "r2"):
                mine = [one for one in canvas.shapes if f" {id}" in one.key]
                left = canvas[f"head asks {id}"].x
                right = canvas[f"head answers {id}"].x + canvas[f"head answers {id}"].width
                said = [one for one in mine if one.kind == "text" and one.key.split()[0] != "to"]
                assert all(left <= one.x <= right for one in mine)
                heights = sorted(one.y for one in said)
                assert len(set(heights)) == len(heights)
                assert not any("…" in line for one in said for line in one.lines)


def test_the_title_says_who_has_answered_what() -> None:
    assert finding(lk.EventLog()) == "Nobody has asked for anything yet."
    assert finding(refused_then_agreed()) == (
        f"alice rejects shutdown r1 (“{WHY}”), then approves shutdown r2."
    )
    assert finding(plan()) == (
        "lead asks for changes to plan r1 (“Pack a copy first.”), then plan r2 waits for lead."
    )
    log = refused_then_agreed()
    log.append("request.refused", tool="shutdown_response", problem="r9 is not known")
    assert finding(log).endswith("; 1 answer did not count.")
    assert "✗ An answer did not count: r9 is not known" in texts(drawn(log))
    for number in range(3, 9):
        step(log, "opened", f"r{number}")
    assert finding(log) == "8 requests: 6 pending, 1 approved, 1 rejected; 1 answer did not count."


def test_of_many_requests_the_last_are_drawn_and_the_others_counted() -> None:
    log = team()
    for number in range(50):
        step(log, "opened", f"r{number}")
    view = Protocol(log)
    canvas = view.draw(view.at(), WIDE, 16)
    assert canvas["gone"].lines == ("… 46 earlier requests …",)
    assert "id r49" in canvas
    assert "id r45" not in canvas
    assert finding(log).startswith("50 requests: ")
