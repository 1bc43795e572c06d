"""Lesson 10's exercises: what is written, and what tells whether it works."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.lessons import Exercise, Verdict


def _log(*steps: tuple[str, str, str, str]) -> lk.EventLog:
    """A log of requests: what happens, the id, who asks, and whom."""
    log = lk.EventLog()
    log.append("run.started", prompt="go", system="", tools=[], model="m")
    for number, (what, id, sender, to) in enumerate(steps):
        state = {"opened": "pending", "expired": "expired"}.get(what, "approved")
        request = {"id": id, "kind": "plan", "sender": sender, "to": to, "content": "x"}
        request |= {"state": state, "note": ""}
        log.append(f"request.{what}", lane=sender, time=float(number), request=request)
    return log


def check_waiting(waiting: Any) -> Verdict:
    """For whom which requests wait, from the log."""
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


WAITING_STUB = """
def waiting(events):
    return {}
""".strip()

WAITING = """
def waiting(events):
    found = {}
    for event in events:
        if event.type == "request.opened":
            request = event.data["request"]
            found.setdefault(request["to"], []).append(request["id"])
        elif event.type in ("request.answered", "request.expired"):
            request = event.data["request"]
            found[request["to"]].remove(request["id"])
    return {name: ids for name, ids in found.items() if ids}
""".strip()

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
    """Requests that can be taken back by the one who has made them."""
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


DESK_STUB = """
class Desk:
    def __init__(self):
        self.requests = {}

    def ask(self, sender, to):
        id = len(self.requests) + 1
        self.requests[id] = {"sender": sender, "to": to, "state": "pending"}
        return id

    def answer(self, id, by, approve):
        request = self.requests[id]
        if request["to"] != by or request["state"] != "pending":
            raise ValueError("that does not count")
        request["state"] = "approved" if approve else "rejected"

    def withdraw(self, id, by): ...

    def state(self, id):
        return self.requests[id]["state"]
""".strip()

_WITHDRAW = """    def withdraw(self, id, by):
        request = self.requests[id]
        if request["sender"] != by or request["state"] != "pending":
            raise ValueError("that does not count")
        request["state"] = "withdrawn"
"""

DESK = DESK_STUB.replace("    def withdraw(self, id, by): ...\n", _WITHDRAW)

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
    """A gate that two different people have to open."""
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


KEYS_STUB = '''
import learnkit as lk


class TwoKeys(lk.Mechanism):
    """Refuses bash until two different people have turned their key."""

    def turn(self, name): ...
'''.strip()

KEYS = KEYS_STUB.replace(
    "    def turn(self, name): ...",
    """
    def __init__(self):
        self.names = set()

    def turn(self, name):
        self.names.add(name)

    def refuse(self, agent, call):
        missing = 2 - len(self.names)
        if call.name == "bash" and missing > 0:
            return f"bash needs {missing} more key(s)"
        return None
""".strip("\n"),
)

KEYS_LIST = KEYS_STUB.replace(
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

EXERCISES = [
    Exercise(
        title="who has to answer what?",
        minutes=5,
        name="waiting",
        check=check_waiting,
        hints=[
            "request.opened, request.answered and request.expired each carry data['request'].",
            "A request has an id, a sender, a to, and a state.",
            "Add at opened, remove at the two others, and leave out who has nothing.",
        ],
        solution=WAITING,
        right=[WAITING_LAST],
        wrong=[
            WAITING_STUB,
            WAITING.replace(', "request.expired")', ",)"),
            WAITING.replace('"to"', '"sender"'),
            WAITING.replace('.remove(request["id"])', ".clear()"),
        ],
    ),
    Exercise(
        title="on second thought",
        minutes=15,
        name="Desk",
        check=check_desk,
        hints=[
            "withdraw is answer with another right: who may do it, and to which state?",
            "Only the sender may, and only as long as the request is pending.",
            "Look at answer: compare request['sender'] instead of request['to'].",
        ],
        solution=DESK,
        right=[DESK_TABLE],
        wrong=[
            DESK_STUB,
            DESK.replace('request["sender"] != by or ', ""),
            DESK.replace('request["sender"] != by or request["state"] != "pending"', "False"),
            DESK.replace('"withdrawn"', '"rejected"'),
        ],
    ),
    Exercise(
        title="two keys",
        minutes=20,
        name="TwoKeys",
        check=check_two_keys,
        hints=[
            "Which hook can keep a call from running? It is asked each time, so it may change.",
            "Keep a set of names: turning the same key twice opens nothing.",
            "refuse(self, agent, call) returns a reason as long as fewer than two are there.",
        ],
        solution=KEYS,
        right=[KEYS_LIST],
        wrong=[
            KEYS_STUB,
            KEYS.replace("set()", "[]").replace(".add(", ".append("),
            KEYS.replace('call.name == "bash" and ', ""),
        ],
    ),
]
