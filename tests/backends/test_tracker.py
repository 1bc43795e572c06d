"""Requests: legal successions only, one answer, by the addressee, for one assignment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from profiles import examples

import learnkit as lk
from learnkit.backends.files.values import requests_in
from learnkit.backends.request import Answer, Request
from learnkit.backends.tracker import KEPT, Tracker


@pytest.fixture
def clock() -> lk.VirtualClock:
    return lk.VirtualClock()


@pytest.fixture
def tracker(tmp_path: Path, clock: lk.VirtualClock) -> Tracker:
    return requests_in(tmp_path, clock.now)


def test_after_its_time_a_request_counts_as_expired_also_if_nobody_has_looked(
    tracker: Tracker, clock: lk.VirtualClock
) -> None:
    asked = tracker.open("shutdown", "lead", "alice", "please", within=60)
    clock.sleep(60)
    assert tracker.get(asked.id).state == "pending"
    clock.sleep(1)
    assert tracker.get(asked.id).state == "expired"
    closed = tracker.expire(asked.id, "late")  # that it is over is said once
    assert closed == tracker.get(asked.id)
    assert tracker.expire(asked.id, "late") is None


def test_the_file_does_not_grow_for_ever(tmp_path: Path, tracker: Tracker) -> None:
    waiting = tracker.open("plan", "carol", "lead", "a plan")
    path = tmp_path / "requests.json"
    data = json.loads(path.read_text())
    closed = Request("x", "plan", "bob", "lead", "a plan", "rejected").to_json()
    data["requests"] += [{**closed, "id": f"x{number}"} for number in range(KEPT + 5)]
    path.write_text(json.dumps(data))
    tracker.open("plan", "bob", "lead", "another")
    kept = [one.id for one in tracker.all()]
    assert len(kept) == KEPT + 2
    assert waiting.id in kept
    assert "x4" not in kept


class Machine(RuleBasedStateMachine):
    """The tracker beside a model of a few lines."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.clock = lk.VirtualClock()
        self.path = Path(self.folder.name)
        self.model: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, int] = {}

    def teardown(self) -> None:
        self.folder.cleanup()

    @property
    def tracker(self) -> Tracker:
        return requests_in(self.path, self.clock.now)  # a restart before every step

    @rule(kind=st.sampled_from(["shutdown", "plan"]), teammate=st.sampled_from(["alice", "bob"]))
    def open(self, kind: Any, teammate: str) -> None:
        sender, to = ("lead", teammate) if kind == "shutdown" else (teammate, "lead")
        within = 50.0 if kind == "shutdown" else None
        is_open = any(
            (one["kind"], one["teammate"], one["state"]) == (kind, teammate, "pending")
            for one in self.model.values()
        )
        try:
            made = self.tracker.open(kind, sender, to, "x", within)
        except lk.ToolError:
            assert is_open
            return
        assert not is_open
        assert made.id not in self.model
        self.model[made.id] = {
            "kind": kind,
            "teammate": teammate,
            "to": to,
            "state": "pending",
            "until": self.clock.time() + within if within else None,
            "assignment": self.assignments.get(teammate, 0),
        }

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        by=st.sampled_from(["lead", "alice", "bob"]),
        state=st.sampled_from(get_args(Answer)),
    )
    def answer(self, data: Any, by: str, state: Any) -> None:
        id = data.draw(st.sampled_from(sorted(self.model)))
        one = self.model[id]
        legal = (
            one["to"] == by
            and one["state"] == "pending"
            and (state != "changes_requested" or one["kind"] == "plan")
        )
        try:
            self.tracker.answer(id, by, state)
        except lk.ToolError:
            assert not legal
        else:
            assert legal
            one["state"] = state

    @rule(teammate=st.sampled_from(["alice", "bob"]), ended=st.booleans())
    def assign(self, teammate: str, ended: bool) -> None:
        if not ended:
            self.assignments[teammate] = self.assignments.get(teammate, 0) + 1
        expected = {
            id
            for id, one in self.model.items()
            if (one["teammate"], one["state"]) == (teammate, "pending")
        }
        tracker = self.tracker
        expired = tracker.expire_all(teammate, "ended") if ended else tracker.assign(teammate)
        assert {one.id for one in expired} == expected
        for id in expected:
            self.model[id]["state"] = "expired"

    @rule(seconds=st.sampled_from([1.0, 30.0, 51.0]))
    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        for one in self.model.values():
            if one["state"] == "pending" and one["until"] and self.clock.time() > one["until"]:
                one["state"] = "expired"

    @invariant()
    def it_agrees_with_the_model(self) -> None:
        assert {one.id: one.state for one in self.tracker.all()} == {
            id: one["state"] for id, one in self.model.items()
        }
        for teammate in ("alice", "bob"):
            plans = [
                id
                for id, one in self.model.items()
                if (one["kind"], one["teammate"], one["assignment"])
                == ("plan", teammate, self.assignments.get(teammate, 0))
            ]
            current = self.tracker.current(teammate)
            assert (current.id if current else None) == (plans[-1] if plans else None)


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=examples(40), stateful_step_count=25)
