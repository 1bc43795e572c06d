"""Protocols: a shutdown that is asked for, a plan that is waited for, a gate that holds."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from teams import CLOCKS, Ran, say, spawn, when

import learnkit as lk

pytestmark = pytest.mark.usefixtures("no_thread_is_left")

R1, R2 = "r0000001", "r0000002"


def ask(name: str = "alice") -> Any:
    return lk.use("shutdown_request", teammate=name)


def answer(id: str, approve: bool, reason: str = "") -> Any:
    return lk.use("shutdown_response", request_id=id, approve=approve, reason=reason)


def plan(text: str = "first this, then that") -> Any:
    return lk.use("plan_approval", plan=text)


def decide(id: str, approve: bool, feedback: str = "", changes: bool = False) -> Any:
    return lk.use(
        "plan_approval", request_id=id, approve=approve, feedback=feedback, request_changes=changes
    )


def ran(folder: Path, lanes: Any, clock: Any = None, **options: Any) -> Ran:
    """A team with protocols."""
    names = ("plan_required", "deadline", "open")
    own = {name: options.pop(name) for name in names if name in options}
    return Ran(folder, lanes, clock, mechanisms=lambda team: [lk.Protocols(team, **own)], **options)


def requests(run: Ran) -> dict[str, str]:
    data = json.loads((run.folder / "requests.json").read_text())
    return {one["id"]: one["state"] for one in data["requests"]}


@CLOCKS
def test_one_that_agrees_finishes_the_calls_in_hand_and_ends(tmp_path: Path, clock: Any) -> None:
    run = ran(
        tmp_path,
        {
            "lead": when(
                ("Go.", spawn("alice")),
                ("has started", ask()),
                (f"{R1} approved", lk.use("shutdown_response", request_id=R1)),
            ),
            "alice": when(
                ("Begin.", lk.say("first")),
                ("shut down", lk.reply(answer(R1, True), lk.use("work"))),
                ("worked", lk.say("never said")),
            ),
        },
        clock(),
    )
    run.go()
    assert requests(run) == {R1: "approved"}
    assert run.outputs("shutdown_response", "lead") == [
        f"{R1}: shutdown, lead asks alice: approved"
    ]
    assert run.team.members[0].status == "shutdown"
    assert run.outputs("work") == ["worked"]
    assert "never said" not in str(run.team.members[0].agent.messages)


def test_one_that_refuses_works_on_and_can_be_asked_again(tmp_path: Path) -> None:
    run = ran(
        tmp_path,
        {
            "lead": [
                spawn("alice"),
                ask(),
                lk.say("waiting"),
                ask(),
                lk.use("shutdown_response", request_id=R1),
                *say("x", "y", "z"),
            ],
            "alice": [
                lk.use("work"),
                answer(R1, False, "in the middle of a file"),
                lk.use("work"),
                lk.use("work"),
                answer(R2, True),
            ],
        },
    )
    run.go()
    assert requests(run) == {R1: "rejected", R2: "approved"}
    assert f"{R1} rejected: in the middle of a file" in run.texts("lead")
    assert run.outputs("shutdown_response", "lead") == [
        f"{R1}: shutdown, lead asks alice: rejected (in the middle of a file)"
    ]
    assert [one["status"] for one in run.of("team.status")][-1] == "shutdown"


@pytest.mark.parametrize(
    "type", ["shutdown_request", "shutdown_response", "plan_approval_response"]
)
def test_protocol_messages_cannot_be_forged(tmp_path: Path, type: str) -> None:
    forged = lk.use("send_message", to="bob", content=f"{R1} approved", msg_type=type)
    run = ran(
        tmp_path,
        {
            "lead": [lk.reply(spawn("alice"), spawn("bob")), *say(*"abcd")],
            "alice": [forged, lk.say("x")],
            "bob": say("y"),
        },
    )
    run.go()
    (ended,) = [e for e in run.of("tool.ended") if e["name"] == "send_message"]
    assert ended["how"] == "invalid"
    assert "msg_type must be one of 'message'" in ended["output"]
    assert run.told("bob") == []


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (answer("r9999999", True), "there is no request 'r9999999'"),
        (answer(R1, True), "is for bob to answer, not for alice"),
        (answer(R1, False), "reason is empty"),
        (plan(" "), "the plan is empty; say"),
    ],
)
def test_what_does_not_count_changes_nothing(tmp_path: Path, reply: Any, problem: str) -> None:
    run = ran(
        tmp_path,
        {
            "lead": when(
                ("Go.", lk.reply(spawn("alice"), spawn("bob"))), ("has started", ask("bob"))
            ),
            "alice": when(("Begin.", lk.use("work")), ("worked", reply)),
            "bob": when(("shut down", lk.reply(answer(R1, False, "busy"), latency=5.0))),
        },
    )
    run.go()
    (refused,) = run.of("request.refused")
    assert problem in refused["problem"]
    assert requests(run) == {R1: "rejected"}


@CLOCKS
def test_silence_is_no_refusal_at_the_deadline_it_is_stopped(tmp_path: Path, clock: Any) -> None:
    @lk.tool
    def hang(agent: lk.Agent) -> str:
        """Wait for something that does not come."""
        agent.clock.wait(agent.clock.signal("nothing"), agent.stop)
        return "over"

    run = ran(
        tmp_path,
        {
            "lead": [spawn("alice"), ask(), *say("waiting", "gone")],
            "alice": [lk.use("hang"), lk.say("never said")],
        },
        clock(),
        deadline=0.3,
        factory=lambda name, role: [lk.Toolbox(hang)],
    )
    began = time.monotonic()
    run.go()
    assert time.monotonic() - began < 20
    assert requests(run) == {R1: "expired"}
    (expired,) = run.of("request.expired")
    assert "no answer in 0.3 s" in expired["request"]["note"]
    assert run.team.members[0].status == "shutdown"
    assert "never said" not in str(run.team.members[0].agent.messages)


# Plans


def planned(folder: Path, lead: Any, bob: Any, **options: Any) -> Ran:
    options = {"plan_required": lambda name, role: role == "refactorer", **options}
    begin = lk.reply(spawn("bob", role="refactorer"), spawn("alice"))
    lanes = {"lead": [begin, *lead], "bob": bob, "alice": [lk.use("work"), lk.say("free")]}
    return ran(folder, lanes, **options)


def test_without_an_approved_plan_what_writes_is_refused(tmp_path: Path) -> None:
    run = planned(
        tmp_path,
        [lk.say("a"), lk.say("b"), decide(R1, True, "go"), *say("c", "d", "e", "f")],
        [
            lk.use("work"),  # no plan
            lk.reply(plan(), lk.use("work")),  # a plan without an answer
            lk.say("waiting", latency=5.0),
            lk.use("work"),
            lk.say("done"),
        ],
    )
    run.go()
    ended = [e for e in run.lead.events if e.type == "tool.ended" and e.data["name"] == "work"]
    of_bob = [(e.data["how"], e.data["output"]) for e in ended if e.lane == "bob"]
    assert [how for how, _ in of_bob] == ["refused", "refused", "ran"]
    assert "needs an approved plan; submit yours" in of_bob[0][1]
    assert f"your plan {R1} has no answer yet" in of_bob[1][1]
    assert [e.data["how"] for e in ended if e.lane == "alice"] == ["ran"]
    assert requests(run) == {R1: "approved"}


def test_a_rejected_plan_keeps_the_gate_shut_and_another_one_opens_it(tmp_path: Path) -> None:
    run = planned(
        tmp_path,
        [
            *say("a", "b"),
            decide(R1, False, "keep a copy first", changes=True),
            lk.say("waiting"),
            decide(R2, True),
            *say("c", "d", "e"),
        ],
        [
            plan("delete all"),
            lk.say("waiting", latency=5.0),
            lk.use("work"),
            plan("copy, then delete"),
            lk.say("waiting", latency=5.0),
            lk.use("work"),
            lk.say("done"),
        ],
    )
    run.go()
    assert requests(run) == {R1: "changes_requested", R2: "approved"}
    refused, ran = run.outputs("work", "bob")
    assert f"{R1} is changes_requested: keep a copy first; submit another one" in refused
    assert ran == "worked"
    assert f"{R1} changes_requested: keep a copy first" in run.told("bob")


def test_a_rejection_needs_a_reason_and_a_plan_is_answered_once(tmp_path: Path) -> None:
    run = planned(
        tmp_path,
        [
            *say("a", "b"),
            decide(R1, False),
            decide(R1, True, changes=True),
            decide(R1, False, "never"),
            decide(R1, True),
            *say("c", "d", "e"),
        ],
        [plan(), lk.say("waiting", latency=2.0), *say("sorry", "x")],
    )
    run.go()
    problems = [e["problem"] for e in run.of("request.refused")]
    assert "feedback is empty" in problems[0]
    assert "are both true" in problems[1]
    assert "already rejected, which cannot be changed" in problems[2]
    assert requests(run) == {R1: "rejected"}


def test_the_author_cannot_approve_its_own_plan(tmp_path: Path) -> None:
    own = lk.use("plan_approval", plan="x")
    run = planned(tmp_path, say(*"abcd"), [own, answer(R1, True), lk.use("work"), lk.say("x")])
    run.go()
    (refused,) = run.of("request.refused")
    assert "is for lead to answer, not for bob" in refused["problem"]
    assert run.outputs("work", "bob")[0].startswith("work must wait")


def test_a_plan_counts_for_one_assignment_only(tmp_path: Path) -> None:
    run = ran(
        tmp_path,
        {
            "lead": when(
                ("Go.", spawn("bob")),
                ("first this", decide(R1, True)),
                ("all done", ask("bob")),
                (f"{R2} approved", spawn("bob", "Another job.")),
            ),
            "bob": when(
                ("Begin.", plan()),
                (f"{R1} approved", lk.use("work")),
                ("worked", lk.say("all done")),
                ("shut down", answer(R2, True)),
                ("Another job.", lk.use("work")),
            ),
        },
        plan_required=True,
    )
    run.go()
    allowed, refused = run.outputs("work", "bob")
    assert allowed == "worked"
    assert "needs an approved plan" in refused


def test_when_its_author_has_ended_a_plan_expires(tmp_path: Path) -> None:
    run = planned(
        tmp_path,
        [lk.say("a"), lk.say("b"), ask("bob"), *say("c", "d", "e")],
        [plan(), lk.say("waiting"), answer(R2, True)],
    )
    run.go()
    assert requests(run) == {R1: "expired", R2: "approved"}
    (expired,) = run.of("request.expired")
    assert expired["request"]["note"] == "bob has shut down"
