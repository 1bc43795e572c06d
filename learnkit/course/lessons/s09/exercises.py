"""Lesson 9's exercises: their checks, and right answers to test them with."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.content.sources import Check
from learnkit.course.lessons.verdicts import is_mechanism

#: Messages that each of two senders sends at the same time: enough for them to overtake each other.
MANY = 40


def _log(*steps: tuple[str, str | int]) -> lk.EventLog:
    """A log of mail: ``("alice", "bob")`` is a message; in ``("alice", 2)`` alice reads two."""
    log = lk.EventLog()
    log.append("run.started", prompt="go", system="", tools=[], model="m")
    waiting: dict[str, list[str]] = {}
    for number, (who, to) in enumerate(steps, 1):
        if isinstance(to, str):
            mail = {"id": f"m{number}", "type": "message", "from": who, "to": to, "content": "x"}
            mail |= {"timestamp": f"2026-01-01T00:00:{number:02}+00:00"}
            waiting.setdefault(to, []).append(f"m{number}")
            log.append("mail.sent", lane=who, time=float(number), mail=mail)
        else:
            unread = waiting.get(who, [])
            log.append("mail.read", lane=who, time=float(number), ids=unread[:to], by=who)
            del unread[:to]
    return log


def check_unread(unread: Any) -> Verdict:
    """Check how many unread messages each agent has, from the log."""
    for steps, wanted, what in (
        ((), {}, "an empty log"),
        ((("alice", "bob"),), {"bob": 1}, "a log in which alice sends bob one message"),
        ((("alice", "bob"), ("bob", 1)), {}, "a log in which bob has read his only message"),
        (
            (("alice", "bob"), ("bob", 1), ("alice", "bob"), ("bob", "alice")),
            {"alice": 1, "bob": 1},
            "a log in which bob has read one message, and then each of the two gets one more",
        ),
        (
            (("alice", "bob"), ("lead", "bob"), ("bob", 2), ("lead", "alice")),
            {"alice": 1},
            "a log in which bob has read two messages at once, and then alice gets one",
        ),
        (
            (("alice", "bob"), ("lead", "bob"), ("alice", 0), ("lead", "alice")),
            {"alice": 1, "bob": 2},
            "a log with two messages to bob, and one to alice that came after she had looked",
        ),
        (
            (("alice", "bob"), ("lead", "bob"), ("bob", 1)),
            {"bob": 1},
            "a log in which two messages are sent to bob, and he has read the first one",
        ),
        (
            (("alice", "bob"), ("lead", "bob"), ("bob", 1), ("bob", 1)),
            {},
            "a log in which bob has read his two messages one at a time",
        ),
    ):
        try:
            got = unread(_log(*steps))
        except Exception as error:
            error.add_note(f"for {what}")
            raise
        if not isinstance(got, dict):
            return f"your function returned {got!r}; it should return a dict of names and numbers"
        if got != wanted:
            return f"for {what}, your function returned {got}; it should return {wanted}"
    return None


UNREAD_SET = """
def unread(events):
    read = {id for e in events if e.type == "mail.read" for id in e.data["ids"]}
    mails = [e.data["mail"] for e in events if e.type == "mail.sent"]
    names = [mail["to"] for mail in mails if mail["id"] not in read]
    return {name: names.count(name) for name in names}
