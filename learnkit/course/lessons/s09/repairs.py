"""Lesson 9's repairs: whom mail can be sent to, the cursor, and when mail counts as read."""

from __future__ import annotations

import re
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import learnkit as lk
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import asking, in_a_folder, in_processes
from learnkit.errors import UsageError

REPAIRS = Repairs()

#: Seconds that half a message stays half, a sender may take, and a killed process may take.
PATIENCE, WAITS, LONG = 0.3, 3.0, 20.0
_TWICE = "A model that reads “delete row 4” twice may delete two rows"


@REPAIRS.add("Mail to nobody is an error, and says who there is.")
def check_send_message(agent: Any) -> Verdict:
    """Check that mail to nobody is an error that helps, and mail to a member arrives."""
    alice, bob = (SimpleNamespace(name=name, status="idle") for name in ("alice", "bob"))
    with in_a_folder(agent, MATES={"alice": alice, "bob": bob}):
        for to in ("bob", "lead"):
            try:
                agent.send_message(alice, to, "Is -9999 missing?")
            except Exception as error:
                return f"a message to {to} was refused: {error}"
            if not agent.inbox(to).exists():
                return f"a message to {to} was not sent"
        for to in ("bobb", "../bob", "Bob"):
            try:
                returned, said = agent.send_message(alice, to, "Is -9999 missing?"), ""
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
            if agent.inbox(to).exists():
                if said:
                    return "it refused a name, after the message had been written"
                return f"a message to {to!r} was sent, and nobody reads it"
            if not said:
                return (
                    f"for {to!r} it returned “{returned}”. To a model that is no error, as a call "
                    "that returns has done its work: raise one"
                )
            if missing := {"bob", "lead"} - {*re.findall(r"\w+", said.replace(to, ""))}:
                names = " and ".join(sorted(missing))
                return f"it refused {to!r} with “{said}”. Name {names}: the model could try again"
        try:
            agent.send("bob", "carol", "Good morning.")
        except LookupError:
            return (
                "`send` itself refused. The harness calls it too: check in `send_message`, above "
                "that call"
            )
    return None


@REPAIRS.add("Nothing is lost between take and commit, and nothing that was committed comes again.")
def check_take(agent: Any) -> Verdict:
    """Check what comes between take and commit, a half line, a kill, and a cursor's file."""
    with in_a_folder(agent):
        _, cursor = agent.take("alice")
        sender = Thread(target=_send, args=(agent, "one"), daemon=True)
        sender.start()
        sender.join(WAITS)
        if sender.is_alive():
            agent.commit("alice", cursor)
            sender.join(WAITS)
            return (
                "a sender waits from `take` to `commit`. The model's reply comes in between, and "
                "may take minutes: hold no lock for so long"
            )
        lines, cursor = agent.take("alice")
        if (again := _texts(agent.take("alice")[0])) != ["one"] or _texts(lines) != ["one"]:
            return (
                f"a second `take` before `commit` has {again}: reading alone must remove nothing, "
                "because whoever reads may be killed before the model has replied"
            )
        _send(agent, "two")
        agent.commit("alice", cursor)
        _send(agent, "three")
        left, cursor = agent.take("alice")
        if (found := _texts(left)) != ["two", "three"]:
            if "two" not in found:
                return "a message arrived between `take` and `commit`, and is lost"
            return f"one was read, two and three were not, and `take` has {found}"
        agent.commit("alice", cursor)
        if again := _texts(agent.take("alice")[0]):
            return f"all three were committed, and `take` still has {again}. {_TWICE}"
        agent.send("lead", "bob", "other")
        if _texts(agent.take("bob")[0]) != ["other"]:
            return "the only message to bob isn't in his inbox: has alice's cursor counted for him?"
    return _waits_for_whole_lines(agent) or _survives(agent)


def _waits_for_whole_lines(agent: Any) -> Verdict:
    with in_a_folder(agent):
        _send(agent, "one")
        begun, go = Event(), Event()

        def slowly() -> None:
            with agent.locked(".team"), agent.inbox("alice").open("a") as file:
                file.write('{"content": "tw')
                file.flush()
                begun.set()
                go.wait(PATIENCE)
                file.write('o"}\n')

        sender = Thread(target=slowly, daemon=True)
        sender.start()
        begun.wait(LONG)
        lines, _ = agent.take("alice")
        go.set()
        sender.join()
        if any(not line.rstrip().endswith("}") for line in lines):
            return (
                "it took half a message, which its sender was still writing. Senders write inside "
                '`with locked(".team"):`; read inside it, too'
            )
    return None


def _survives(agent: Any) -> Verdict:
    """Check that a cursor outlives its process, and that one killed at it leaves no half file."""
    commit = 'agent.commit("alice", agent.take("alice")[1])'
    with in_processes(agent) as terminal:
        _send(agent, "one")
        terminal.run("", program=commit)
        if agent.take("alice")[0]:
            return (
                "one process committed, and the next one got the message again: the cursor died "
                "with its process. Keep it in a file"
            )
    with in_processes(agent) as terminal:
        _send(agent, "one")
        terminal.start("", program=commit, dies_at=0).wait(LONG)
        try:
            agent.take("alice")
        except Exception as error:
            return (
                f"killed while it wrote the cursor, and then `take` fails: {error}. Lesson 7's "
                "`save` writes a file that is whole"
            )
    return None


