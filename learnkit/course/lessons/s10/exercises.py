"""Lesson 10's exercises: what is wrong with an answer."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import Cases, first_wrong

_KNOWN = {
    "r1": {"kind": "plan_approval", "from": "bob", "to": "lead", "state": "pending"},
    "r2": {"kind": "shutdown", "from": "lead", "to": "alice", "state": "pending"},
    "r3": {"kind": "plan_approval", "from": "charlie", "to": "lead", "state": "rejected"},
    "r4": {"kind": "plan_approval", "from": "alice", "to": "lead", "state": "pending"},
    "r5": {"kind": "shutdown", "from": "lead", "to": "bob", "state": "expired"},
}


def check_waiting(waiting: Any) -> Verdict:
    """Check who owes an answer to what."""

    def found(*ids: str) -> Any:
        return waiting({id: dict(_KNOWN[id]) for id in ids})

    all_five = {"lead": ["r1", "r4"], "alice": ["r2"]}
    cases: Cases = [
        ("no requests", (), {}),
        ("a plan that bob has submitted to the lead (r1)", ("r1",), {"lead": ["r1"]}),
        ("a request that is rejected and one that has expired", ("r3", "r5"), {}),
        (f"the requests {_KNOWN}", tuple(_KNOWN), all_five),
    ]
    return first_wrong(found, cases, lambda got: {name: sorted(ids) for name, ids in got.items()})


def check_withdraw(withdraw: Any) -> Verdict:
    """Check that only the asker can withdraw, as long as the request has no answer."""
    for id, by, is_allowed, what in (
        ("r2", "lead", True, "the lead withdraws its own request"),
        ("r2", "alice", False, "alice withdraws a request that she was asked"),
        ("r2", "bob", False, "bob withdraws a request of the lead to alice"),
        ("r3", "charlie", False, "charlie withdraws his plan after it was rejected"),
        ("r5", "lead", False, "the lead withdraws a request that has expired"),
        ("r1", "bob", True, "bob withdraws his plan"),
        ("r9", "lead", False, "the lead withdraws a request that there isn't"),
    ):
        known, wanted, error = deepcopy(_KNOWN), deepcopy(_KNOWN), ""
        try:
            withdraw(known, id, by)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        if is_allowed:
            wanted[id]["state"] = "withdrawn"
            if error:
                return f"when {what}, your function raised {error}; this is allowed"
        if known != wanted:
            return f"when {what}, it {'was not' if is_allowed else 'was'} withdrawn"
        if not is_allowed and not error:
            return f"when {what}, nothing happened, and nobody was told: raise an error"
    return None
