"""Lesson 10's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import is_mechanism
from learnkit.events.protocols import (
    RequestAnswered,
    RequestData,
    RequestEvent,
    RequestExpired,
    RequestOpened,
)


def _log(*steps: tuple[str, str, str, str]) -> lk.EventLog:
    """A log of requests: what happens, the id, the sender and the recipient."""
    log = lk.EventLog()
    log.append("run.started", prompt="go", system="", tools=[], model="m")
    happened: dict[str, tuple[type[RequestEvent], Any]] = {
        "opened": (RequestOpened, "pending"),
        "answered": (RequestAnswered, "approved"),
        "expired": (RequestExpired, "expired"),
    }
    for number, (what, id, sender, to) in enumerate(steps):
        event, state = happened[what]
        request = RequestData(id=id, kind="plan", sender=sender, to=to, content="x", state=state)
        log.append(event(request=request), lane=sender, time=float(number))
    return log


def check_waiting(waiting: Any) -> Verdict:
    """Check which requests wait for whose answer, from the log."""
    one = ("opened", "r1", "bob", "lead")
    two = ("opened", "r2", "lead", "alice")
    for steps, wanted, what in (
        ((), {}, "an empty log"),
        ((one,), {"lead": ["r1"]}, "a log in which bob asks the lead (r1)"),
        ((one, ("answered", "r1", "bob", "lead")), {}, "a log in which r1 was answered"),
        ((two, ("expired", "r2", "lead", "alice")), {}, "a log in which r2 has expired"),
        (
            (one, two, ("opened", "r3", "carol", "lead"), ("answered", "r1", "bob", "lead")),
            {"lead": ["r3"], "alice": ["r2"]},
            "a log with r1 and r3 for the lead, r2 for alice, and an answer to r1",
        ),
    ):
        got = waiting(_log(*steps))
        if not isinstance(got, dict):
            return f"your function returned {got!r}; it should return a dict of names and lists"
        got = {name: _ids(ids) for name, ids in got.items() if ids}
        if got != wanted:
            return f"for {what}, your function returned {got}; it should return {wanted}"
    return None


def _ids(ids: Any) -> Any:
    """Several ids, in order; what is none stays as it is."""
    if not isinstance(ids, (list, tuple, set, frozenset)):
        return ids
    return sorted(ids, key=str)


WAITING_LAST = """
def waiting(events):
    last = {}
    for event in events:
        if event.type.startswith("request.") and "request" in event.data:
            last[event.data["request"]["id"]] = event.data["request"]
    found = {}
    for request in last.values():
        if request["state"] == "pending":
            found.setdefault(request["to"], set()).add(request["id"])
    return found