class _Inboxes:
    """Inboxes in memory, with a lock: the file's own may be naive still."""

    def __init__(self, agent: Any) -> None:
        self._agent, self.sent = agent, dict[str, list[str]]()
        self._read = dict[str, int]()

    def functions(self) -> dict[str, Any]:
        return {"send": self.send, "take": self.take, "commit": self.commit}

    def send(self, sender: str, to: str, content: str, *_: str, **__: str) -> None:
        self.sent.setdefault(to, []).append(content)

    def take(self, name: str) -> tuple[list[str], int]:
        with self._agent.locked(".team"):
            lines = self.sent.get(name, [])
            return lines[self._read.get(name, 0) :], len(lines)

    def commit(self, name: str, cursor: int) -> None:
        with self._agent.locked(".team"):
            self._read[name] = cursor


def _each_once(agent: Any) -> Verdict:
    """Check two agents with one inbox: a message comes while the first one calls a tool.

    Another one comes with its last reply.
    """
    inboxes, asked, arriving = _Inboxes(agent), list[str](), ["green", "blue"]

    def answer(request: dict[str, Any]) -> lk.Reply:
        asked.append(str(request["messages"]))
        if arriving:
            inboxes.send("bob", "lead", arriving.pop(0))
        return lk.use("task_list") if len(asked) == 1 else lk.say("Noted.")

    inboxes.send("bob", "lead", "red")
    with asking(agent, answer, MATES={}, **inboxes.functions()):
        agent.run(agent.Agent(), "Go.", turns=4)
        first = len(asked)
        agent.run(agent.Agent(), "Go on.", turns=4)
    inbox = inboxes.sent["lead"]
    if "red" not in asked[0]:
        return "the message was in the inbox, and not in the messages that the model gets"
    if any(max(text.count(one) for text in asked) > 1 for one in inbox):
        return f"the message came twice in one run: commit it after tools, too. {_TWICE}"
    if any(one not in "".join(asked) for one in inbox):
        return (
            "a message came while the model was replying, and no request ever had it: commit what "
            "`deliver_mail` took, not what is there by now"
        )
    if any(one in "".join(asked[:first]) and one in "".join(asked[first:]) for one in inbox):
        return (
            f"the model had replied and stopped, and the next agent got the message again. {_TWICE}"
        )
    return None


class _Mate:
    """Bob: he works for some looks at his status. Then he reads his mail, reports, and is idle."""

    name = "bob"

    def __init__(self, inboxes: _Inboxes, looks: int, first: str = "working") -> None:
        self._inboxes, self._looks, self._first = inboxes, looks, first

    @property
    def status(self) -> str:
        self._looks -= 1
        if self._looks == -1:
            self._inboxes.commit("bob", self._inboxes.take("bob")[1])
            self._inboxes.send("bob", "lead", "The test is in.")
        return self._first if self._looks >= 0 else "idle"


@REPAIRS.add("The lead waits while a teammate works, and leaves no report unread.")
def check_wait_for_team(agent: Any) -> Verdict:
    """Check that the lead waits for who works or will, reads each report, and then ends."""
    lead = SimpleNamespace(name="lead", messages=[], cursor=0)
    gone = SimpleNamespace(name="carol", status="shutdown")
    cases: tuple[tuple[list[Any], str | None, bool, str], ...] = (
        ([gone], None, False, "nobody works, and there is no mail"),
        ([gone], "lead", True, "nobody works, and there is mail"),
        ([gone, (6, "working")], None, True, "bob works, and reports later"),
        ([(6, "idle")], "bob", True, "bob is idle, has mail, and will read it"),
    )
    for mates, mail, waits, what in cases:
        inboxes = _Inboxes(agent)
        bobs = [_Mate(inboxes, *one) if isinstance(one, tuple) else one for one in mates]
        team = {mate.name: mate for mate in bobs}
        with in_a_folder(agent, MATES=team, POLL=0.001, **inboxes.functions()):
            if mail:
                inboxes.send("dan", mail, "Good morning.")
            said, unread = agent.wait_for_team(lead), inboxes.take("lead")[0]
        if said and not unread:
            return f"{what}, and the lead got {said!r}. There is none, so it would never end"
        if waits and not said:
            unseen = ", and the report is unread: bob was idle by the second look" if unread else ""
            return f"{what}. The lead went home{unseen}"
    return None


@REPAIRS.add("Killed before the reply, the message is found again. Answered, it comes no more.")
def check_deliver_mail(agent: Any) -> Verdict:
    """Check agents that get mail while the model replies, and one that is killed then."""
    if wrong := _each_once(agent):
        return wrong
    with in_processes(agent, lambda _: lk.say("Noted.")) as terminal:
        agent.send("bob", "lead", "the build is red")
        try:
            terminal.run("Go.", killed_at_request=1)
            terminal.run("Go on.")
        except UsageError as error:
            return str(error)
        if "red" not in str(terminal.requests[1]["messages"]):
            return (
                "the process was killed before the model had replied, and the next one didn't "
                "find the message: it was committed too early"
            )
    return None


def _send(agent: Any, text: str) -> None:
    agent.send("bob", "alice", text)


def _texts(lines: Any) -> list[str]:
    """The words of these checks in some lines of an inbox."""
    return re.findall("one|two|three|other", str(lines))
