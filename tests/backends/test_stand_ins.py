"""Messages, tasks, requests and members kept elsewhere: the interfaces are enough for a team."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from teams import spawn, when

import learnkit as lk
from learnkit.backends.files.board import Change, TaskBoard
from learnkit.backends.files.mailbox import Mail, Mailbox, Type
from learnkit.backends.files.roster import Member, Roster
from learnkit.backends.files.tracker import Tracker
from learnkit.backends.interface import (
    BoardBackend,
    InboxReader,
    MailBackend,
    RequestBackend,
    RosterBackend,
)
from learnkit.backends.task import Task
from learnkit.core.readiness import is_ready


class MemoryReader:
    """One reader's cursor in a list."""

    def __init__(self, messages: list[Mail], done: set[str]) -> None:
        self._messages, self._done, self._taken = messages, done, set[str]()

    def look(self) -> list[Mail]:
        return [one for one in self._messages if one.id not in self._done | self._taken]

    def take(self) -> list[Mail]:
        new = self.look()
        self._taken |= {one.id for one in new}
        return new

    def put_back(self, ids: Iterable[str]) -> None:
        self._taken -= set(ids)

    def commit(self) -> None:
        self._done |= self._taken


class MemoryMail:
    """A server of mail: lists under one lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._boxes: dict[str, list[Mail]] = {}
        self._done: dict[str, set[str]] = {}
        self.sent = 0

    @property
    def names(self) -> list[str]:
        return sorted(self._boxes)

    def open(self, name: str) -> None:
        with self._lock:
            self._boxes.setdefault(name, [])
            self._done.setdefault(name, set())

    def send(
        self,
        sender: str,
        to: str,
        content: str,
        type: Type = "message",
        *,
        at: datetime | None = None,
        **more: Any,
    ) -> Mail:
        with self._lock:
            if to not in self._boxes:
                raise lk.ToolError(f"there is no inbox for {to!r}")
            self.sent += 1
            mail = Mail(f"m{self.sent}", type, sender, to, content, "", more)
            self._boxes[to].append(mail)
            return mail

    def broadcast(self, sender: str, content: str, *, at: datetime | None = None) -> list[Mail]:
        return [self.send(sender, to, content, "broadcast") for to in self.names if to != sender]

    def unread(self, name: str) -> list[Mail]:
        return self.reader(name).look()

    def reader(self, name: str, seen: Iterable[str] = ()) -> InboxReader:
        return MemoryReader(self._boxes[name], self._done[name])


class MemoryBoard:
    """A server of tasks: a dict under one lock, with claims that check and take in one step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[int, Task] = {}
        self._told: dict[int, Task] | None = None

    def create(self, subject: str, description: str = "", *, tags: Iterable[str] = ()) -> Task:
        with self._lock:
            id = len(self._tasks) + 1
            self._tasks[id] = Task(id, subject, description, tags=tuple(tags))
            return self._tasks[id]

    def get(self, id: int) -> Task:
        return self._tasks[id]

    def tasks(self) -> list[Task]:
        with self._lock:
            return list(self._tasks.values())

    def ready(self) -> list[Task]:
        return [task for task in self.tasks() if is_ready(task, self._tasks)]

    def update(self, id: int, status: Any = None, **changes: Any) -> Task | None:
        with self._lock:
            owner = "" if status == "pending" else self._tasks[id].owner
            self._tasks[id] = replace(self._tasks[id], status=status, owner=owner)
            return self._tasks[id]

    def claim(self, id: int, owner: str) -> Task:
        with self._lock:
            if self._tasks[id].owner:
                raise lk.ToolError(f"task {id} is taken")
            self._tasks[id] = replace(self._tasks[id], status="in_progress", owner=owner)
            return self._tasks[id]

    def open(self) -> None:
        with self._lock:
            if self._told is None:
                self._told = dict(self._tasks)

    def news(self) -> list[Change]:
        with self._lock:
            old, now = self._told or {}, dict(self._tasks)
            self._told = now
        return [(old.get(id), one) for id, one in now.items() if old.get(id) != one]


