"""Lesson 10's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, STUB, Check


def _log(*steps: tuple[str, str, str, str]) -> lk.EventLog:
    """A log of requests: what happens, the id, the sender and the recipient."""
    log = lk.EventLog()
    log.append("run.started", prompt="go", system="", tools=[], model="m")
    for number, (what, id, sender, to) in enumerate(steps):
        state = {"opened": "pending", "expired": "expired"}.get(what, "approved")
        request: dict[str, Any] = {"id": id, "kind": "plan", "sender": sender, "to": to}
        request |= {"content": "x", "state": state}
        request |= {"assignment": 1, "expires": "", "note": ""}
        log.append(f"request.{what}", lane=sender, time=float(number), request=request)
    return log


def check_waiting(waiting: Any) -> Verdict:
    """Check which requests wait for whose answer, from the log.

    Args:
        waiting: the learner's function of the events.
    """
    one = ("opened", "r1", "bob", "lead")
    two = ("opened", "r2", "lead", "alice")
    for steps, wanted, what in (
        ((), {}, "no request"),
        ((one,), {"lead": ["r1"]}, "one plan for the lead"),
        ((one, ("answered", "r1", "bob", "lead")), {}, "a plan that was answered"),
        ((two, ("expired", "r2", "lead", "alice")), {}, "a request that has expired"),
        (
            (one, two, ("opened", "r3", "carol", "lead"), ("answered", "r1", "bob", "lead")),
            {"lead": ["r3"], "alice": ["r2"]},
            "two plans for the lead, one of them answered, and a request to alice",
        ),
    ):
        told = waiting(_log(*steps))
        if not isinstance(told, dict):
            return f"it must return a dict of names and lists of ids, not {told!r}"
        told = {name: sorted(ids) for name, ids in told.items() if ids}
        if told != wanted:
            return f"{what}: it says {told}, and {wanted} is right"
    return None


WAITING_LAST = """
def waiting(events):
    last = {}
    for event in events:
        if event.type.startswith("request.") and "request" in event.data:
            last[event.data["request"]["id"]] = event.data["request"]
    found = {}
    for request in last.values():
        if request["state"] == "pending":
            found.setdefault(request["to"], []).append(request["id"])
    return found