""".strip()


def check_mark(Marked: Any) -> Verdict:
    """Check that an inbox marks what was read, and removes nothing."""
    if not isinstance(Marked, type):
        return "`Marked` must be a class"
    with tempfile.TemporaryDirectory() as name:
        first, other = Marked(Path(name)), Marked(Path(name))
        first.send("one")
        other.send("two\nlines")
        got = first.unread()
        if not isinstance(got, (list, tuple)) or not all(_is_pair(one) for one in got):
            return f"unread() returned {got!r}; it should return a list of pairs of id and text"
        if (texts := _texts(got)) != ["one", "two\nlines"]:
            return (
                "after send('one') on one object and send('two\\nlines') on another, unread() has "
                f"{texts!r}; both messages should be there, in this order"
            )
        if (texts := _texts(first.unread())) != ["one", "two\nlines"]:
            return (
                f"a second unread() has {texts!r}; reading must not remove a message, because its "
                "reader may be killed before it marks it"
            )
        other.send("three")  # between reading and marking
        first.mark([id for id, _ in got])
        if (texts := _texts(first.unread())) != ["three"]:
            return (
                f"'three' arrived between unread() and mark(), and now unread() has {texts!r}; "
                "only 'three' should be left, because the others were marked and it was not"
            )
        again = Marked(Path(name))
        if (texts := _texts(again.unread())) != ["three"]:
            return (
                f"a new object on the same folder has {texts!r}; it should have ['three'], so the "
                "marks have to be in the folder, too"
            )
        first.send("four")
        ids = [id for id, _ in again.unread()]
        again.mark(ids[-1:])
        if (texts := _texts(first.unread())) != ["three"]:
            return (
                f"only 'four', the later of two messages, was marked, and unread() has {texts!r}; "
                "only 'three' should be left: messages can be marked in any order, and stay marked"
            )
        again.mark(ids[:-1])
        if texts := _texts(first.unread()):
            return (
                "all four messages are marked by now, two of them by another object, and "
                f"unread() still has {texts!r}; it should return []"
            )
    if not _both_arrive(Marked):
        return (
            f"two objects on the same folder sent {MANY} messages each at the same time, and not "
            "all of them arrived; a send() that reads the file and writes it anew removes what "
            "another sender wrote in between"
        )
    return None


def _both_arrive(Marked: Any) -> bool:
    """Whether no message is missing after two senders have sent at the same time."""
    with tempfile.TemporaryDirectory() as name:
        boxes = {who: Marked(Path(name)) for who in ("bob", "carol")}
        together, failed = threading.Barrier(len(boxes)), list[Exception]()

        def send(who: str) -> None:
            together.wait()
            try:
                for number in range(MANY):
                    boxes[who].send(f"{who} {number}")
            except Exception as error:  # such as half a file, read while the other one wrote it
                failed.append(error)

        senders = [threading.Thread(target=send, args=[who], daemon=True) for who in boxes]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        wanted = {f"{who} {number}" for who in boxes for number in range(MANY)}
        return not failed and wanted == set(_texts(Marked(Path(name)).unread()))


def _is_pair(one: Any) -> bool:
    return isinstance(one, (tuple, list)) and len(one) == 2


def _texts(pairs: Any) -> list[Any]:
    """The texts of what unread() returned."""
    return [text for _, text in pairs or []]


MARK_DOCUMENT = '''
import uuid

from learnkit.backends.files.store import Document


class Marked:
    """An inbox in a folder: read messages are marked, and none is removed."""

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
    def send_message(to: str) -> None:
        """Send a message."""
        gone.append(to)

    @lk.tool
    def look(to: str) -> None:
        """Look at a teammate."""
        gone.append(to)

    steps = iter([lk.use(name, to=to) for name, to in calls])
    client = lk.scripted(lambda request: next(steps, lk.say("done")))
    with client.clock:
        lk.Agent(client, [lk.Toolbox(send_message, look), mechanism], max_turns=40).run("Go.")
    return gone


def check_polite(Enough: Any) -> Verdict:
    """Check that one run sends at most so many messages to the same teammate."""
    if not is_mechanism(Enough):
        return "`Enough` must be a class that is an lk.Mechanism"
    bob, carol, lead = (("send_message", name) for name in ("bob", "carol", "lead"))
    for calls, wanted, what in (
        ([bob] * 3, 3, "three messages to bob"),
        ([bob] * 5, 3, "five messages to bob"),
        ([bob, carol] * 3, 6, "three messages to bob and three to carol"),
        ([bob, carol] * 4, 6, "four messages each to bob and carol, in turns"),
        ([bob] * 4 + [lead], 4, "four messages to bob and one to the lead"),
        ([("look", "bob")] * 6, 6, "six calls of another tool"),
    ):
        went = _went(Enough(most=3), calls)
        if len(went) != wanted:
            return f"with most=3 and {what}, {len(went)} calls ran; {wanted} should have run"
    if len(went := _went(Enough(most=1), [bob, bob])) != 1:
        return f"with most=1 and two messages to bob, {len(went)} calls ran; 1 should have run"
    return None


POLITE_LIST = """
from collections import Counter

import learnkit as lk


class Enough(lk.Mechanism):
    def __init__(self, most=3):
        self.most = most

    def refuse(self, agent, call):
        done = [e.data for e in agent.events if e.type == "tool.started"]
        to = Counter(d["input"].get("to") for d in done if d["name"] == "send_message")
        full = call.name == "send_message" and to[call.input.get("to")] > self.most
        return "That was enough." if full else None
""".strip()


EXERCISES = {
    "unread": Check(check_unread, [UNREAD_SET]),
    "Marked": Check(check_mark, [MARK_DOCUMENT]),
    "Enough": Check(check_polite, [POLITE_LIST]),
}