class MemoryRoster:
    """A server of members: a dict."""

    def __init__(self) -> None:
        self._members: dict[str, Member] = {}

    def members(self) -> list[Member]:
        return list(self._members.values())

    def note(self, entry: Member) -> None:
        self._members[entry["name"]] = entry

    def begin(self) -> None:
        for entry in self._members.values():
            entry["status"] = "shutdown"


def test_the_files_are_backends(tmp_path: Path) -> None:
    mail: MailBackend = Mailbox(tmp_path / "inbox")
    mail.open("alice")
    reader: InboxReader = mail.reader("alice")
    board: BoardBackend = TaskBoard(tmp_path / "tasks")
    requests: RequestBackend = Tracker(tmp_path / "requests.json", lambda: datetime(2026, 1, 1))
    roster: RosterBackend = Roster(tmp_path, "team")
    assert isinstance(mail, MailBackend)
    assert isinstance(reader, InboxReader)
    assert isinstance(board, BoardBackend)
    assert isinstance(requests, RequestBackend)
    assert isinstance(roster, RosterBackend)


@pytest.mark.parametrize(
    "clock", [lk.VirtualClock, pytest.param(lk.SystemClock, marks=pytest.mark.slow)]
)
def test_a_team_works_with_mail_and_a_board_that_are_no_files(tmp_path: Path, clock: Any) -> None:
    mail: MailBackend = MemoryMail()
    board: BoardBackend = MemoryBoard()
    roster: RosterBackend = MemoryRoster()
    for number in range(6):
        board.create(f"task {number}", tags=["coder"] if number % 2 else [])

    def worker(request: Any) -> Any:
        last = str(request["messages"][-1]["content"])
        if found := re.findall(r"<auto-claimed>Task #(\d+)", last):
            done = lk.use("task_update", task_id=int(found[-1]), status="completed")
            return lk.reply(lk.use("send_message", to="lead", content=f"did {found[-1]}"), done)
        return lk.say("ready", latency=0.01)

    lanes = {
        "lead": when(("Go.", lk.reply(spawn("alice"), spawn("bob", role="tester")))),
        "alice": worker,
        "bob": worker,
    }
    with clock() as time:
        client = lk.scripted(lanes, clock=time)
        team = lk.Team(
            tmp_path / ".team",
            lambda name, role: [lk.Tasks(board)],
            mailbox=mail,
            roster=roster,
        )
        lead = lk.Agent(client, [team, lk.Autonomy(team, board, poll=0.05, idle=0.2)])
        with team:
            lead.run("Go.")
    assert {task.status for task in board.tasks()} == {"completed"}
    assert {task.owner for task in board.tasks() if task.tags} == {"alice"}
    said = re.findall(r"did (\d)", "\n".join(str(one["content"]) for one in lead.messages))
    assert sorted(said) == list("123456")
    assert [one["status"] for one in roster.members()] == ["shutdown", "shutdown"]
    assert not (tmp_path / ".team" / "inbox").exists()
    assert not (tmp_path / ".team" / "config.json").exists()


def test_requests_can_be_kept_elsewhere(tmp_path: Path) -> None:
    team = lk.Team(tmp_path / ".team", lambda name, role: [])
    tracker = Tracker(tmp_path / "elsewhere.json", lambda: datetime(2026, 1, 1))
    protocols = lk.Protocols(team, tracker=tracker)
    ask = lk.use("shutdown_request", teammate="alice")
    agree = lk.use("shutdown_response", request_id="r0000001", approve=True)
    lanes = {
        "lead": when(("Go.", spawn("alice")), ("has started", ask)),
        "alice": when(("Begin.", lk.say("ready")), ("shut down", agree)),
    }
    lead = lk.Agent(lk.scripted(lanes, clock=lk.VirtualClock()), [team, protocols])
    with team:
        lead.run("Go.")
    assert protocols.tracker is tracker
    assert [one.state for one in tracker.all()] == ["approved"]
    assert not (tmp_path / ".team" / "requests.json").exists()
