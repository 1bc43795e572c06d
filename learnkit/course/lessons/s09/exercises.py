"""Lesson 9's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, STUB, Check


def _log(*steps: tuple[str, str]) -> lk.EventLog:
    """A log of mail: ``("alice", "bob")`` is a message, ``("alice", "")`` is alice reading hers."""
    log = lk.EventLog()
    log.append("run.started", prompt="go", system="", tools=[], model="m")
    waiting: dict[str, list[str]] = {}
    for number, (who, to) in enumerate(steps, 1):
        if to:
            mail = {"id": f"m{number}", "type": "message", "from": who, "to": to, "content": "x"}
            mail |= {"timestamp": f"2026-01-01T00:00:{number:02}+00:00"}
            waiting.setdefault(to, []).append(f"m{number}")
            log.append("mail.sent", lane=who, time=float(number), mail=mail)
        else:
            log.append("mail.read", lane=who, time=float(number), ids=waiting.pop(who, []), by=who)
    return log


def check_unread(unread: Any) -> Verdict:
    """Check how many unread messages each agent has, from the log.

    Args:
        unread: the learner's function of the events.
    """
    for steps, wanted, what in (
        ((), {}, "no mail at all"),
        ((("alice", "bob"),), {"bob": 1}, "one letter to bob"),
        ((("alice", "bob"), ("bob", "")), {}, "a letter that bob has read"),
        (
            (("alice", "bob"), ("bob", ""), ("alice", "bob"), ("bob", "alice")),
            {"alice": 1, "bob": 1},
            "a letter that bob has read, and one more to each of them",
        ),
        (
            (("alice", "bob"), ("lead", "bob"), ("alice", ""), ("lead", "alice")),
            {"alice": 1, "bob": 2},
            "two to bob, and alice looked before hers came",
        ),
    ):
        told = unread(_log(*steps))
        if not isinstance(told, dict):
            return f"it must return a dict of names and numbers, not {told!r}"
        told = {name: number for name, number in told.items() if number}
        if told != wanted:
            return f"{what}: it says {told}, and {wanted} is right"
    return None


UNREAD_SET = """
def unread(events):
    read = {id for e in events if e.type == "mail.read" for id in e.data["ids"]}
    mails = [e.data["mail"] for e in events if e.type == "mail.sent"]
    names = [mail["to"] for mail in mails if mail["id"] not in read]
    return {name: names.count(name) for name in names}