""".strip()


def _error(act: Any) -> str | None:
    """The error that a step raised; None if it was allowed."""
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def check_requests(Requests: Any) -> Verdict:
    """Check that the sender of a request, and no other agent, can withdraw it."""
    if not isinstance(Requests, type):
        return "`Requests` must be a class"
    requests: Any = Requests()
    first, second = requests.ask("lead", "alice"), requests.ask("lead", "bob")
    third = requests.ask("bob", "lead")
    steps = (
        ("the lead withdraws its own request", True, "withdraw", first, "lead", "withdrawn"),
        ("alice answers it after that", False, "answer", first, "alice", "withdrawn"),
        ("bob withdraws a request of the lead", False, "withdraw", second, "bob", "pending"),
        ("the lead withdraws its own a second time", False, "withdraw", first, "lead", "withdrawn"),
        ("alice answers this request to bob", False, "answer", second, "alice", "pending"),
        ("bob approves it", True, "answer", second, "bob", "approved"),
        ("the lead withdraws it after that", False, "withdraw", second, "lead", "approved"),
        ("bob answers it a second time", False, "answer", second, "bob", "approved"),
        ("the lead approves bob's request", True, "answer", third, "lead", "approved"),
        ("bob withdraws it after that", False, "withdraw", third, "bob", "approved"),
    )
    for what, allowed, method, id, by, wanted in steps:
        given = (id, by) if method == "withdraw" else (id, by, True)
        error = _error(lambda made=method, given=given: getattr(requests, made)(*given))
        if allowed and error:
            return f"when {what}, your class raised {error}; this step is legal and should work"
        if not allowed and not error:
            return f"when {what}, your class raised no error; this step should raise one"
        if (state := requests.state(id)) != wanted:
            return f"after {what}, the state is {state!r}; it should be {wanted!r}"
    fourth = requests.ask("bob", "lead")
    requests.answer(fourth, "lead", False)
    if (state := requests.state(fourth)) != "rejected":
        return f"after the lead rejects a request, the state is {state!r}; it should be 'rejected'"
    return None


REQUESTS_TABLE = '''
RULES = {
    ("pending", "approved"): "to",
    ("pending", "rejected"): "to",
    ("pending", "withdrawn"): "sender",
}


class Requests:
    """Requests: asked, answered by the addressee, or withdrawn by the sender."""

    def __init__(self):
        self.requests = []

    def ask(self, sender, to):
        self.requests.append({"sender": sender, "to": to, "state": "pending"})
        return len(self.requests) - 1

    def become(self, id, state, by):
        request = self.requests[id]
        if request.get(RULES.get((request["state"], state))) != by:
            raise ValueError("not allowed")
        request["state"] = state

    def answer(self, id, by, approve):
        self.become(id, "approved" if approve else "rejected", by)

    def withdraw(self, id, by):
        self.become(id, "withdrawn", by)

    def state(self, id):
        return self.requests[id]["state"]
'''.strip()


def _ran(gate: lk.Mechanism, names: list[str]) -> tuple[list[str], list[Any]]:
    """How the calls of a model ended, one by one, and what the gate returned for each."""
    refuse, reasons = gate.refuse, list[Any]()

    def noted(agent: Any, call: Any) -> Any:
        reasons.append(refuse(agent, call))
        return reasons[-1]

    gate.refuse = noted  # type: ignore[method-assign]

    @lk.tool
    def bash(command: str) -> None:
        """Run a command."""

    @lk.tool
    def read_file(path: str) -> None:
        """Read a file."""

    made = {"bash": lk.use("bash", command="rm -r raw"), "read_file": lk.use("read_file", path="x")}
    steps = iter([made[name] for name in names])
    client = lk.scripted(lambda request: next(steps, lk.say("done")))
    with client.clock:
        agent = lk.Agent(client, [lk.Toolbox(bash, read_file), gate])
        agent.run("Go.")
    return [one.data["how"] for one in agent.events if one.type == "tool.ended"], reasons


def check_two_keys(TwoKeys: Any) -> Verdict:
    """Check that a gate opens only for the keys of two different people."""
    if not is_mechanism(TwoKeys):
        return "`TwoKeys` must be a class that is an lk.Mechanism"
    for keys, wanted, what in (
        ([], ["refused", "ran"], "before any key is turned"),
        (["lead", "lead"], ["refused", "ran"], "after the lead has turned its key twice"),
        (["lead", "alice"], ["ran", "ran"], "after the lead and alice have turned theirs"),
        (["bob", "alice", "bob"], ["ran", "ran"], "after bob, alice and bob have turned theirs"),
    ):
        gate = TwoKeys()
        for name in keys:
            gate.turn(name)
        how, reasons = _ran(gate, ["bash", "read_file"])
        for reason in reasons:
            if reason is not None and not (isinstance(reason, str) and reason.strip()):
                return (
                    f"{what}, your refuse returned {reason!r}; it should return None to allow a "
                    "call, or a sentence that tells the model why the call is refused"
                )
        if how != wanted:
            got, right = (" and read_file ".join(_HOW.get(h, h) for h in x) for x in (how, wanted))
            return f"{what}, you have bash {got}; it should be bash {right}"
    how, _ = _ran(TwoKeys(), ["bash"])
    if how != ["refused"]:
        return (
            f"two keys were turned in other gates, and in a new one bash was {_HOW.get(how[0])}; "
            "each gate should keep its own keys"
        )
    return None


_HOW = {"ran": "allowed", "refused": "refused"}


KEYS_LIST = """
import learnkit as lk


class TwoKeys(lk.Mechanism):
    keys = ()

    def turn(self, name):
        self.keys = (*self.keys, name)

    def refuse(self, agent, call):
        is_open = any(name != self.keys[0] for name in self.keys)
        return None if is_open or call.name != "bash" else "two keys are needed"
""".strip()


EXERCISES = {
    "waiting": Check(check_waiting, [WAITING_LAST]),
    "Requests": Check(check_requests, [REQUESTS_TABLE]),
    "TwoKeys": Check(check_two_keys, [KEYS_LIST]),
}
