"""Lesson 10's exercises: what is wrong with an answer."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from learnkit.course.content import Verdict

_KNOWN = {
    "r1": {"kind": "plan_approval", "from": "bob", "to": "lead", "state": "pending"},
    "r2": {"kind": "shutdown", "from": "lead", "to": "alice", "state": "pending"},
    "r3": {"kind": "plan_approval", "from": "charlie", "to": "lead", "state": "rejected"},
    "r4": {"kind": "plan_approval", "from": "alice", "to": "lead", "state": "pending"},
    "r5": {"kind": "shutdown", "from": "lead", "to": "bob", "state": "expired"},
}


def check_waiting(waiting: Any) -> Verdict:
    """Check who owes an answer to what."""
    five = str({id: f"{one['state']}, to {one['to']}" for id, one in _KNOWN.items()})
    for ids, wanted, what in (
        ((), {}, "no requests"),
        (("r1",), {"lead": ["r1"]}, "a plan that bob has submitted to the lead (r1)"),
        (("r3", "r5"), {}, "a request that is rejected and one that has expired"),
        (tuple(_KNOWN), {"lead": ["r1", "r4"], "alice": ["r2"]}, five),
    ):
        known = {id: dict(_KNOWN[id]) for id in ids}
        got = waiting(known)
        if not isinstance(got, dict):
            return f"your function returned {got!r}; it should return a dict of names and lists"
        if any(not ids for ids in got.values()):
            return f"for {what}, your function returned {got}; leave out who owes no answer"
        if {name: sorted(ids) for name, ids in got.items()} != wanted:
            return f"for {what}, your function returned {got}; it should return {wanted}"
    return None


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
        known, error = deepcopy(_KNOWN), ""
        try:
            withdraw(known, id, by)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        wanted = deepcopy(_KNOWN)
        if is_allowed:
            wanted[id]["state"] = "withdrawn"
        if is_allowed and error:
            return f"when {what}, your function raised {error}; this is allowed"
        if known != wanted:
            is_done = known.get(id, {}).get("state") == "withdrawn"
            return f"when {what}, it {'was' if is_done else 'was not'} withdrawn"
        if not is_allowed and not error:
            return f"when {what}, nothing happened, and nobody was told: raise an error"
    return None


EXERCISES = {
    "waiting": check_waiting,
    "withdraw": check_withdraw,
}