""".strip()


def check_mark(Marked: Any) -> Verdict:
    """Check that an inbox marks what was read, and removes nothing.

    Args:
        Marked: the learner's class; it takes the folder of the inbox.
    """
    if not isinstance(Marked, type):
        return "`Marked` must be a class"
    with tempfile.TemporaryDirectory() as name:
        first, other = Marked(Path(name)), Marked(Path(name))
        first.send("one")
        other.send("two\nlines")
        got = first.unread()
        if not isinstance(got, list) or not all(len(one) == 2 for one in got):
            return f"unread() must return pairs of id and text; it returned {got!r}"
        if [text for _, text in got] != ["one", "two\nlines"]:
            return f"two letters were sent; unread() has {[text for _, text in got]!r}"
        if [text for _, text in first.unread()] != ["one", "two\nlines"]:
            return "reading alone must not remove a letter: it is not safe yet"
        other.send("three")  # between reading and marking
        first.mark([id for id, _ in got])
        if [text for _, text in first.unread()] != ["three"]:
            return f"after mark() 'three' is left; unread() has {first.unread()!r}"
        again = Marked(Path(name))
        if [text for _, text in again.unread()] != ["three"]:
            return f"a new process must know what was marked; it finds {again.unread()!r}"
        again.mark([id for id, _ in again.unread()])
        if first.unread():
            return f"all three are marked; unread() still has {first.unread()!r}"
    return None


MARK_DOCUMENT = '''
import uuid

from learnkit.backends.files.store import Document


class Marked:
    """An inbox in a folder: what was read is marked, and nothing is removed."""

    def __init__(self, folder):
        self.file = Document(folder / "inbox.json")

    def send(self, text):
        with self.file.change([]) as mail:
            mail.append({"id": uuid.uuid4().hex, "text": text, "read": False})

    def unread(self):
        mail = self.file.read([])
        return [(one["id"], one["text"]) for one in mail if not one["read"]]

    def mark(self, ids):
        with self.file.change([]) as mail:
            for one in mail:
                one["read"] = one["read"] or one["id"] in ids
'''.strip()


def _went(mechanism: lk.Mechanism, calls: list[tuple[str, str]]) -> list[str]:
    """The recipients in the calls that were not refused."""
    gone: list[str] = []

    @lk.tool
    def send_message(to: str) -> str:
        """Write to somebody."""
        gone.append(to)
        return "Sent."

    @lk.tool
    def look(to: str) -> str:
        """Look at somebody."""
        gone.append(to)
        return "Seen."

    steps = iter([lk.use(name, to=to) for name, to in calls])
    client = lk.scripted(lambda request: next(steps, lk.say("done")))
    with client.clock:
        lk.Agent(client, [lk.Toolbox(send_message, look), mechanism], max_turns=40).run("Go.")
    return gone


def check_polite(Enough: Any) -> Verdict:
    """Check that one run sends at most so many messages to the same teammate.

    Args:
        Enough: the learner's class; it takes ``most``.
    """
    if not isinstance(Enough, type) or not issubclass(Enough, lk.Mechanism):
        return "`Enough` must be a class that is an lk.Mechanism"
    bob, carol, lead = (("send_message", name) for name in ("bob", "carol", "lead"))
    for calls, wanted, what in (
        ([bob] * 3, 3, "three letters to bob, and three are allowed"),
        ([bob] * 5, 3, "five letters to bob"),
        ([bob, carol] * 3, 6, "three letters each to bob and carol"),
        ([bob] * 4 + [lead], 4, "four to bob, then one to the lead"),
        ([("look", "bob")] * 6, 6, "six calls of another tool"),
    ):
        made: Any = Enough
        went = _went(made(most=3), calls)
        if len(went) != wanted:
            return f"{what}: {len(went)} went through; {wanted} should have"
    return None


POLITE_LIST = STUB.replace(
    "import learnkit as lk", "from collections import Counter\n\nimport learnkit as lk"
).replace(
    "        self.most = most",
    """
        self.most = most

    def refuse(self, agent, call):
        done = [e.data for e in agent.events if e.type == "tool.started"]
        to = Counter(d["input"].get("to") for d in done if d["name"] == "send_message")
        full = call.name == "send_message" and to[call.input.get("to")] > self.most
        return "That was enough." if full else None
""".strip("\n"),
)


EXERCISES = {
    "unread": Check(
        check_unread,
        right=[UNREAD_SET],
        wrong=[
            SOLUTION.replace('event.type == "mail.read"', "False"),
            SOLUTION.replace('mail["to"]', 'mail["from"]'),
        ],
    ),
    "Marked": Check(
        check_mark,
        right=[MARK_DOCUMENT],
        wrong=[
            SOLUTION.replace("if id not in done]", "if len(done) <= id]").replace(
                'self.marks.open("a")', 'self.marks.open("w")'
            ),
            SOLUTION.replace('folder / "read.jsonl"', 'folder / f"read-{id(self)}.jsonl"'),
        ],
    ),
    "Enough": Check(
        check_polite,
        right=[POLITE_LIST],
        wrong=[
            SOLUTION.replace("> self.most", ">= self.most"),
            SOLUTION.replace('call.input.get("to")', '"anybody"'),
            SOLUTION.replace(
                '        if call.name != "send_message":\n            return None\n', ""
            ),
        ],
    ),
}