""".strip()


def _tries(act: Any) -> bool:
    """Whether a step was allowed."""
    try:
        act()
    except Exception:
        return False
    return True


def check_desk(Desk: Any) -> Verdict:
    """Check that the sender of a request, and no other, can take it back.

    Args:
        Desk: the learner's class; it keeps requests.
    """
    if not isinstance(Desk, type):
        return "`Desk` must be a class"
    desk: Any = Desk()
    first, second = desk.ask("lead", "alice"), desk.ask("lead", "bob")
    third = desk.ask("bob", "lead")
    steps = (
        (lambda: desk.withdraw(first, "alice"), False, "alice takes back what the lead has asked"),
        (lambda: desk.withdraw(first, "lead"), True, "the lead takes back what it has asked"),
        (lambda: desk.answer(first, "alice", True), False, "alice answers what was taken back"),
        (lambda: desk.answer(second, "alice", True), False, "alice answers for bob"),
        (lambda: desk.answer(second, "bob", False), True, "bob refuses"),
        (lambda: desk.withdraw(second, "lead"), False, "the lead takes back what has an answer"),
        (lambda: desk.answer(second, "bob", True), False, "bob answers twice"),
        (lambda: desk.answer(third, "lead", True), True, "the lead approves what bob has asked"),
    )
    for act, allowed, what in steps:
        if _tries(act) != allowed:
            return f"{what}: that must {'work' if allowed else 'raise an error'}"
    states = desk.state(first), desk.state(second), desk.state(third)
    if states != (wanted := ("withdrawn", "rejected", "approved")):
        return f"the states are {states}; {wanted} is right"
    return None


DESK_TABLE = '''
RULES = {
    ("pending", "approved"): "to",
    ("pending", "rejected"): "to",
    ("pending", "withdrawn"): "sender",
}


class Desk:
    """Requests: asked, answered by the addressee, or taken back by the sender."""

    def __init__(self):
        self.requests = []

    def ask(self, sender, to):
        self.requests.append({"sender": sender, "to": to, "state": "pending"})
        return len(self.requests) - 1

    def become(self, id, state, by):
        request = self.requests[id]
        if request.get(RULES.get((request["state"], state))) != by:
            raise ValueError("that does not count")
        request["state"] = state

    def answer(self, id, by, approve):
        self.become(id, "approved" if approve else "rejected", by)

    def withdraw(self, id, by):
        self.become(id, "withdrawn", by)

    def state(self, id):
        return self.requests[id]["state"]
'''.strip()


def _ran(gate: lk.Mechanism, names: list[str]) -> list[str]:
    """How the calls of a model ended, one by one."""

    @lk.tool
    def bash(command: str) -> str:
        """Run a command."""
        return "done"

    @lk.tool
    def read_file(path: str) -> str:
        """Read a file."""
        return "text"

    made = {"bash": lk.use("bash", command="rm -r raw"), "read_file": lk.use("read_file", path="x")}
    steps = iter([made[name] for name in names])
    client = lk.scripted(lambda request: next(steps, lk.say("done")))
    with client.clock:
        agent = lk.Agent(client, [lk.Toolbox(bash, read_file), gate])
        agent.run("Go.")
    return [event.data["how"] for event in agent.events if event.type == "tool.ended"]


def check_two_keys(TwoKeys: Any) -> Verdict:
    """Check that a gate opens only for the keys of two different people.

    Args:
        TwoKeys: the learner's class; it refuses bash.
    """
    if not isinstance(TwoKeys, type) or not issubclass(TwoKeys, lk.Mechanism):
        return "`TwoKeys` must be a class that is an lk.Mechanism"
    made: Any = TwoKeys
    for keys, wanted, what in (
        ([], ["refused", "ran"], "nobody has turned a key"),
        (["lead", "lead"], ["refused", "ran"], "the lead has, twice"),
        (["lead", "alice"], ["ran", "ran"], "the lead and alice have"),
        (["bob", "alice", "bob"], ["ran", "ran"], "bob and alice have"),
    ):
        gate = made()
        for name in keys:
            gate.turn(name)
        how = _ran(gate, ["bash", "read_file"])
        if how != wanted:
            return f"{what}: bash {how[0]}, read_file {how[1]}; {' and '.join(wanted)} is right"
    return None


KEYS_LIST = STUB.replace(
    "    def turn(self, name): ...",
    """
    keys = ()

    def turn(self, name):
        self.keys = (*self.keys, name)

    def refuse(self, agent, call):
        is_open = any(name != self.keys[0] for name in self.keys)
        return None if is_open or call.name != "bash" else "two keys, please"
""".strip("\n"),
)


EXERCISES = {
    "waiting": Check(
        check_waiting,
        right=[WAITING_LAST],
        wrong=[
            SOLUTION.replace(', "request.expired")', ",)"),
            SOLUTION.replace('"to"', '"sender"'),
            SOLUTION.replace('.remove(request["id"])', ".clear()"),
        ],
    ),
    "Desk": Check(
        check_desk,
        right=[DESK_TABLE],
        wrong=[
            SOLUTION.replace('request["sender"] != by or ', ""),
            SOLUTION.replace('request["sender"] != by or request["state"] != "pending"', "False"),
            SOLUTION.replace('"withdrawn"', '"rejected"'),
        ],
    ),
    "TwoKeys": Check(
        check_two_keys,
        right=[KEYS_LIST],
        wrong=[
            SOLUTION.replace("set()", "[]").replace(".add(", ".append("),
            SOLUTION.replace('call.name == "bash" and ', ""),
        ],
    ),
}
