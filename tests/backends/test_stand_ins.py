"""Messages, tasks, requests and members kept elsewhere: the interfaces are enough for a team."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from memory_backend import MemoryBoard, MemoryMail, MemoryRoster
from teams import spawn, when

import learnkit as lk
from learnkit.backends.files.tracker import Tracker
from learnkit.backends.interface import (
    BoardBackend,
    MailBackend,
    RosterBackend,
)


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
